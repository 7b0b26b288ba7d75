package demo

import (
	"fstally/internal/usage"
)

// nightsIn returns for how many nights a file stays in each age class, but the last.
func nightsIn() [ages - 1]float64 { return [...]float64{7, 23, 60, 90, 185, 365, 1095} }

// step brings the file system to a night; the first is 0.
func (l *layout) step(night int, weekend bool) {
	for _, a := range l.areas {
		a.step(l.rand, night, l.nights, weekend)
	}
	stay := nightsIn()
	for i := range l.units {
		u := &l.units[i]
		switch {
		case u.area == nil, u.entry != usage.File, u.future:
			u.stock[0] = u.target()
		case night == 0:
			u.begin(l.turnover, stay)
		default:
			l.age(u, stay, night <= u.area.left)
		}
	}
}

// target returns how many entries the unit has tonight.
func (u *unit) target() int64 {
	switch {
	case u.area == nil:
		return int64(u.base)
	case u.area.level == 0:
		return 0
	}
	return int64(u.base*u.area.level*(1+u.wobble) + 0.5)
}

// begin spreads the files over the ages as years of the same would have.
func (u *unit) begin(turnover [ages]float64, stay [ages - 1]float64) {
	var part [ages]float64
	var sum float64
	inflow := 1.0
	for i := range part {
		leave := turnover[i]
		if i < len(stay) {
			leave += 1 / stay[i]
		}
		part[i] = inflow / leave
		if i == ages-1 {
			part[i] = min(part[i], 1500*inflow) // the file system is not that old
		}
		sum += part[i]
		if i < len(stay) {
			inflow = part[i] / stay[i]
		}
	}
	// Rounding the running sum keeps the total exact.
	total := u.target()
	var before, running float64
	for i := range part {
		running += part[i] / sum * float64(total)
		u.stock[i] = int64(running+0.5) - int64(before+0.5)
		before = running
	}
}

// age lets the files of a unit grow a night older. Where somebody is at work,
// some files go and others come in their place.
func (l *layout) age(u *unit, stay [ages - 1]float64, active bool) {
	r := l.rand
	some := func(n int64, part float64) int64 { // rounded at random, so that small numbers move too
		return min(n, int64(float64(n)*part+r.Float64()))
	}
	var total int64
	for i := ages - 1; i >= 0; i-- {
		n := u.stock[i]
		if n == 0 {
			continue
		}
		if active {
			n -= some(n, l.turnover[i])
		}
		if i < len(stay) {
			older := some(n, 1/stay[i])
			n -= older
			u.stock[i+1] += older
			total += older
		}
		u.stock[i] = n
		total += n
	}
	if active {
		u.wobble += 0.003*r.NormFloat64() - 0.01*u.wobble
	}
	change := u.target() - total
	if change > 0 && active {
		u.stock[0] += change
	}
	for i := ages - 1; i >= 0 && change < 0; i-- { // the oldest go first
		gone := min(u.stock[i], -change)
		u.stock[i] -= gone
		change += gone
	}
}

// cleanUp removes about a part of all that is allocated, by halving areas in the
// order of their age. It is for good.
func (l *layout) cleanUp(part float64) {
	bytes := make(map[*area]float64)
	var total, gone float64
	for i := range l.units {
		u := &l.units[i]
		if u.area != nil {
			n := float64(u.target()) * float64(u.allocated)
			bytes[u.area] += n
			total += n
		}
	}
	for pass := 0; gone < part*total && pass < 2; pass++ {
		for i, a := range l.areas {
			// Every third area, whoever owns it; the others if that is not enough.
			if (i%3 == 0) != (pass == 0) || gone >= part*total {
				continue
			}
			keep := max(0.45, 1-(part*total-gone)/max(1, bytes[a]))
			gone += (1 - keep) * bytes[a]
			a.kept *= keep
			a.level *= keep
		}
	}
}
