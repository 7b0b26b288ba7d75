package component

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fstally/internal/usage"
	"fstally/web/static"
)

// Section is a page of the navigation.
type Section string

// The sections that are finished; only those are shown.
const (
	Overview Section = "overview" // of all file systems, and of none
	Capacity Section = "capacity"
	Files    Section = "files"
	History  Section = "history"
	Scans    Section = "scans"

	// Of the whole site; each has a part for a file system, too.
	Schedules Section = "schedules"
	Settings  Section = "settings"
)

// navigated is how many file systems the navigation lists at most.
const navigated = 20

// Frame is what surrounds every page: which file system and scan it shows, and
// where its links lead.
type Frame struct {
	// Base is the path that the site is mounted at, such as "/fstally"; "" for
	// the root of the host. Never with a slash at the end.
	Base string
	// Section is the open page; "" for those outside the navigation.
	Section Section
	// Path is that of a page below its section, such as /fs/scratch/users/1801;
	// "" where the page is that of Section itself.
	Path string
	// Title heads the page and its browser tab.
	Title string
	// State holds the parameters of the page's address that are not at their
	// default (scan, by, type, ...), so that links change one and keep the rest.
	State url.Values
	// Now is the time of the request, in the site's zone like all times of the
	// view models; it gives ages.
	Now time.Time
	// Anonymous says that no token is asked for, which every page has to tell.
	Anonymous bool
	Version   string // of the program

	// FileSystems are those that the viewer may switch to, by name.
	FileSystems []usage.FileSystem
	// FileSystem is the one that is shown; nil on pages of none.
	FileSystem *usage.FileSystem
	// Scan is the one whose numbers are shown; nil on pages without.
	Scan *ShownScan
	// Scans are those that can be picked, newest first; the shown one need not
	// be among them.
	Scans []usage.Scan
	// Running is the scan of FileSystem that is queued or running; nil for none.
	Running *usage.Scan
	// Measures are those that the page can be switched to, the default first;
	// none for no switch.
	Measures []usage.Measure
	// By is the measure that the page shows.
	By usage.Measure
}

// ShownScan is the scan whose numbers a page shows, and its neighbours in time.
type ShownScan struct {
	usage.Scan
	Previous int64 // id of the published scan before; 0 for none
	Next     int64 // id of the published scan after; 0 for none
	Latest   bool  // it is the current scan of its file system
}

// invented reports whether the page shows demo data: of its file system or, on a
// page of none, of any.
func (f Frame) invented() bool {
	if f.FileSystem != nil {
		return f.FileSystem.Demo
	}
	return slices.ContainsFunc(f.FileSystems, func(fs usage.FileSystem) bool { return fs.Demo })
}

// ReferencePath is the address of the page about the API, below the base path.
const ReferencePath = "/api"

// URL returns the address of a path of the site, such as "/login", under the
// site's base path. It is the only place where addresses are made.
func (f Frame) URL(path string, params url.Values) string {
	address := f.Base + path
	if query := params.Encode(); query != "" {
		address += "?" + query
	}
	return address
}

// SectionPath returns the path of a section of the shown file system, below the
// base path.
func (f Frame) SectionPath(s Section) string {
	switch {
	case s == Schedules, s == Settings:
		return "/" + string(s)
	case f.FileSystem == nil, s == Overview:
		return "/"
	}
	return "/fs/" + url.PathEscape(f.FileSystem.Name) + "/" + string(s)
}

// SectionURL returns the address of another section for the same scan. Pairs of
// a name and a value set further parameters.
func (f Frame) SectionURL(s Section, pairs ...string) string {
	params := url.Values{}
	if scan := f.State.Get("scan"); scan != "" && s != Schedules && s != Settings {
		params.Set("scan", scan)
	}
	return f.URL(f.SectionPath(s), with(params, pairs))
}

// PagePath returns the path of this page, below the base path.
func (f Frame) PagePath() string {
	if f.Path != "" {
		return f.Path
	}
	return f.SectionPath(f.Section)
}

// EntityURL returns the address of the page of a user, a type or a fileset of the
// shown file system, for the same scan; "" for dimensions whose values have no page.
func (f Frame) EntityURL(d usage.Dimension, key string) string {
	if path := f.EntityPath(d, key); path != "" {
		by := ""
		if f.By != usage.Allocated {
			by = string(f.By)
		}
		return f.URL(path, with(nil, []string{"scan", f.State.Get("scan"), "by", by}))
	}
	return ""
}

// EntityPath returns the path of EntityURL, below the base path.
func (f Frame) EntityPath(d usage.Dimension, key string) string {
	list := f.ListPath(d)
	if list == "" || d == usage.Group || d == usage.Category {
		return ""
	}
	return list + "/" + url.PathEscape(key)
}

// ListURL returns the address of the whole list of a dimension of the shown file
// system, by the same measure and for the same scan; "" for dimensions without.
func (f Frame) ListURL(d usage.Dimension) string {
	path := f.ListPath(d)
	if path == "" {
		return ""
	}
	by := ""
	if f.By != usage.Allocated {
		by = string(f.By)
	}
	return f.URL(path, with(nil, []string{"scan", f.State.Get("scan"), "by", by}))
}

// ListPath returns the path of ListURL, below the base path.
func (f Frame) ListPath(d usage.Dimension) string {
	folder := ListFolder(d)
	if folder == "" || f.FileSystem == nil {
		return ""
	}
	return f.SectionPath(Section(folder))
}

