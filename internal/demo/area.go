package demo

import (
	"math"
	"math/rand/v2"
)

// area is what one user has in one fileset. All that is in it grows and shrinks
// together; level says how large it is, 1 being its size at the end if nothing
// special happened.
type area struct {
	owner   person
	fileset string
	dirs    []int // directories of the layout that hold its files

	rate   float64 // growth per year, as a logarithm
	joined int     // night in which it begins; before the first for most
	left   int     // night after which nobody works in it
	pulses []pulse
	kept   float64 // what clean-ups have left of it, 1 at first
	walk   float64 // logarithm of a slow random wander about the trend

	level float64 // tonight's
}

// pulse is a campaign: data comes within a few days, stays, and is tidied up.
type pulse struct {
	start, rise, stay, fall int // nights
	height                  float64
}

// at returns how much of the pulse is there in a night.
func (p pulse) at(night int) float64 {
	t := night - p.start
	switch {
	case t < 0 || t >= p.rise+p.stay+p.fall:
		return 0
	case t < p.rise:
		return p.height * float64(t+1) / float64(p.rise)
	case t < p.rise+p.stay:
		return p.height
	default:
		return p.height * float64(p.rise+p.stay+p.fall-t) / float64(p.fall)
	}
}

const nightsPerYear = 365

// newArea invents the history of an area over a number of nights. share is its
// part of the file system: large areas move less.
func newArea(r *rand.Rand, owner person, fileset string, share float64, nights int, growth float64) *area {
	a := &area{
		owner: owner, fileset: fileset, rate: growth + 0.2*r.NormFloat64(), joined: -1, left: nights, kept: 1,
		walk: 0.1 * r.NormFloat64(),
	}
	if r.IntN(4) == 0 {
		a.joined = r.IntN(nights)
	}
	if r.IntN(7) == 0 {
		a.left = a.joined + r.IntN(nights)
	}
	damping := min(1, 0.012/max(share, 1e-9))
	for night := r.IntN(300); night < nights; night += 60 + r.IntN(500) {
		a.pulses = append(a.pulses, pulse{
			start: night, rise: 1 + r.IntN(9), stay: 5 + r.IntN(70), fall: 1 + r.IntN(20),
			height: damping * (0.15 + 1.1*r.Float64()),
		})
	}
	return a
}

// step sets the level of a night, the last being nights-1. Weekends are quiet.
func (a *area) step(r *rand.Rand, night, nights int, weekend bool) {
	sigma := 0.006
	if weekend {
		sigma /= 4
	}
	a.walk += sigma*r.NormFloat64() - 0.004*a.walk
	if night < a.joined {
		a.level = 0
		return
	}
	if night > a.left && a.level > 0 {
		return // nobody works here any more
	}
	level := math.Exp(a.rate*float64(night-nights+1)/nightsPerYear + a.walk)
	for _, p := range a.pulses {
		level += level * p.at(night)
	}
	if a.joined >= 0 {
		level *= min(1, float64(night-a.joined+1)/45)
	}
	a.level = level * a.kept
}
