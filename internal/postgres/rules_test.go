package postgres

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"fstally/internal/usage"
)

func TestJudge(t *testing.T) {
	whole := outcome{Entries: 1000, Inodes: 1000, Allocated: usage.ByteCount(1 << 30), Identity: "uuid-1"}
	with := func(change func(*outcome)) outcome {
		o := whole
		change(&o)
		return o
	}
	half := with(func(o *outcome) { o.Entries, o.Allocated = 499, usage.ByteCount(1<<29) })
	halfBefore := with(func(o *outcome) {
		o.Entries, o.Allocated, o.Suspicion = 510, usage.ByteCount(1<<29+1000), "shrunk"
	})
	partBefore := with(func(o *outcome) { o.Suspicion = "parts" })
	squashed := with(func(o *outcome) { o.Squashed = 501 })
	for name, tc := range map[string]struct {
		now       outcome
		identity  string
		previous  *outcome
		earlier   []outcome
		verdict   usage.Verdict
		suspicion string
		reason    string // contained in it
	}{
		"first":                  {now: whole, verdict: usage.Clean},
		"like before":            {now: whole, identity: "uuid-1", previous: &whole, verdict: usage.Clean},
		"errors":                 {now: with(func(o *outcome) { o.Errors = 17 }), verdict: usage.Partial, reason: "17 entries"},
		"root unreadable":        {now: outcome{Entries: 1, Errors: 1}, verdict: usage.Partial, reason: "below the root"},
		"empty from the start":   {now: outcome{Entries: 1}, verdict: usage.Clean},
		"still empty":            {now: outcome{Entries: 1}, previous: &outcome{Entries: 1}, verdict: usage.Clean},
		"nothing there any more": {now: outcome{Entries: 1}, previous: &whole, verdict: usage.Suspect, suspicion: "empty", reason: "mounted"},
		"unreadable and empty": {now: outcome{Entries: 1, Errors: 1}, previous: &whole, verdict: usage.Suspect,
			suspicion: "empty", reason: "run the scan as"},
		"exactly half":     {now: with(func(o *outcome) { o.Entries = 500 }), previous: &whole, verdict: usage.Clean},
		"more than half":   {now: half, previous: &whole, verdict: usage.Suspect, suspicion: "shrunk", reason: "499"},
		"odd, just over":   {now: outcome{Entries: 2}, previous: &outcome{Entries: 3}, verdict: usage.Clean},
		"odd, under":       {now: outcome{Entries: 2}, previous: &outcome{Entries: 5}, verdict: usage.Suspect, suspicion: "shrunk"},
		"another identity": {now: whole, identity: "uuid-2", previous: &whole, verdict: usage.Suspect, suspicion: "identity", reason: "uuid-2"},
		"identity unknown": {now: with(func(o *outcome) { o.Identity = "" }), identity: "uuid-2", verdict: usage.Clean},
		"none recorded":    {now: whole, identity: "", previous: &whole, verdict: usage.Clean},
		"squashed":         {now: squashed, previous: &whole, verdict: usage.Suspect, suspicion: "squashed", reason: "id mapping"},
		"always squashed":  {now: squashed, previous: &squashed, verdict: usage.Clean},
		"a part, first":    {now: with(func(o *outcome) { o.Parts = []string{"a", "b"} }), verdict: usage.Unverified, reason: "2 directories"},
		"a part, later": {now: with(func(o *outcome) { o.Parts = []string{"a"} }), previous: &whole, verdict: usage.Suspect,
			suspicion: "parts", reason: "Only a part"},
		"a part, third time": {now: with(func(o *outcome) { o.Parts = []string{"a"} }), previous: &whole,
			earlier: []outcome{partBefore, partBefore}, verdict: usage.Suspect, suspicion: "parts"},
		"first squashed":  {now: squashed, verdict: usage.Clean},
		"half squashed":   {now: with(func(o *outcome) { o.Squashed = 500 }), previous: &whole, verdict: usage.Clean},
		"several":         {now: half, identity: "uuid-2", previous: &whole, verdict: usage.Suspect, suspicion: "identity,shrunk"},
		"the second time": {now: half, previous: &whole, earlier: []outcome{halfBefore}, verdict: usage.Suspect, suspicion: "shrunk"},
		"the third time":  {now: half, previous: &whole, earlier: []outcome{halfBefore, halfBefore}, verdict: usage.Clean, reason: "believed"},
		"third, with errors": {now: with(func(o *outcome) { o.Entries, o.Allocated, o.Errors = 499, half.Allocated, 1 }),
			previous: &whole, earlier: []outcome{halfBefore, halfBefore}, verdict: usage.Partial, reason: "could not be read"},
		"third, other numbers": {now: half, previous: &whole, earlier: []outcome{halfBefore,
			{Entries: 400, Allocated: half.Allocated, Suspicion: "shrunk"}}, verdict: usage.Suspect, suspicion: "shrunk"},
		"third, other reason": {now: half, previous: &whole, earlier: []outcome{halfBefore,
			{Entries: 499, Allocated: half.Allocated, Suspicion: "identity"}}, verdict: usage.Suspect, suspicion: "shrunk"},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(tc.now, tc.identity, tc.previous, tc.earlier)
			if got.verdict != tc.verdict || got.suspicion != tc.suspicion || !strings.Contains(got.reason, tc.reason) {
				t.Errorf("judge = %+v, want %s, suspicion %q, a reason with %q", got, tc.verdict, tc.suspicion, tc.reason)
			}
			if (got.verdict == usage.Clean && tc.reason == "") != (got.reason == "") {
				t.Errorf("judge = %+v: a reason is for what is not clean", got)
			}
		})
	}
}

