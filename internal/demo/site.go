package demo

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"fstally/internal/usage"
)

// person is a user of both file systems.
type person struct {
	uid, gid uint32
	name     string // "": the id has no name any more
	field    string
	weight   float64 // of what is theirs, relative to the others
}

// site is who uses the file systems.
type site struct {
	people     []person // by uid
	identities []usage.Identity
}

// Ids of the site. Root owns the upper directories.
const (
	firstUID = 20_001
	firstGID = 5_001
	root     = 0
)

// fields are the fields of research, without common.
func fields() []string {
	return []string{"genomics", "climate", "learning", "cfd", "imaging", "molecules", "astronomy", "seismics"}
}

// newSite invents n people. The heaviest has about a tenth of everything, as
// sites tell.
func newSite(r *rand.Rand, n int) site {
	var s site
	names := newNamer(r)
	for i := range n {
		field := fields()[weighted(r, []float64{22, 16, 16, 14, 12, 9, 6, 5})]
		p := person{
			uid: firstUID + uint32(i)*7 + uint32(r.IntN(7)), field: field,
			gid:    firstGID + uint32(slices.Index(fields(), field)*4+r.IntN(4)),
			weight: math.Exp(0.3*r.NormFloat64()) / math.Pow(float64(i+1), 0.8),
		}
		if i%31 != 13 { // a few have left, and their accounts are gone
			p.name = names.person()
		}
		s.people = append(s.people, p)
	}
	// The heaviest are not those who came first.
	for i := range s.people {
		j := r.IntN(i + 1)
		s.people[i].weight, s.people[j].weight = s.people[j].weight, s.people[i].weight
	}
	// Names that sites really have, and that pages have to bear.
	for i, name := range []string{
		"svc_sequencing_core_facility_nightly_demultiplexing_and_archive_pipeline_production",
		`ADS\k.müller-lüdenscheidt`, "<guest>", "o'brien",
	} {
		if at := 3 + 5*i; at < n {
			s.people[at].name = name
		}
	}
	s.identities = append(s.identities, usage.Identity{Kind: usage.UserIdentity, ID: root, Name: "root"})
	for _, p := range s.people {
		s.identities = append(s.identities, usage.Identity{Kind: usage.UserIdentity, ID: p.uid, Name: p.name})
	}
	s.identities = append(s.identities, usage.Identity{Kind: usage.GroupIdentity, ID: root, Name: "root"})
	for i, field := range fields() {
		for k, suffix := range []string{"", "-core", "-students", "-ext"} {
			s.identities = append(s.identities, usage.Identity{
				Kind: usage.GroupIdentity, ID: firstGID + uint32(4*i+k), Name: field + suffix,
			})
		}
	}
	slices.SortFunc(s.identities, func(a, b usage.Identity) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return s
}

// weighted draws an index with these odds.
func weighted(r *rand.Rand, odds []float64) int {
	var sum float64
	for _, o := range odds {
		sum += o
	}
	x := r.Float64() * sum
	for i, o := range odds {
		if x -= o; x < 0 {
			return i
		}
	}
	return len(odds) - 1
}

// namer makes login names, each once.
type namer struct {
	r    *rand.Rand
	used map[string]int
}

func newNamer(r *rand.Rand) *namer { return &namer{r: r, used: make(map[string]int)} }

const (
	firstNames = `anna ben chen dana emil fatima george hana ivan julia kofi lena mateo nadia omar petra quentin
		rosa sami tara uwe vera wei xenia yuki zoe amir bianca carlos dimitri elif felix greta hugo ines jonas`
	lastNames = `keller novak okafor rossi tanaka singh moreau weber silva kim larsen costa haddad ivanova murphy
		nguyen ortiz petrov quist richter santos tran ueda vogel wagner xu yilmaz zhang andersen becker castro dupont
		eriksson fischer garcia hoffmann ito jansen kowalski lopez meyer nowak olsen park ricci schmidt torres
		ullmann virtanen wolff young zimmermann baker chavez das evans fontaine gruber horvat`
)

// person returns a login such as lkeller, lena.keller or lkeller2.
func (n *namer) person() string {
	pick := func(names string) string {
		list := strings.Fields(names)
		return list[n.r.IntN(len(list))]
	}
	first, last := pick(firstNames), pick(lastNames)
	name := first[:1] + last
	if n.r.IntN(6) == 0 {
		name = first + "." + last
	}
	n.used[name]++
	if k := n.used[name]; k > 1 {
		name = fmt.Sprintf("%s%d", name, k)
	}
	return name
}
