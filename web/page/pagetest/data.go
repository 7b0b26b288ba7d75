package pagetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

func tib(n float64) usage.Bytes { return usage.ByteCount(int64(n * (1 << 40))) }

// history returns a copy of sevenYears.
func history() []usage.Point { return slices.Clone(sevenYears()) }

// sevenYears are of nightly scans with two clean-ups, some missed nights and a
// month in which nothing was measured.
var sevenYears = sync.OnceValue(func() []usage.Point { //nolint:gochecknoglobals // made once, only copied
	const nights = 2618
	random := rand.New(rand.NewPCG(2, 7)) //nolint:gosec // G404: invented data that must not change
	size, used := 3686.0, 620.0           // TiB
	var points []usage.Point
	for night := range nights {
		used += 1.12 + 9*(random.Float64()-0.5)
		switch night {
		case 1195:
			used -= 340
		case 2105:
			used -= 180
		}
		if night > 1560 && night < 1600 || random.IntN(60) == 0 && night < nights-40 {
			continue
		}
		started := time.Date(2019, 10, 1, 1, 30, 0, 0, zone()).AddDate(0, 0, night)
		total := usage.Measures{
			Files: int64(used * 268_000), Inodes: int64(used * 301_000),
			Size: tib(used * 0.93), Allocated: tib(used * 0.957), Slack: tib(used * 0.02),
		}
		points = append(points, usage.Point{Total: total, Scan: usage.Scan{
			ID: int64(len(points) + 1), FileSystemID: 1, Attempt: 1, State: usage.Complete, Verdict: usage.Clean,
			Day: started.Format(time.DateOnly), Started: started, Finished: started.Add(131 * time.Minute),
			Totals: total,
			Counters: usage.Counters{
				Entries: total.Inodes + 9, Links: total.Files + 9, Directories: 91_400_000, Symlinks: 7_600_000, Specials: 212,
			},
			Capacity: usage.Capacity{
				Size: tib(size), Free: tib(size - used), Available: tib(size - used - 20),
				InodesTotal: 1_231_000_000, InodesFree: 320_000_000, BlockSize: 8 << 20, Source: "statfs",
			},
			SizeClasses: usage.DefaultSizeClasses(), Root: "/gpfs/scratch", FSType: "gpfs", Identity: "gpfs:scratch",
			Engine: "fastwalk", Walkers: 4, OpsLimit: 20000, Host: "nsd03", Freshness: "exact",
			Distinct: usage.Distinct{Users: 1214, Groups: 310, Types: 733, Filesets: 86},
		}})
	}
	return points
})

// smallScan is of a directory on a disk that holds much else.
func smallScan() usage.Scan {
	started := now().Add(-4 * time.Minute)
	return usage.Scan{
		ID: 1, FileSystemID: 1, Attempt: 1, State: usage.Complete, Verdict: usage.Clean, Day: started.Format(time.DateOnly),
		Started: started, Finished: started.Add(3 * time.Second), Root: "/usr/share", FSType: "ext4", Engine: "fastwalk",
		Walkers: 4, Host: "wks", Freshness: "exact", SizeClasses: usage.DefaultSizeClasses(),
		Totals: usage.Measures{
			Files: 38_211, Inodes: 46_034, Size: usage.ByteCount(512_000_123), Allocated: usage.ByteCount(631_242_752),
			Slack: usage.ByteCount(98_000_000),
		},
		Counters: usage.Counters{Entries: 46_100, Links: 38_277, Directories: 4_817, Symlinks: 3_006},
		Capacity: usage.Capacity{
			Size: usage.ByteCount(252 << 30), Free: usage.ByteCount(79 << 30), Available: usage.ByteCount(66 << 30),
			InodesTotal: 16_777_216, InodesFree: 15_000_000, BlockSize: 4096, Source: "statfs",
		},
		Distinct: usage.Distinct{Users: 1, Groups: 2, Types: 1, Filesets: 1},
	}
}

// share is one invented value of a dimension.
type share struct {
	id        int64
	key, name string
	tib       float64
	mfiles    float64 // millions of files
}

func users() []share {
	u := func(id int64, name string, tib, mfiles float64) share {
		key := strconv.FormatInt(id, 10)
		if name == "" {
			name = key
		}
		return share{id, key, name, tib, mfiles}
	}
	return []share{
		u(20417, "mkraus", 412, 74), u(1802, "genomics-svc", 388, 9), u(20988, "j.almeida", 264, 61.2),
		u(1840, "cfd_batch", 231, 231), u(21004, "tanaka", 187, 37.1), u(1811, "nwp-ops", 171, 22.4),
		u(20311, "petrova", 133, 18), u(31877, "", 96, 14.6), u(21190, "osei", 84, 29.9),
		u(20102, "lindqvist", 71, 8),
		u(1977, "ml-train", 66, 118), u(1978, "conda-cache", 12, 55.8),
	}
}

