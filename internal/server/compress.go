package server

import (
	"io"
	"net/http"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/klauspost/compress/gzip"
)

// compressLevel costs a quarter of the time of compress/gzip at level 5, for as
// many bytes; a long history spent a third of its time there.
const compressLevel = 3

// compress packs the answers that are texts.
func compress() func(http.Handler) http.Handler {
	c := middleware.NewCompressor(compressLevel, "text/html", "application/json", "text/csv")
	c.SetEncoder("gzip", func(w io.Writer, level int) io.Writer {
		packer, err := gzip.NewWriterLevel(w, level)
		if err != nil {
			return nil // which chi takes as: cannot be packed
		}
		return packer
	})
	return c.Handler
}
