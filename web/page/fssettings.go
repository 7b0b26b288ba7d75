package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
)

// FSSettings is the view model of /fs/{fs}/settings: the settings of a file system.
type FSSettings struct {
	component.Frame // FileSystem is set, as it is stored

	Form     FSForm
	Problems map[string]string // by the names of usage.Setting...; what is wrong with a field
	Saved    bool
	Added    bool // it was just added
	// RemoveProblem says why it was not removed; "" where nobody tried.
	RemoveProblem string
}

// FSForm holds the fields of the form as they were typed; they are called as
// usage.Setting... says.
type FSForm struct {
	Name         string
	Worker       string // "" for the server itself
	Walkers      string
	OpsLimit     string
	Stall        string // minutes
	Nice         string
	IdleIO       bool
	Memory       string // such as 2 GiB; "0" for no limit
	SizeClasses  string // bounds such as 3 KiB, with commas between
	FilesetDepth string
	Filesets     string // lines NAME=DIR or DIR, escaped
}

// NewFSForm fills the form with the settings of a file system.
func NewFSForm(fs usage.FileSystem) FSForm {
	bounds := make([]string, len(fs.SizeClasses))
	for i, bound := range fs.SizeClasses {
		bounds[i] = exactSize(bound)
	}
	var filesets strings.Builder
	for _, f := range fs.Filesets.Named {
		if f.Name != "" {
			filesets.WriteString(escapeFileset(f.Name) + "=")
		} else if before, _, found := strings.Cut(f.Path, "="); found && !strings.Contains(before, "/") {
			filesets.WriteString("./") // or what stands before = would be a name
		}
		filesets.WriteString(escapeLine(f.Path) + "\n")
	}
	return FSForm{
		Name: fs.Name, Worker: usage.Escape(fs.Worker),
		Walkers: strconv.Itoa(fs.Walkers), OpsLimit: strconv.Itoa(fs.OpsLimit),
		Stall: strconv.Itoa(int(fs.StallAfter / time.Minute)), Nice: strconv.Itoa(fs.Nice), IdleIO: fs.IdleIO,
		Memory: exactSize(fs.MemoryLimit), SizeClasses: strings.Join(bounds, ", "),
		FilesetDepth: strconv.Itoa(fs.Filesets.Depth), Filesets: filesets.String(),
	}
}

// exactSize writes bytes so that usage.ParseSize reads the same number.
func exactSize(n int64) string {
	words := usage.FormatBytes(usage.ByteCount(n))
	if back, err := usage.ParseSize(words); err == nil && back == n {
		return words
	}
	return strconv.FormatInt(n, 10)
}

// escapeFileset escapes a name so that it ends at the first = of its line.
func escapeFileset(name string) string {
	return strings.NewReplacer("=", `\x3d`, "/", `\x2f`).Replace(escapeLine(name))
}

// escapeLine escapes a name that stands in a line of a form, which loses spaces at its
// ends.
func escapeLine(name string) string {
	escaped := usage.Escape(name)
	if trimmed := strings.TrimLeft(escaped, " "); trimmed != escaped {
		escaped = strings.Repeat(`\x20`, len(escaped)-len(trimmed)) + trimmed
	}
	if trimmed := strings.TrimRight(escaped, " "); trimmed != escaped {
		escaped = trimmed + strings.Repeat(`\x20`, len(escaped)-len(trimmed))
	}
	return escaped
}

func (p FSSettings) field(id, label, note string) component.Field {
	return component.Field{ID: id, Label: label, Note: note, Problem: p.Problems[id]}
}

func (p FSSettings) url() string { return p.URL(component.SettingsPath(p.FileSystem.Name), nil) }

func (p FSSettings) removeURL() string {
	return p.URL(component.SettingsPath(p.FileSystem.Name)+"/remove", nil)
}

// workerCommand starts the worker that scans the file system.
func (p FSSettings) workerCommand() string {
	name := p.FileSystem.Worker
	if name == "" {
		name = "NAME"
	}
	return fmt.Sprintf("fstally worker %s --fs %s", usage.Escape(name), p.FileSystem.Name)
}

// filesetRows is how many lines the field of filesets shows.
func (p FSSettings) filesetRows() string {
	return strconv.Itoa(min(12, max(3, strings.Count(p.Form.Filesets, "\n")+1)))
}

// facts are what nobody sets.
func (p FSSettings) facts() []pair {
	fs := p.FileSystem
	rows := []pair{{Name: "Directory", Value: usage.Escape(fs.Root)}}
	add := func(name, value string) {
		if value == "" {
			value = "known after the first scan"
		}
		rows = append(rows, pair{Name: name, Value: usage.Escape(value)})
	}
	add("Type", fs.Type)
	add("Identity", fs.Identity)
	if !fs.Created.IsZero() {
		rows = append(rows, pair{Name: "Watched since", Value: component.Day(fs.Created)})
	}
	return append(rows, pair{Name: "Number in the API", Value: strconv.FormatInt(fs.ID, 10)})
}
