package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"fstally/internal/usage"
)

// checkHost refuses a request for a name that is not the site's. A page whose
// name was pointed at our address (DNS rebinding) would otherwise be of the same
// origin; it cannot use an IP address or localhost for that.
func (s *site) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.knowsHost(r.Host) {
			s.fail(w, r, &pageError{
				status:  http.StatusMisdirectedRequest,
				message: fmt.Sprintf("This site is not called %s", usage.Escape(r.Host)),
				remedy:  "If it should be, add the name to FSTALLY_HOSTS and start fstally again.",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *site) knowsHost(hostPort string) bool {
	host := hostPort
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return host == "localhost" ||
		slices.ContainsFunc(s.Hosts, func(own string) bool { return strings.EqualFold(own, host) })
}
