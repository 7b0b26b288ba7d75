package server

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"fstally/internal/usage"
)

// typed returns a field of a form without spaces around it, fit to be shown again:
// control characters and marks that hide or reorder text are escaped. Backslashes stay,
// as who types one means an escape.
func typed(values url.Values, name string) string {
	return escapeTyped(strings.TrimSpace(values.Get(name)))
}

// typedLines is typed for a field of several lines.
func typedLines(values url.Values, name string) string {
	var text strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(values.Get(name), "\r\n", "\n")) {
		line, end := strings.CutSuffix(line, "\n")
		text.WriteString(escapeTyped(line))
		if end {
			text.WriteString("\n")
		}
	}
	return text.String()
}

func escapeTyped(text string) string { return strings.ReplaceAll(usage.Escape(text), `\\`, `\`) }

// badForm is a body that is no form.
func badForm(err error) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return err
	}
	return &pageError{http.StatusBadRequest, "The form cannot be read", "Load the page again, and send it once more."}
}
