package api

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/usage"
)

// FSParam names the file system of a request.
type FSParam struct {
	FS string `path:"fs" doc:"Name or id of the file system." example:"scratch"`
}

// ScanParam picks a scan of it.
type ScanParam struct {
	Scan string `query:"scan" default:"latest" doc:"Id of a scan, or latest for the current one." example:"latest"`
}

// measureParam is the name of a measure.
type measureParam string

// Schema lists the measures.
func (measureParam) Schema(huma.Registry) *huma.Schema { return enum(usage.AllMeasures()) }

// dimensionParam is the name of a dimension.
type dimensionParam string

// Schema lists the dimensions.
func (dimensionParam) Schema(huma.Registry) *huma.Schema { return enum(usage.AllDimensions()) }

func enum[T ~string](values []T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// idParam is an unsigned 32-bit number that may be absent, since 0 is root.
type idParam struct {
	id  uint64
	set bool
}

// Schema bounds the number.
func (idParam) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, float64(1<<32-1)
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
}

// Receiver is where huma puts the number.
func (p *idParam) Receiver() reflect.Value { return reflect.ValueOf(&p.id).Elem() }

// OnParamSet is told whether there is one.
func (p *idParam) OnParamSet(isSet bool, _ any) { p.set = isSet }

func (p *idParam) pointer() *uint32 {
	if !p.set {
		return nil
	}
	id := uint32(p.id)
	return &id
}

// FilterParams narrow a usage.
type FilterParams struct {
	User      idParam `query:"user" doc:"Only this user, by number."`
	Group     idParam `query:"group" doc:"Only this group, by number."`
	Type      string  `query:"type" doc:"Only this file type, by key."`
	Category  string  `query:"category" doc:"Only this category of file types, by key."`
	Fileset   string  `query:"fileset" doc:"Only this fileset, by key."`
	Pool      idParam `query:"pool" doc:"Only this storage pool, by number."`
	SizeClass string  `query:"size_class" doc:"Only this size class, by key: its upper bound in bytes, or over."`
	AgeClass  string  `query:"age_class" doc:"Only this class of age since mtime, by key."`
}

// filter reads the parameters for a scan whose size classes are known.
func (p *FilterParams) filter(classes usage.SizeClasses) (usage.Filter, error) {
	f := usage.Filter{User: p.User.pointer(), Group: p.Group.pointer(), Pool: p.Pool.pointer()}
	for _, t := range []struct {
		name, value string
		to          **string
	}{{"type", p.Type, &f.Type}, {"category", p.Category, &f.Category}, {"fileset", p.Fileset, &f.Fileset}} {
		if t.value == "" {
			continue
		}
		if err := checkKey(t.value); err != nil {
			return f, invalid("query."+t.name, t.value, err)
		}
		*t.to = &t.value
	}
	if p.SizeClass != "" {
		class, err := classes.Parse(p.SizeClass)
		if err != nil {
			return f, invalid("query.size_class", p.SizeClass, err)
		}
		f.SizeClass = &class
	}
	if p.AgeClass != "" {
		class, err := usage.ParseAgeClass(p.AgeClass)
		if err != nil {
			return f, invalid("query.age_class", p.AgeClass, err)
		}
		f.AgeClass = &class
	}
	return f, nil
}

// checkKey refuses what no key of a type, category or fileset can be, and what
// the store cannot even be asked for, such as a NUL.
func checkKey(key string) error {
	if !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return errNotText
	}
	if _, err := usage.UnescapeKey(key); err != nil {
		return fmt.Errorf("%w: %w", errNotText, err)
	}
	return nil
}

// fileSystem finds the file system of a request. What is neither a name nor an
// id is not looked for.
func (a *api) fileSystem(ctx context.Context, nameOrID string) (usage.FileSystem, error) {
	missing := notFound("path.fs", nameOrID,
		fmt.Sprintf("There is no file system %q: see %s/filesystems for those that there are.", nameOrID, a.Base+Prefix))
	if _, err := strconv.ParseInt(nameOrID, 10, 64); err != nil && usage.ValidateName(nameOrID) != nil {
		return usage.FileSystem{}, missing
	}
	fs, err := a.Reader.FileSystem(ctx, a.Scope(ctx), nameOrID)
	if errors.Is(err, usage.ErrNotFound) {
		return fs, missing
	}
	if err != nil {
		return fs, fmt.Errorf("find file system %q: %w", nameOrID, err)
	}
	return fs, nil
}

// scan finds the scan of a request; nil stands for the latest where none was
// published yet.
func (a *api) scan(ctx context.Context, fs usage.FileSystem, latestOrID string) (*usage.Scan, error) {
	id := fs.CurrentScanID
	if latestOrID != "latest" {
		var err error
		id, err = strconv.ParseInt(latestOrID, 10, 64)
		if err != nil || id < 1 {
			return nil, invalid("query.scan", latestOrID, errors.New("must be latest or the id of a scan"))
		}
	}
	if id == 0 {
		return nil, nil //nolint:nilnil // no scan yet is an answer of its own, not a failure
	}
	scan, err := a.Reader.Scan(ctx, a.Scope(ctx), id)
	if errors.Is(err, usage.ErrNotFound) || err == nil && scan.FileSystemID != fs.ID {
		return nil, notFound("query.scan", latestOrID,
			fmt.Sprintf("There is no scan %d of %s: see %s/filesystems/%s/scans.", id, fs.Name, a.Base+Prefix, fs.Name))
	}
	if err != nil {
		return nil, fmt.Errorf("find scan %d: %w", id, err)
	}
	if scan.State != usage.Complete {
		return nil, notFound("query.scan", latestOrID,
			fmt.Sprintf("Scan %d has no numbers: it is %s.", id, scan.State))
	}
	return &scan, nil
}

// checkDay refuses what is not a date.
func checkDay(location, day string) error {
	if day == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return invalid(location, day, errors.New("must be a date such as 2026-01-31"))
	}
	return nil
}
