package main

import (
	"bytes"
	"net"
	"slices"
	"testing"
)

// The address that is printed is the one that browsers know, and its name is let
// in; an IP address needs no leave.
func TestAnnounce(t *testing.T) {
	listens := &net.TCPAddr{IP: net.IPv4zero, Port: 8080}
	for _, tc := range []struct {
		flags   webFlags
		address string
		hosts   []string
	}{
		{webFlags{Listen: ":8080"}, "http://localhost:8080/?token=t", nil},
		{webFlags{Listen: "db7:8080", BasePath: "/x"}, "http://localhost:8080/x/?token=t", []string{"db7"}},
		{webFlags{PublicURL: "http://127.0.0.1:9000"}, "http://127.0.0.1:9000/?token=t", nil},
		{
			webFlags{PublicURL: "https://Storage.example.org/", BasePath: "/usage", Hosts: []string{"other"}},
			"https://Storage.example.org/usage/?token=t", []string{"other", "Storage.example.org"},
		},
	} {
		var out bytes.Buffer
		tc.flags.announce(&app{stdout: &out}, listens, "t")
		if want := "fstally is ready: " + tc.address + "\n"; out.String() != want {
			t.Errorf("%+v: printed %q, want %q", tc.flags, out.String(), want)
		}
		if got := tc.flags.hosts(); !slices.Equal(got, tc.hosts) {
			t.Errorf("%+v: lets in %q, want %q", tc.flags, got, tc.hosts)
		}
	}
}
