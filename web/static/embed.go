// Package static embeds what browsers load beside the pages: the style sheet,
// the icon and the bundled scripts. The binary needs no other file, and a site
// without internet access loads nothing from elsewhere.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed *.css *.svg *.js dist/*.js
var files embed.FS

// Prefix is the path, below the site's base path, that Handler answers.
const Prefix = "/static/"

// file is an embedded file, ready to be sent.
type file struct {
	plain, zipped []byte // zipped is nil where it would not be smaller
	hash          string
	mediaType     string
}

// load reads every embedded file once; what it returns is never changed.
var load = sync.OnceValue(func() map[string]file { //nolint:gochecknoglobals // as constant as the files themselves
	table := map[string]file{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read embedded %s: %w", name, err)
		}
		sum := sha256.Sum256(content)
		table[name] = file{
			plain:     content,
			zipped:    compress(content),
			hash:      hex.EncodeToString(sum[:6]),
			mediaType: mediaType(name),
		}
		return nil
	})
	if err != nil {
		panic(err) // an embedded file is part of the program
	}
	return table
})

// mediaType does not ask the host's tables, which differ between machines.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return "application/octet-stream"
	}
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(content); err != nil {
		return nil
	}
	if err := w.Close(); err != nil || b.Len() >= len(content) {
		return nil
	}
	return b.Bytes()
}

// Asset returns the path of an embedded file, such as "app.css", below the
// site's base path. It carries a hash of the content, so that browsers may keep
// the file for ever. An unknown name is a fault of the program and panics.
func Asset(name string) string {
	f, ok := load()[name]
	if !ok {
		panic(fmt.Sprintf("no embedded file %q", name))
	}
	return Prefix + name + "?v=" + f.hash
}

// Handler serves the embedded files at Prefix. Requests under a base path need
// it stripped before.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := load()[strings.TrimPrefix(r.URL.Path, Prefix)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		header := w.Header()
		header.Set("Content-Type", f.mediaType)
		header.Set("Vary", "Accept-Encoding")
		header.Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == f.hash {
			header.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		content, tag := f.plain, f.hash
		if f.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			content, tag = f.zipped, f.hash+"-gzip"
			header.Set("Content-Encoding", "gzip")
		}
		header.Set("ETag", `"`+tag+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}
