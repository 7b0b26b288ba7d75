package server

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fstally/internal/fileset"
	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// fsSettings is the page of the settings of a file system.
func (s *site) fsSettings(r *http.Request) (answer, error) {
	model, err := s.fsSettingsModel(r)
	if err != nil {
		return answer{}, err
	}
	saved := r.URL.Query().Get("saved")
	model.Added, model.Saved = saved == "added", saved == "1"
	return answer{content: page.FSSettingsPage(model)}, nil
}

func (s *site) fsSettingsModel(r *http.Request) (model page.FSSettings, err error) {
	model.Frame = s.frame(r, "Settings")
	if err := s.fileSystem(r.Context(), &model.Frame, fsParam(r)); err != nil {
		return model, err
	}
	model.Section, model.Path = component.Settings, component.SettingsPath(model.FileSystem.Name)
	model.Form = page.NewFSForm(*model.FileSystem)
	return model, nil
}

// setFSSettings stores the settings of a file system and leads to them. What is wrong is
// told in the form, which keeps what was typed.
func (s *site) setFSSettings(r *http.Request) (answer, error) {
	model, err := s.fsSettingsModel(r)
	if err != nil {
		return answer{}, err
	}
	if err := r.ParseForm(); err != nil {
		return answer{}, badForm(err)
	}
	model.Form = fsForm(r.PostForm)
	fs, problems := readFSForm(*model.FileSystem, model.Form)
	if len(problems) == 0 {
		err := s.Scans.UpdateFileSystem(r.Context(), fs)
		if err == nil {
			s.Logger.InfoContext(r.Context(), "settings changed", "filesystem", fs.Name, "filesystem_id", fs.ID)
			return answer{redirect: component.SettingsPath(fs.Name) + "?saved=1"}, nil
		}
		if problems = s.taken(r, fs, err); len(problems) == 0 {
			return answer{}, fmt.Errorf("change the settings of %s: %w", model.FileSystem.Name, err)
		}
	}
	model.Problems = problems
	return answer{content: page.FSSettingsPage(model), status: http.StatusUnprocessableEntity}, nil
}

// fsForm reads the fields of the form, as they were typed.
func fsForm(values url.Values) page.FSForm {
	get := func(name string) string { return typed(values, name) }
	return page.FSForm{
		Name: get(usage.SettingName), Worker: get(usage.SettingWorker), Walkers: get(usage.SettingWalkers),
		OpsLimit: get(usage.SettingOpsLimit), Stall: get(usage.SettingStall), Nice: get(usage.SettingNice),
		IdleIO: values.Has(usage.SettingIdleIO), Memory: get(usage.SettingMemory),
		SizeClasses: get(usage.SettingSizeClasses), FilesetDepth: get(usage.SettingFilesetDepth),
		Filesets: typedLines(values, usage.SettingFilesets),
	}
}

// readFSForm returns fs with the settings that a form says, and what is wrong with them
// by setting.
func readFSForm(fs usage.FileSystem, form page.FSForm) (changed usage.FileSystem, problems map[string]string) {
	problems = map[string]string{}
	number := func(setting, text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			problems[setting] = "Write a number, without a unit."
		}
		return n
	}
	fs.Name, fs.Worker, fs.IdleIO = form.Name, form.Worker, form.IdleIO
	fs.Walkers = number(usage.SettingWalkers, form.Walkers)
	fs.OpsLimit = number(usage.SettingOpsLimit, form.OpsLimit)
	fs.StallAfter = time.Duration(number(usage.SettingStall, form.Stall)) * time.Minute
	fs.Nice = number(usage.SettingNice, form.Nice)
	fs.Filesets.Depth = number(usage.SettingFilesetDepth, form.FilesetDepth)
	try := func(setting string, err error) {
		if err != nil {
			problems[setting] = err.Error()
		}
	}
	var err error
	fs.MemoryLimit, err = usage.ParseSize(form.Memory)
	try(usage.SettingMemory, err)
	fs.SizeClasses, err = parseSizeClasses(form.SizeClasses)
	try(usage.SettingSizeClasses, err)
	fs.Filesets.Named, err = parseFilesets(fs.Root, form.Filesets)
	try(usage.SettingFilesets, err)

	invalid := maps.Clone(usage.SettingProblems(fs.Validate()))
	delete(invalid, usage.SettingRoot) // not to be changed here
	for setting, problem := range invalid {
		if problems[setting] == "" {
			problems[setting] = problem
		}
	}
	return fs, problems
}

// parseSizeClasses reads bounds with commas between them, such as "3 KiB, 32 KiB".
func parseSizeClasses(text string) (classes usage.SizeClasses, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != len(classes) {
		return classes, fmt.Errorf("give %d bounds, with commas between them", len(classes))
	}
	for i, part := range parts {
		if classes[i], err = usage.ParseSize(part); err != nil {
			return classes, err
		}
	}
	return classes, nil
}

// parseFilesets reads lines NAME=DIR or DIR, escaped. A name ends at the first =, unless
// a slash stands before it.
func parseFilesets(root, text string) (named []usage.NamedFileset, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, dir, found := strings.Cut(line, "=")
		if !found || strings.Contains(name, "/") {
			name, dir = "", line
		} else if name == "" {
			return nil, fmt.Errorf("%s: the name before = is missing", usage.Escape(line))
		}
		rawName, err := usage.Unescape(name)
		if err != nil {
			return nil, err
		}
		rawDir, err := usage.Unescape(dir)
		if err != nil {
			return nil, err
		}
		if rawDir != "" && !strings.HasPrefix(rawDir, "/") {
			rawDir = "./" + rawDir // so that no = in it ends a name
		}
		f, err := fileset.Parse(root, rawDir)
		if err != nil {
			return nil, err
		}
		f.Name = rawName
		named = append(named, f)
	}
	return named, nil
}

// removeFileSystem removes a file system whose name was typed once more.
func (s *site) removeFileSystem(r *http.Request) (answer, error) {
	model, err := s.fsSettingsModel(r)
	if err != nil {
		return answer{}, err
	}
	if err := r.ParseForm(); err != nil {
		return answer{}, badForm(err)
	}
	fs := model.FileSystem
	if strings.TrimSpace(r.PostForm.Get("confirm")) != fs.Name {
		model.RemoveProblem = "This is not its name, so nothing was removed."
		return answer{content: page.FSSettingsPage(model), status: http.StatusUnprocessableEntity}, nil
	}
	if model.Running != nil {
		model.RemoveProblem = "A scan of it is queued or running: cancel that first."
		return answer{content: page.FSSettingsPage(model), status: http.StatusConflict}, nil
	}
	if err := s.Scans.RemoveFileSystem(r.Context(), fs.ID); err != nil {
		return answer{}, fmt.Errorf("remove %s: %w", fs.Name, err)
	}
	s.Logger.InfoContext(r.Context(), "file system removed", "filesystem", fs.Name, "filesystem_id", fs.ID,
		"root", usage.Escape(fs.Root))
	return answer{redirect: "/settings?saved=removed"}, nil
}
