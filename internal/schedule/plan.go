package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Plan says at which times something is due, without a zone. The zero value is
// never due.
type Plan struct {
	text  string
	every time.Duration      // of plans that count instants; 0 for the others
	civil *cron.SpecSchedule // the bits of its fields; nil for plans of every
}

// MinEvery is the shortest distance of "every" plans.
const MinEvery = time.Hour

var (
	nightly = regexp.MustCompile(`^nightly ([01]?\d|2[0-3]):([0-5]\d)$`)
	weekly  = regexp.MustCompile(`^weekly (sun|mon|tue|wed|thu|fri|sat) ([01]?\d|2[0-3]):([0-5]\d)$`)
	every   = regexp.MustCompile(`^every (\d{1,4})h$`)
)

// Parse reads a plan: "nightly HH:MM", "weekly DAY HH:MM" with sun to sat, "every
// Nh" with at least 1 hour, or the five fields of a line of crontab(5). The error
// says what is wrong with it.
func Parse(text string) (Plan, error) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	fields := text
	if m := nightly.FindStringSubmatch(text); m != nil {
		fields = m[2] + " " + m[1] + " * * *"
	} else if m := weekly.FindStringSubmatch(text); m != nil {
		fields = m[3] + " " + m[2] + " * * " + m[1]
	} else if m := every.FindStringSubmatch(text); m != nil {
		hours, _ := strconv.Atoi(m[1]) // digits
		if distance := time.Duration(hours) * time.Hour; distance >= MinEvery {
			return Plan{text: text, every: distance}, nil
		}
		return Plan{}, fmt.Errorf("plan %q: the least is every 1h", text)
	} else if len(strings.Fields(text)) != 5 {
		return Plan{}, fmt.Errorf(
			`plan %q: write "nightly 01:30", "weekly sun 01:30", "every 6h" or the five fields of cron`, text)
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	parsed, err := parser.Parse(fields)
	if err != nil {
		return Plan{}, fmt.Errorf("plan %q: %w", text, err)
	}
	civil, ok := parsed.(*cron.SpecSchedule)
	if !ok || strings.Contains(fields, "=") {
		return Plan{}, fmt.Errorf("plan %q: a zone is set beside the plan, not in it", text)
	}
	plan := Plan{text: text, civil: civil}
	if _, ok := plan.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.UTC); !ok {
		return Plan{}, fmt.Errorf("plan %q: there is no such day", text)
	}
	return plan, nil
}

// String returns the plan as Parse reads it.
func (p Plan) String() string { return p.text }

// horizon is how far ahead Next looks: 29 February is at most 8 years away, and
// on one weekday at most 40.
const horizon = 41 * 366

// Next returns the first occurrence after an instant; ok is false where there is
// none. Occurrences of "every" plans are multiples of their distance since the
// start of 2000 UTC, so that every process finds the same ones.
func (p Plan) Next(after time.Time, zone *time.Location) (next time.Time, ok bool) {
	if p.every > 0 {
		epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		since := after.Sub(epoch) % p.every // what has passed of the present step
		if since < 0 {
			since += p.every
		}
		return after.Add(p.every - since).In(zone), true
	}
	if p.civil == nil {
		return time.Time{}, false
	}
	// A day earlier, as a jump can carry a time over midnight.
	y, m, d := after.In(zone).AddDate(0, 0, -1).Date()
	for i := range horizon {
		date := time.Date(y, m, d+i, 0, 0, 0, 0, time.UTC)
		if !p.on(date) {
			continue
		}
		if t, ok := p.firstOf(date, after, zone); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

// firstOf returns the first occurrence of a civil date that is after an instant.
func (p Plan) firstOf(date, after time.Time, zone *time.Location) (first time.Time, ok bool) {
	for hour := range 24 {
		if p.civil.Hour&(1<<hour) == 0 {
			continue
		}
		for minute := range 60 {
			if p.civil.Minute&(1<<minute) == 0 {
				continue
			}
			t := instant(date.Add(time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute), zone)
			if t.After(after) && (!ok || t.Before(first)) {
				first, ok = t, true
			}
		}
	}
	return first, ok
}

// starBit marks a field that is "*", as robfig/cron's parser does.
const starBit = 1 << 63

// on reports whether the plan has occurrences on a date. As in every cron, of the
// day of the month and the day of the week one is enough, unless one is "*".
func (p Plan) on(date time.Time) bool {
	if p.civil.Month&(1<<uint(date.Month())) == 0 {
		return false
	}
	dom := p.civil.Dom&(1<<uint(date.Day())) != 0
	dow := p.civil.Dow&(1<<uint(date.Weekday())) != 0
	if p.civil.Dom&starBit != 0 || p.civil.Dow&starBit != 0 {
		return dom && dow
	}
	return dom || dow
}

// instant returns when the clocks of a zone first show a civil time, which is
// given as if it were UTC; and the moment of the jump for a time that they pass
// over.
func instant(civil time.Time, zone *time.Location) time.Time {
	// Whatever jump is near, one of these is before and one after it.
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, later := civil.Add(-offset(civil.Add(-36*time.Hour))), civil.Add(-offset(civil.Add(36*time.Hour)))
	var found time.Time
	for _, t := range []time.Time{before, later} {
		if shows(t, zone, civil) && (found.IsZero() || t.Before(found)) {
			found = t
		}
	}
	if !found.IsZero() {
		return found.In(zone)
	}
	// With the old offset the time lies behind the jump, which so began the zone
	// that is in force then.
	jump, _ := before.In(zone).ZoneBounds()
	return jump
}

// shows reports whether the clocks of a zone show a civil time at an instant.
func shows(t time.Time, zone *time.Location, civil time.Time) bool {
	t = t.In(zone)
	y, m, d := t.Date()
	return time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, time.UTC).Equal(civil)
}
