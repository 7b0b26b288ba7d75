package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"fstally/internal/usage"
	"fstally/web/component"
)

// scansInMenu is how many scans the menu of a page lists.
const scansInMenu = 60

// frame is what every page has, whatever it shows.
func (s *site) frame(_ *http.Request, title string) component.Frame {
	return component.Frame{
		Base: s.BasePath, Title: title, State: url.Values{}, Now: s.Clock().In(s.Location),
		Anonymous: s.AllowAnonymous, Version: s.Version,
	}
}

// fileSystem finds the file system of an address and sets the parts of the frame
// that are about it: the switcher, the menu of scans, and the running scan. What
// is neither a name nor an id is not looked for.
func (s *site) fileSystem(ctx context.Context, f *component.Frame, nameOrID string) error {
	missing := &pageError{
		status:  http.StatusNotFound,
		message: fmt.Sprintf("There is no file system %s", usage.Escape(nameOrID)),
		remedy:  "It may have been renamed or removed: begin at the first page.",
	}
	if _, err := strconv.ParseInt(nameOrID, 10, 64); err != nil && usage.ValidateName(nameOrID) != nil {
		return missing
	}
	fs, err := s.Reader.FileSystem(ctx, Scope(ctx), nameOrID)
	if errors.Is(err, usage.ErrNotFound) {
		return missing
	}
	if err != nil {
		return fmt.Errorf("find file system %q: %w", nameOrID, err)
	}
	f.FileSystem = &fs
	if f.FileSystems, err = s.Reader.FileSystems(ctx, Scope(ctx)); err != nil {
		return fmt.Errorf("list file systems: %w", err)
	}
	// Further pages only where the first has nothing but occurrences without a scan.
	for scans, err := range s.scanPages(ctx, fs.ID, scansInMenu) {
		if err != nil {
			return err
		}
		for _, scan := range scans {
			scan = s.zoned(scan)
			switch {
			case !scan.State.Ended():
				f.Running = &scan
			case scan.State == usage.Complete:
				f.Scans = append(f.Scans, scan)
			}
		}
		if slices.ContainsFunc(scans, func(scan usage.Scan) bool { return scan.State != usage.NotRun }) {
			break
		}
	}
	return nil
}

// zoned returns a scan with its times in the site's zone, as pages show them.
func (s *site) zoned(scan usage.Scan) usage.Scan {
	for _, t := range []*time.Time{
		&scan.Occurrence, &scan.NotBefore, &scan.Queued, &scan.Started, &scan.Finished, &scan.Published,
	} {
		if !t.IsZero() {
			*t = t.In(s.Location)
		}
	}
	return scan
}

// choose sets the scan that the page shows: the one of ?scan=, else the current
// one. The answer is another page where there are no numbers to show: ok is then
// false.
func (s *site) choose(r *http.Request, f *component.Frame) (other answer, ok bool, err error) {
	ctx, query := r.Context(), r.URL.Query()
	if day := query.Get("day"); day != "" {
		other, err = s.scanOfDay(ctx, f, query, day)
		return other, false, err
	}
	id := f.FileSystem.CurrentScanID
	if text := query.Get("scan"); text != "" && text != "latest" {
		id, err = strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return answer{}, false, badParameter("scan", text, "It must be the id of a scan.")
		}
		f.State.Set("scan", text)
	}
	if id == 0 {
		other, err = s.firstRun(ctx, f, []usage.FileSystem{*f.FileSystem})
		return other, false, err
	}
	scan, err := s.Reader.Scan(ctx, Scope(ctx), id)
	switch {
	case errors.Is(err, usage.ErrNotFound), err == nil && scan.FileSystemID != f.FileSystem.ID:
		return answer{}, false, &pageError{
			status:  http.StatusNotFound,
			message: fmt.Sprintf("There is no scan %d of %s", id, f.FileSystem.Name),
			remedy:  "It may have been removed: take another one.",
		}
	case err != nil:
		return answer{}, false, fmt.Errorf("find scan %d: %w", id, err)
	case scan.State != usage.Complete:
		return answer{redirect: scanPath(id)}, false, nil
	}
	previous, next, err := s.Reader.Neighbours(ctx, Scope(ctx), scan)
	if err != nil {
		return answer{}, false, fmt.Errorf("neighbours of scan %d: %w", id, err)
	}
	f.Scan = &component.ShownScan{
		Scan: s.zoned(scan), Previous: previous, Next: next, Latest: id == f.FileSystem.CurrentScanID,
	}
	return answer{}, true, nil
}

// scanOfDay leads from a day to the latest scan that had started by its end.
func (s *site) scanOfDay(ctx context.Context, f *component.Frame, query url.Values, day string) (answer, error) {
	start, err := time.ParseInLocation(time.DateOnly, day, s.Location)
	if err != nil {
		return answer{}, badParameter("day", day, "It must be a date such as 2026-01-31.")
	}
	scan, err := s.Reader.ScanBefore(ctx, Scope(ctx), f.FileSystem.ID, start.AddDate(0, 0, 1).Add(-time.Nanosecond))
	if errors.Is(err, usage.ErrNotFound) {
		return answer{}, &pageError{
			status:  http.StatusNotFound,
			message: fmt.Sprintf("There is no scan of %s on or before %s", f.FileSystem.Name, day),
			remedy:  "Take a later day.",
		}
	}
	if err != nil {
		return answer{}, fmt.Errorf("scan of %s before %s: %w", f.FileSystem.Name, day, err)
	}
	query.Del("day")
	query.Set("scan", strconv.FormatInt(scan.ID, 10))
	return answer{redirect: f.PagePath() + "?" + query.Encode()}, nil
}

// option reads a parameter that has a fixed set of values, the first of which is
// the default, and keeps another one in the state of the page.
func option[T ~string](r *http.Request, f *component.Frame, name string, values ...T) (T, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return values[0], nil
	}
	i := slices.Index(values, T(text))
	if i < 0 {
		return "", badParameter(name, text, fmt.Sprintf("Use one of %v.", values))
	}
	if i > 0 {
		f.State.Set(name, text)
	}
	return values[i], nil
}

// scanPath is the address of the page about a scan, below the base path.
func scanPath(id int64) string { return "/scans/" + strconv.FormatInt(id, 10) }

// fsParam returns the file system that an address names. chi leaves a parameter
// encoded where the path cannot be decoded without loss.
func fsParam(r *http.Request) string {
	param := chi.URLParam(r, "fs")
	if decoded, err := url.PathUnescape(param); err == nil && r.URL.RawPath != "" {
		return decoded
	}
	return param
}
