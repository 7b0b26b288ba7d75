package demo

import (
	"math"

	"fstally/internal/usage"
)

// volume is one of the two invented file systems: what does not change over the
// years.
type volume struct {
	name, root, fsType, identity string
	walkers, opsLimit            int
	startHour                    int // of the nightly scan, in the site's zone
	entriesPerSecond             float64

	bytes     float64 // allocated at the end, about
	growth    float64 // per year, as a logarithm
	variety   float64 // odds that a file type of somebody's field is found with them
	small     float64 // how much more than on average goes to the types of everyday work
	members   float64 // part of the people who have something here
	turnover  [ages]float64
	capacity  [2]int64 // before and after an expansion
	blockSize int64
	inodes    int64 // 0: made as needed
	geometry  func(size int64) (allocated int64)

	prefix    string // of the names of filesets
	snapshots string // name of a directory in each fileset that holds snapshots
	mounts    []string
}

const (
	kib = int64(1) << 10
	mib = kib << 10
	gib = mib << 10
	tib = gib << 10
)

// roundUp returns the next multiple of unit.
func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// volumes returns the two file systems. Their roots are such that no site has
// them: whoever presses "scan" in the demo must not scan something real.
func volumes() []volume {
	return []volume{{
		name: "scratch", root: "/gpfs/demo/scratch", fsType: "gpfs", identity: "gpfs_demo_scratch",
		walkers: 4, opsLimit: 0, startHour: 0, entriesPerSecond: 52_000,
		bytes: 4.1 * 1024 * float64(tib), growth: 0.16, variety: 0.2, small: 1, members: 1,
		// Files that nobody has touched for three months are purged, most of them.
		turnover: [ages]float64{0.03, 0.015, 0.012, 0.02, 0.02, 0.008, 0.003, 0.0005},
		capacity: [2]int64{4600 * tib, 5600 * tib}, blockSize: 8 * mib,
		// Data of small files is in the inode of 4 KiB; a sub-block is 32 KiB.
		geometry: func(size int64) int64 {
			if size <= 3456 {
				return 0
			}
			return roundUp(size, 32*kib)
		},
		snapshots: ".snapshots",
	}, {
		name: "projects", root: "/net/demo/projects", fsType: "nfs", identity: "nas-demo:/export/projects",
		walkers: 4, opsLimit: 2000, startHour: 1, entriesPerSecond: 21_000,
		bytes: 690 * float64(tib), growth: 0.21, variety: 0.25, small: 5, members: 0.93,
		turnover: [ages]float64{0.012, 0.004, 0.002, 0.001, 0.0006, 0.0003, 0.0001, 0.0001},
		capacity: [2]int64{640 * tib, 880 * tib}, blockSize: mib, inodes: math.MaxInt32,
		geometry: func(size int64) int64 { return roundUp(size, 4*kib) }, // XFS behind the server
		prefix:   "prj_", snapshots: ".snapshot", mounts: []string{"restore-2019"},
	}}
}

// fileSystem returns what is registered.
func (v volume) fileSystem() usage.FileSystem {
	return usage.FileSystem{
		Name: v.name, Root: v.root, Identity: v.identity, Type: v.fsType, SizeClasses: usage.DefaultSizeClasses(),
		Filesets: usage.FilesetRules{Depth: 1}, Walkers: v.walkers, OpsLimit: v.opsLimit, Demo: true,
	}
}

// fileset is a directory at depth 1.
type fileset struct{ name, field string }

// filesets returns the 40 filesets. Three have names that are hard to show.
func (v volume) filesets() []fileset {
	byField := map[string][]string{
		"genomics":  {"wgs-cohort", "rnaseq", "metagenome", "single-cell", "popgen", "biobank"},
		"climate":   {"cmip6", "era5", "ocean-eddies", "regional", "paleo", "downscaling"},
		"learning":  {"llm-pretrain", "vision", "speech", "robotics", "protein-lm"},
		"cfd":       {"turbulence", "wing-design", "combustion", "hydro", "windfarm"},
		"imaging":   {"cryoem", "lightsheet", "mri-study", "xray-ct", "connectome"},
		"molecules": {"membranes", "catalysis", "batteries", "docking"},
		"astronomy": {"lofar", "nbody", "exoplanets"},
		"seismics":  {"inversion", "microseismic", "basin-models"},
	}
	var all []fileset
	for _, field := range fields() {
		for _, name := range byField[field] {
			all = append(all, fileset{v.prefix + name, field})
		}
	}
	return append(all,
		fileset{v.prefix + "Müller & Söhne <Archiv>", "imaging"},
		fileset{v.prefix + "daten_l\xfcneburg", "climate"}, // Latin-1, from before everything was UTF-8
		fileset{v.prefix + "consortium_for_the_long-term_preservation_of_simulation_output_and_derived_data_products" +
			"_phase_2_extension_2_do_not_delete_before_review", "cfd"})
}
