package demo

import (
	"math/rand/v2"
	"testing"
	"time"
)

func BenchmarkNight(b *testing.B) {
	o := Options{Years: 3, Users: 300, Seed: 1, Until: time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC), Location: time.UTC}
	s := newSite(rand.New(rand.NewPCG(1, 0)), 300)
	for i, v := range volumes() {
		b.Run(v.name, func(b *testing.B) {
			l, err := newLayout(rand.New(rand.NewPCG(1, uint64(i)+1)), v, s, o.nights())
			if err != nil {
				b.Fatal(err)
			}
			night := 0
			for b.Loop() {
				req, err := l.scan(o, s, night)
				if err != nil {
					b.Fatal(err)
				}
				if req != nil && night%100 == 0 || night == o.nights()-1 {
					t := req.Summary.Totals
					b.Logf("night %d: %d cells, %d files, %s allocated, %s size, %d dirs, %d units, %d sizes %d ages, %s", night, len(req.Summary.Cells), t.Files, t.Allocated, t.Size, len(req.Summary.Directories), len(l.units), len(req.Summary.Sizes), len(req.Summary.Ages), req.Meta.Finished.Sub(req.Meta.Started))
				}
				if night++; night == o.nights() { night = 0; l, _ = newLayout(rand.New(rand.NewPCG(1, uint64(i)+1)), v, s, o.nights()) }
			}
		})
	}
}