// ListFolder is the last part of the path of a dimension's list; "" for those
// without.
func ListFolder(d usage.Dimension) string {
	switch d {
	case usage.User, usage.Group, usage.Type, usage.Fileset:
		return string(d) + "s"
	case usage.Category:
		return "categories"
	default:
		return ""
	}
}

// PersonURL returns the address of the page of a user over all file systems.
func (f Frame) PersonURL(uid string) string {
	return f.URL("/users/"+url.PathEscape(uid), nil)
}

// Here returns the address of this page with some parameters changed: pairs of
// a name and a value, where "" takes the parameter out.
func (f Frame) Here(pairs ...string) string {
	return f.URL(f.PagePath(), with(f.State, pairs))
}

// ScanURL returns the address of the page about a scan itself.
func (f Frame) ScanURL(id int64) string {
	return f.URL("/scans/"+strconv.FormatInt(id, 10), nil)
}

// ProgressURL returns the address of a scan's progress as JSON.
func (f Frame) ProgressURL(id int64) string {
	return f.URL("/scans/"+strconv.FormatInt(id, 10)+"/progress", nil)
}

// EventsURL returns the address of a scan's progress as a stream of events.
func (f Frame) EventsURL(id int64) string {
	return f.URL("/scans/"+strconv.FormatInt(id, 10)+"/events", nil)
}

// SchedulePath returns the path of the schedule of a file system, below the base path.
func SchedulePath(fs string) string { return "/fs/" + url.PathEscape(fs) + "/schedule" }

// SettingsPath returns the path of the settings of a file system, below the base path.
func SettingsPath(fs string) string { return "/fs/" + url.PathEscape(fs) + "/settings" }

// ScanNowURL returns the address that starts a scan of the shown file system.
func (f Frame) ScanNowURL() string {
	return f.URL("/fs/"+url.PathEscape(f.FileSystem.Name)+"/scan", nil)
}

// scanHere returns the address of this page for another scan.
func (f Frame) scanHere(id int64) string {
	return f.Here("scan", strconv.FormatInt(id, 10))
}

// elsewhere returns the address of this section, or the first, of another file
// system: of its latest scan, with nothing else kept but the measure.
func (f Frame) elsewhere(fs usage.FileSystem) string {
	there := f
	there.FileSystem, there.Path = &fs, ""
	there.State = with(nil, []string{"by", f.State.Get("by")})
	switch {
	case f.Section == Schedules && f.FileSystem != nil:
		there.Path, there.State = SchedulePath(fs.Name), nil
	case f.Section == Settings && f.FileSystem != nil:
		there.Path, there.State = SettingsPath(fs.Name), nil
	case f.Section == "", f.Section == Overview, f.Section == Schedules, f.Section == Settings:
		there.Section, there.State = Capacity, nil
	}
	return there.Here()
}

// currentPage is how the navigation marks the section: as this page, or as the
// part of the site that it belongs to.
func (f Frame) currentPage() string {
	if f.Path != "" {
		return "true"
	}
	return "page"
}

// fields returns the parameters of the address as name and value, in order and
// without one, for the hidden fields of a form that sets that one.
func (f Frame) fields(without string) [][2]string {
	var pairs [][2]string
	for _, name := range slices.Sorted(maps.Keys(f.State)) {
		if name != without {
			pairs = append(pairs, [2]string{name, f.State.Get(name)})
		}
	}
	return pairs
}

// hasNavigation reports a page from which there is somewhere to go.
func (f Frame) hasNavigation() bool {
	return f.FileSystem != nil || len(f.FileSystems) > 0 || f.Section == Settings || f.Section == Schedules
}

// MeasureURL returns the address of this page by another of its measures.
func (f Frame) MeasureURL(m usage.Measure) string {
	by := string(m)
	if m == f.Measures[0] {
		by = ""
	}
	return f.Here("by", by, "page", "")
}

// OrderURL is MeasureURL for a list that is then in the order of the measure.
func (f Frame) OrderURL(m usage.Measure) string {
	ordered := f
	ordered.State = with(f.State, []string{"grown", ""})
	return ordered.MeasureURL(m)
}

// measureWord is a measure's name at the start of a phrase.
func measureWord(m usage.Measure) string {
	return strings.ToUpper(string(m)[:1]) + string(m)[1:]
}

func verdictTitle(scan usage.Scan, meaning string) string {
	if scan.Reason == "" {
		return meaning
	}
	return meaning + ": " + scan.Reason
}

// API returns the address of a collection of the shown file system in the API,
// such as "usage" or "history"; with format=csv for a download.
func (f Frame) API(collection string, pairs ...string) string {
	name := ""
	if f.FileSystem != nil {
		name = f.FileSystem.Name
	}
	return f.URL("/api/v1/filesystems/"+url.PathEscape(name)+"/"+collection, with(nil, pairs))
}

// Asset returns the address of an embedded file, which changes with its content.
func (f Frame) Asset(name string) string { return f.Base + static.Asset(name) }

// with returns a copy of params with the pairs set or, where the value is "",
// deleted.
func with(params url.Values, pairs []string) url.Values {
	changed := url.Values{}
	maps.Copy(changed, params)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			changed.Del(pairs[i])
		} else {
			changed.Set(pairs[i], pairs[i+1])
		}
	}
	return changed
}

// TabTitle is the title of the browser's tab: the page, then what it is of.
func (f Frame) TabTitle() string {
	parts := []string{f.Title}
	if f.FileSystem != nil {
		parts = append(parts, f.FileSystem.Name)
	}
	return strings.Join(append(parts, "fstally"), " · ")
}