func TestPartitionOf(t *testing.T) {
	for _, tc := range []struct {
		day      string
		tier     Tier
		suffix   string
		from, to string
	}{
		{"2026-01-31", Nightly, "nightly_2026w05", "2026-01-26", "2026-02-02"}, // a week over the end of a month
		{"2026-02-01", Nightly, "nightly_2026w05", "2026-01-26", "2026-02-02"}, // Sunday
		{"2026-02-02", Nightly, "nightly_2026w06", "2026-02-02", "2026-02-09"}, // Monday
		{"2027-01-01", Nightly, "nightly_2026w53", "2026-12-28", "2027-01-04"}, // of the ISO year before
		{"2024-12-30", Nightly, "nightly_2025w01", "2024-12-30", "2025-01-06"}, // of the ISO year after
		{"2028-02-29", Nightly, "nightly_2028w09", "2028-02-28", "2028-03-06"},
		{"2026-01-31", Weekly, "weekly_2026m01", "2026-01-01", "2026-02-01"},
		{"2026-02-01", Weekly, "weekly_2026m02", "2026-02-01", "2026-03-01"},
		{"2028-02-29", Weekly, "weekly_2028m02", "2028-02-01", "2028-03-01"},
		{"2026-12-31", Weekly, "weekly_2026m12", "2026-12-01", "2027-01-01"},
		{"2026-12-31", Monthly, "monthly_2026", "2026-01-01", "2027-01-01"},
		{"2027-01-01", Monthly, "monthly_2027", "2027-01-01", "2028-01-01"},
	} {
		day, err := time.Parse(time.DateOnly, tc.day)
		if err != nil {
			t.Fatal(err)
		}
		p := partitionOf(tc.tier, day)
		from, to := p.from.Format(time.DateOnly), p.to.Format(time.DateOnly)
		if p.suffix != tc.suffix || from != tc.from || to != tc.to || p.tier != tc.tier {
			t.Errorf("partitionOf(%d, %s) = %s %s..%s, want %s %s..%s", tc.tier, tc.day, p.suffix, from, to, tc.suffix, tc.from, tc.to)
		}
	}
}

func TestPartitionsCoverEveryDayOnce(t *testing.T) {
	for _, tr := range []Tier{Nightly, Weekly, Monthly} {
		byName := make(map[string]partition)
		for day := time.Date(2023, 12, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2034; day = day.AddDate(0, 0, 1) {
			p := partitionOf(tr, day)
			if day.Before(p.from) || !day.Before(p.to) {
				t.Fatalf("%s of tier %d is outside of its partition %+v", day, tr, p)
			}
			if q, ok := byName[p.suffix]; ok && q != p {
				t.Fatalf("%s is two partitions: %+v, %+v", p.suffix, p, q)
			}
			byName[p.suffix] = p
		}
		for a, p := range byName {
			for b, q := range byName {
				if a != b && p.from.Before(q.to) && q.from.Before(p.to) {
					t.Fatalf("%s and %s overlap", a, b)
				}
			}
		}
	}
}

func TestLeaseExpired(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, tc := range map[string]struct {
		heartbeat, up time.Time
		want          bool
	}{
		"fresh":                     {ago(time.Second), ago(time.Hour), false},
		"just two minutes":          {ago(2 * time.Minute), ago(time.Hour), false},
		"silent":                    {ago(2*time.Minute + 1), ago(time.Hour), true},
		"the database was down":     {ago(time.Hour), ago(time.Minute), false},
		"silent since the database": {ago(time.Hour), ago(2*time.Minute + 1), true},
		"a clock that was set back": {now.Add(time.Hour), ago(time.Hour), false},
	} {
		if got := leaseExpired(tc.heartbeat, now, tc.up); got != tc.want {
			t.Errorf("%s: expired = %t, want %t", name, got, tc.want)
		}
	}
}

func TestNumeric(t *testing.T) {
	for _, b := range []usage.Bytes{{}, usage.ByteCount(1), usage.ByteCount(math.MaxInt64), usage.BytesFromWords(0, math.MaxUint64), usage.MaxBytes()} {
		v, err := numeric(b).NumericValue()
		if err != nil {
			t.Fatal(err)
		}
		var back numeric
		if err := back.ScanNumeric(v); err != nil || usage.Bytes(back) != b {
			t.Errorf("%s came back as %s, %v", b, usage.Bytes(back), err)
		}
	}
	var n numeric
	if err := n.ScanNumeric(pgtype.Numeric{Int: big.NewInt(12), Exp: 3, Valid: true}); err != nil || usage.Bytes(n) != usage.ByteCount(12000) {
		t.Errorf("12e3 = %s, %v", usage.Bytes(n), err)
	}
	if err := n.ScanNumeric(pgtype.Numeric{Int: big.NewInt(1), Exp: 39, Valid: true}); err != nil || usage.Bytes(n) != usage.MaxBytes() {
		t.Errorf("10^39 = %s, %v, want saturation", usage.Bytes(n), err)
	}
	for _, bad := range []pgtype.Numeric{{}, {NaN: true, Valid: true}, {InfinityModifier: pgtype.Infinity, Valid: true},
		{Int: big.NewInt(-1), Valid: true}, {Int: big.NewInt(15), Exp: -1, Valid: true}} {
		if err := n.ScanNumeric(bad); err == nil {
			t.Errorf("%+v is taken as %s", bad, usage.Bytes(n))
		}
	}
}
