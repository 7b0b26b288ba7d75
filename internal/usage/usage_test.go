package usage_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"fstally/internal/usage"
)

func TestBytesAreExact(t *testing.T) {
	big := usage.ByteCount(math.MaxInt64)
	sum := big.Add(big)
	if got := sum.String(); got != "18446744073709551614" {
		t.Errorf("2 x (2^63-1) = %s", got)
	}
	text, err := json.Marshal(sum.Add(big))
	if err != nil || string(text) != "27670116110564327421" {
		t.Errorf("JSON of 3 x (2^63-1) = %s, %v", text, err)
	}
	var back usage.Bytes
	if err := json.Unmarshal(text, &back); err != nil || back.Sub(big) != sum {
		t.Errorf("round trip of %s = %s, %v", text, back, err)
	}
	if got := usage.MaxBytes().Add(usage.ByteCount(1)); got != usage.MaxBytes() {
		t.Errorf("a sum beyond 128 bits = %s, want saturation", got)
	}
	if got := usage.ByteCount(1).Sub(usage.ByteCount(2)); !got.IsZero() {
		t.Errorf("1 - 2 = %s, want 0", got)
	}
	for _, bad := range []string{"-1", "1e3", "", "340282366920938463463374607431768211456"} {
		if got, err := usage.ParseBytes(bad); err == nil {
			t.Errorf("ParseBytes(%q) = %s, want an error", bad, got)
		}
	}
}

// TestFormatBytes is case C132.
func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 5800: "5.7 KiB", 1048575: "1023.9 KiB", 1048576: "1 MiB",
		999999999: "953.7 MiB", 154910425088: "144.3 GiB", math.MaxInt64: "8 EiB",
	} {
		if got := usage.FormatBytes(usage.ByteCount(n)); got != want {
			t.Errorf("FormatBytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestFormatCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 9999: "9999", 10000: "10 k", 999999: "999.9 k", 812_000_000: "812 M", 3_000_000_000: "3 G"} {
		if got := usage.FormatCount(n); got != want {
			t.Errorf("FormatCount(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestBuckets(t *testing.T) {
	want := []int64{0, 1, 2, 3, 4, 6, 8, 12, 16, 24}
	for i, bound := range want {
		if got := usage.BucketBound(usage.SizeBucket(i)); got != bound {
			t.Errorf("bound %d = %d, want %d", i, got, bound)
		}
	}
	for b := range usage.SizeBucket(usage.SizeBuckets) {
		bound := usage.BucketBound(b)
		if got := usage.BucketOf(usage.ByteCount(bound)); got != b {
			t.Errorf("BucketOf(%d) = %d, want %d: bounds are inclusive", bound, got, b)
		}
		if bound < math.MaxInt64 {
			if got := usage.BucketOf(usage.ByteCount(bound + 1)); got != b+1 {
				t.Errorf("BucketOf(%d) = %d, want %d", bound+1, got, b+1)
			}
		}
	}
}

func TestSizeClasses(t *testing.T) {
	c := usage.DefaultSizeClasses()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int64]string{0: "3072", 3072: "3072", 3073: "32768", 1 << 30: "1073741824", 1<<30 + 1: "over"} {
		if got := c.Key(c.Of(n)); got != want {
			t.Errorf("class of %d = %s, want %s", n, got, want)
		}
	}
	for _, bad := range []usage.SizeClasses{{1, 1, 2, 3}, {-1, 1, 2, 3}, {1, 2, 3, 5}} {
		if bad.Validate() == nil {
			t.Errorf("%v passes", bad)
		}
	}
	if _, err := c.Parse("4096"); err == nil {
		t.Error("a bound of no class parses")
	}
}

func TestAgeOf(t *testing.T) {
	const start, day = int64(1_800_000_000), int64(86400)
	for _, tc := range []struct {
		t    int64
		want usage.AgeClass
	}{
		{start + 1, usage.AgeFuture},
		{math.MaxInt64, usage.AgeFuture},
		{start, usage.Age7Days},
		{start - 7*day, usage.Age7Days},
		{start - 7*day - 1, usage.Age30Days},
		{start - 365*day, usage.Age1Year},
		{start - 1825*day - 1, usage.AgeOlder},
		{-2, usage.AgeOlder},
		{math.MinInt64, usage.AgeOlder},
	} {
		if got := usage.AgeOf(start, tc.t); got != tc.want {
			t.Errorf("AgeOf(start, %d) = %s, want %s", tc.t, got.Key(), tc.want.Key())
		}
	}
}

func TestEscape(t *testing.T) {
	for raw, want := range map[string]string{
		"plain":                "plain",
		"naïve 漢字 👩‍🔬":         "naïve 漢字 👩‍🔬",
		"report\x96final.rtf":  `report\x96final.rtf`,
		"d\xff":                `d\xff`,
		`c\x2dd.sw\ap`:         `c\\x2dd.sw\\ap`,
		"a\nb\x1b[31m":         `a\x0ab\x1b[31m`,
		"exe.\u202egnp":        `exe.\xe2\x80\xaegnp`,
		"a\u2028b":             `a\xe2\x80\xa8b`,
		`<b>"quoted"</b>`:      `<b>"quoted"</b>`,
		"\uFFFD is a rune too": "\uFFFD is a rune too",
	} {
		got := usage.Escape(raw)
		if got != want {
			t.Errorf("Escape(%q) = %q, want %q", raw, got, want)
		}
		if back, err := usage.Unescape(got); err != nil || back != raw {
			t.Errorf("Unescape(%q) = %q, %v, want %q", got, back, err, raw)
		}
	}
	for _, bad := range []string{`\`, `\x`, `\xg0`, `\n`} {
		if got, err := usage.Unescape(bad); err == nil {
			t.Errorf("Unescape(%q) = %q, want an error", bad, got)
		}
	}
	if a, b := usage.EscapeKey(""), usage.EscapeKey("(none)"); a == b || a != usage.None {
		t.Errorf("no fileset is %q, one called (none) is %q", a, b)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\\x\xff\u202e")
	f.Fuzz(func(t *testing.T, raw string) {
		for _, text := range []string{usage.Escape(raw), usage.EscapeKey(raw)} {
			if back, err := usage.UnescapeKey(text); err != nil || back != raw {
				t.Errorf("%q came back as %q, %v", raw, back, err)
			}
			if strings.ContainsAny(text, "\x00\n\r\x1b\u202e\u2028") || strings.ToValidUTF8(text, "") != text {
				t.Errorf("%q is not safe to show", text)
			}
		}
	})
}

func TestScope(t *testing.T) {
	if (usage.Scope{}).Sees(1) {
		t.Error("the zero scope sees something")
	}
	if !usage.Everything().Sees(1) || !usage.OnlyFileSystems(1).Sees(1) || usage.OnlyFileSystems(1).Sees(2) {
		t.Error("scopes do not see what they should")
	}
}