func named(key string, tib, mfiles float64) share { return share{0, key, key, tib, mfiles} }

func types() []share {
	return []share{
		named("fastq.gz", 702, 3), named("bam", 548, 1.2),
		named("h5", 391, 4), named("nc", 288, 8), named("(numbered)", 201, 118),
		named("tar", 160, .4), named("tif", 118, 14), named("vtu", 92, 7), named("ckpt", 77, 19), named("parquet", 61, 11),
		named("py", 3, 212), named("pyc", 4, 152), named("log", 22, 71),
		named("json", 9, 62), named("(none)", 44, 41), named("html", 1, 24),
		named("(directory)", 2, 0),
	}
}

func filesets() []share {
	return []share{
		named("proj-nwp", 611, 158), named("genomics", 574, 69),
		named("cfd", 402, 231), named("(none)", 233, 48), named("astro", 206, 28),
		named("ml-models", 188, 141), named("neuro", 151, 22),
		named("materials-science-and-engineering", 120, 31), named("staging", 92, 14),
		{0, "teach/2026", "teaching", 41, 9},
	}
}

// ranking makes the top ten of the shares, compared with as many days before.
func ranking(
	d usage.Dimension, by usage.Measure, shares []share, total usage.Measures, count int64, days ...int,
) component.Ranking {
	rows := make([]usage.Row, 0, len(shares))
	for _, s := range shares {
		rows = append(rows, usage.Row{ID: s.id, Key: s.key, Name: s.name, Measures: s.measures()})
	}
	slices.SortFunc(rows, by.Compare)
	rows = rows[:min(10, len(rows))]
	r := component.Ranking{Top: report.NewTop(d, by, usage.Table{Rows: rows, Total: total, Count: count})}
	for _, n := range days {
		label := strconv.Itoa(n) + " days"
		if n == 1 {
			label = "1 day"
		}
		before := map[string]usage.Measures{}
		for i, row := range rows {
			if i == 6 {
				continue // not known in that scan
			}
			before[row.Key] = earlier(row.Measures, i, n)
		}
		was := earlier(total, 1, n)
		r.Compared = append(r.Compared, component.Comparison{
			Days:  n,
			Label: label, Since: usage.Scan{Started: now().AddDate(0, 0, -n)}, TopChanges: r.ChangesSince(before, was),
		})
	}
	return r
}

func (s share) measures() usage.Measures {
	return usage.Measures{
		Files: int64(s.mfiles * 1e6), Inodes: int64(s.mfiles * 1.1e6), Size: tib(s.tib * 0.97), Allocated: tib(s.tib),
	}
}

// earlier invents what the i-th value was some days before.
func earlier(m usage.Measures, i, days int) usage.Measures {
	if i == 5 {
		return m
	}
	factor := 1 - 0.004*float64(days)*math.Cos(float64(i)*1.7)
	m.Files = int64(float64(m.Files) * factor)
	m.Allocated, m.Size = tib(m.Allocated.Float64()/(1<<40)*factor), tib(m.Size.Float64()/(1<<40)*factor)
	return m
}

// buckets spreads files over the sizes of the fine histogram.
func buckets(files int64) []usage.BucketRow {
	var rows []usage.BucketRow
	var weights float64
	weight := func(b int) float64 {
		x := float64(b)
		return math.Exp(-(x-20)*(x-20)/160) + 0.45*math.Exp(-(x-38)*(x-38)/90) + 0.004*math.Exp(-(x-62)*(x-62)/40)
	}
	for b := range 76 {
		weights += weight(b)
	}
	for b := range 76 {
		n := int64(float64(files) * weight(b) / weights)
		if n == 0 {
			continue
		}
		bound := usage.BucketBound(usage.SizeBucket(b))
		size := usage.ByteCount(n).Float64() * float64(bound) * 0.8
		allocated := math.Ceil(float64(bound)/8192) * 8192 * float64(n)
		if bound <= 3072 {
			allocated = 0
		}
		rows = append(rows, usage.BucketRow{
			Bucket: usage.SizeBucket(b), Files: n,
			Size: tib(size / (1 << 40)), Allocated: tib(allocated / (1 << 40)),
		})
	}
	return rows
}
