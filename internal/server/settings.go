package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// settings is the page of what holds for the whole site.
func (s *site) settings(r *http.Request) (answer, error) {
	model, err := s.settingsModel(r)
	if err != nil {
		return answer{}, err
	}
	switch r.URL.Query().Get("saved") {
	case "retention":
		model.Saved = "How long details are kept is saved."
	case "removed":
		model.Saved = "The file system is removed, with its history."
	}
	return answer{content: page.SettingsPage(model)}, nil
}

func (s *site) settingsModel(r *http.Request) (model page.Settings, err error) {
	ctx := r.Context()
	model.Frame = s.frame(r, "Settings")
	model.Section, model.Schema = component.Settings, s.Schema
	if model.FileSystems, err = s.Reader.FileSystems(ctx, Scope(ctx)); err != nil {
		return model, fmt.Errorf("list file systems: %w", err)
	}
	kept, err := s.Reader.Retention(ctx)
	if err != nil {
		return model, err
	}
	model.Retention = page.NewRetentionForm(kept)
	return model, nil
}

// addFileSystem registers a file system and leads to its settings.
func (s *site) addFileSystem(r *http.Request) (answer, error) {
	if err := r.ParseForm(); err != nil {
		return answer{}, badForm(err)
	}
	form := page.AddForm{Name: typed(r.PostForm, usage.SettingName), Root: typed(r.PostForm, usage.SettingRoot)}
	problems := map[string]string{}
	root, err := usage.Unescape(form.Root)
	if err != nil {
		problems[usage.SettingRoot] = err.Error()
	}
	if len(root) > 1 {
		root = strings.TrimRight(root, "/")
	}
	fs := usage.NewFileSystem(form.Name, root)
	for setting, problem := range usage.SettingProblems(fs.Validate()) {
		if problems[setting] == "" {
			problems[setting] = problem
		}
	}
	if len(problems) == 0 {
		added, err := s.Scans.AddFileSystem(r.Context(), fs)
		if err == nil {
			s.Logger.InfoContext(r.Context(), "file system added", "filesystem", added.Name, "filesystem_id", added.ID,
				"root", usage.Escape(added.Root))
			return answer{redirect: component.SettingsPath(added.Name) + "?saved=added"}, nil
		}
		if problems = s.taken(r, fs, err); len(problems) == 0 {
			return answer{}, fmt.Errorf("add the file system %s: %w", fs.Name, err)
		}
	}
	model, err := s.settingsModel(r)
	model.Add, model.AddProblems = form, problems
	return answer{content: page.SettingsPage(model), status: http.StatusUnprocessableEntity}, err
}

// taken says which setting of f another file system has, if that is why the store
// refused it.
func (s *site) taken(r *http.Request, f usage.FileSystem, err error) map[string]string {
	var refused conflict
	if !errors.As(err, &refused) || !refused.Conflict() {
		return nil
	}
	all, err := s.Reader.FileSystems(r.Context(), Scope(r.Context()))
	if err != nil {
		return nil
	}
	problems := map[string]string{}
	for _, other := range all {
		if other.ID == f.ID {
			continue
		}
		if other.Name == f.Name {
			problems[usage.SettingName] = "Another file system has this name, that of " + usage.Escape(other.Root) + "."
		}
		if path.Clean(other.Root) == f.Root {
			problems[usage.SettingRoot] = "The file system " + other.Name + " watches it already."
		}
	}
	return problems
}

// setRetention sets how long details are kept.
func (s *site) setRetention(r *http.Request) (answer, error) {
	if err := r.ParseForm(); err != nil {
		return answer{}, badForm(err)
	}
	form := page.RetentionForm{
		Nightly: typed(r.PostForm, usage.SettingNightlyDays), Weekly: typed(r.PostForm, usage.SettingWeeklyDays),
		Monthly: typed(r.PostForm, usage.SettingMonthlyDays), Problems: map[string]string{},
	}
	number := func(setting, text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			form.Problems[setting] = "Write a number of days, or 0 for ever."
		}
		return n
	}
	kept := usage.Retention{
		NightlyDays: number(usage.SettingNightlyDays, form.Nightly),
		WeeklyDays:  number(usage.SettingWeeklyDays, form.Weekly),
		MonthlyDays: number(usage.SettingMonthlyDays, form.Monthly),
	}
	if len(form.Problems) == 0 {
		form.Problems = usage.SettingProblems(kept.Validate())
	}
	if len(form.Problems) > 0 {
		model, err := s.settingsModel(r)
		model.Retention = &form
		return answer{content: page.SettingsPage(model), status: http.StatusUnprocessableEntity}, err
	}
	if err := s.Scans.SetRetention(r.Context(), kept); err != nil {
		return answer{}, err
	}
	s.Logger.InfoContext(r.Context(), "retention set", "nightly_days", kept.NightlyDays, "weekly_days", kept.WeeklyDays,
		"monthly_days", kept.MonthlyDays)
	return answer{redirect: "/settings?" + url.Values{"saved": {"retention"}}.Encode()}, nil
}
