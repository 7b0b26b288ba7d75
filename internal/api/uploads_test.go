package api_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"fstally/internal/api"
	"fstally/internal/upload"
	"fstally/internal/usage"
)

const resultID = "0b6b1bd1-7b0e-4a54-9d3c-0f6f1f4b7c1e"

// uploads answers everything with one upload or one error, and records what it is asked.
type uploads struct {
	upload upload.Upload
	err    error // of all but Status
	calls  []string
}

func (u *uploads) answer(format string, args ...any) (upload.Upload, error) {
	u.calls = append(u.calls, fmt.Sprintf(format, args...))
	return u.upload, u.err
}

func (u *uploads) Announce(_ context.Context, a upload.Announcement) (upload.Upload, error) {
	return u.answer("announce %+v", a)
}

func (u *uploads) Status(_ context.Context, id string) (upload.Upload, error) {
	if u.upload.ID != id {
		return upload.Upload{}, usage.ErrNotFound
	}
	return u.upload, nil
}

func (u *uploads) Append(_ context.Context, id string, offset int64, body io.Reader) (upload.Upload, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return upload.Upload{}, err
	}
	return u.answer("append %s %d %s", id, offset, text)
}

func (u *uploads) Finish(_ context.Context, id string) (upload.Upload, error) {
	return u.answer("finish %s", id)
}

func (u *uploads) Remove(id string) error {
	_, err := u.answer("remove %s", id)
	return err
}

func serveUploads(t *testing.T, u api.Uploads, scope usage.Scope) http.Handler {
	t.Helper()
	h, err := api.New(api.Config{
		Reader: example(), Scans: example(), Uploads: u, Scope: func(context.Context) usage.Scope { return scope },
		Clock: func() time.Time { return night }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	r.Mount(api.Prefix, documented(t, h))
	return r
}

const announcement = `{"filesystem":"scratch","size":5,"sha256":"` + "%s" + `"}`

func announced(change ...string) string {
	text := fmt.Sprintf(announcement, strings.Repeat("0a", 32))
	return strings.NewReplacer(change...).Replace(text)
}

// Every step of an upload reaches the folder as it was asked for.
func TestUpload(t *testing.T) {
	u := &uploads{upload: upload.Upload{
		Announcement: upload.Announcement{ID: resultID, FileSystemID: 1, Size: 5, SHA256: strings.Repeat("0a", 32)},
		State:        upload.Receiving, Offset: 2, Expires: night,
	}}
	h := serveUploads(t, u, usage.Everything())
	path := "/uploads/" + resultID
	w := send(t, h, http.MethodPut, path, announced("}", `,"any_root":true}`))
	if w.Code != http.StatusOK || w.Header().Get("Upload-Offset") != "2" || !strings.Contains(w.Body.String(), `"state":"receiving"`) {
		t.Errorf("announce = %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w = do(t, h, http.MethodGet, path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"offset":2`) {
		t.Errorf("status = %d %s", w.Code, w.Body)
	}
	w = send(t, h, http.MethodPatch, path, "llo", "Upload-Offset", "2", "Content-Type", api.PieceType)
	if w.Code != http.StatusOK {
		t.Errorf("piece = %d %s", w.Code, w.Body)
	}
	u.upload.State, u.upload.Scan = upload.Imported, example().AllScans[0]
	if w = do(t, h, http.MethodPost, path+"/finish"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"scan":{"id":1`) {
		t.Errorf("finish = %d %s", w.Code, w.Body)
	}
	if w = do(t, h, http.MethodDelete, path); w.Code != http.StatusNoContent {
		t.Errorf("remove = %d %s", w.Code, w.Body)
	}
	want := []string{
		fmt.Sprintf("announce {ID:%s FileSystemID:1 Size:5 SHA256:%s AnyRoot:true}", resultID, strings.Repeat("0a", 32)),
		"append " + resultID + " 2 llo", "finish " + resultID, "remove " + resultID,
	}
	if fmt.Sprint(u.calls) != fmt.Sprint(want) {
		t.Errorf("asked for %q, want %q", u.calls, want)
	}
}

// What goes wrong has its status, and says what to do.
func TestUploadProblems(t *testing.T) {
	path := "/uploads/" + resultID
	known := upload.Upload{Announcement: upload.Announcement{ID: resultID, FileSystemID: 1, Size: 5}, State: upload.Receiving}
	refused, damaged := known, known
	refused.State, refused.Reason = upload.Refused, "scan again"
	damaged.State, damaged.Reason, damaged.Resend = upload.Refused, "send it again", true
	piece := []string{"Upload-Offset", "0", "Content-Type", api.PieceType}
	for _, tc := range []struct {
		what, method, path, body string
		header                   []string
		upload                   upload.Upload
		err                      error
		status                   int
		says                     string
	}{
		{what: "unknown file system", method: "PUT", body: announced("scratch", "nope"), status: 404, says: "nope"},
		{what: "no bytes", method: "PUT", body: announced("5", "0"), status: 422, says: "body.size"},
		{what: "no hash", method: "PUT", body: announced("0a", "zz"), status: 422, says: "body.sha256"},
		{what: "unknown field", method: "PUT", body: announced("size", "sizes"), status: 422, says: "sizes"},
		{what: "no JSON", method: "PUT", body: "{", status: 400},
		{
			what: "too large", method: "PUT", body: announced(), err: &upload.TooLargeError{Size: 5000, Most: 4000},
			status: 413, says: "4,000",
		},
		{what: "too many", method: "PUT", body: announced(), err: &upload.TooManyError{Most: 7}, status: 429, says: "7 uploads"},
		{what: "no room", method: "PUT", body: announced(), err: &upload.FullError{Need: 1 << 30}, status: 507, says: "make room"},
		{what: "another file", method: "PUT", body: announced(), err: upload.ErrOther, status: 409, says: "remove that upload"},
		{
			what: "invalid", method: "PUT", body: announced(), err: &upload.InvalidError{Field: "size", Reason: "odd"},
			status: 422, says: "odd",
		},
		{what: "store away", method: "PUT", body: announced(), err: usage.ErrUnavailable, status: 503, says: "database"},
		{what: "unknown upload", method: "GET", path: "/uploads/x", status: 404, says: "announce"},
		{what: "piece of an unknown one", method: "PATCH", path: "/uploads/x", header: piece, status: 404, says: "announce"},
		{what: "finish an unknown one", method: "POST", path: "/uploads/x/finish", status: 404, says: "announce"},
		{what: "remove an unknown one", method: "DELETE", path: "/uploads/x", status: 404, says: "announce"},
		{what: "another offset", method: "PATCH", header: piece, err: &upload.OffsetError{Offset: 3}, status: 409, says: "3 bytes"},
		{what: "two at once", method: "PATCH", header: piece, err: upload.ErrBusy, status: 409, says: "another request"},
		{what: "no room for a piece", method: "PATCH", header: piece, err: &upload.FullError{}, status: 507, says: "kept"},
		{
			what: "a byte too many", method: "PATCH", header: piece, err: &upload.TooLargeError{Size: 6, Most: 5},
			status: 413, says: "6 bytes",
		},
		{what: "no offset", method: "PATCH", header: piece[2:], status: 422, says: "Upload-Offset"},
		{what: "negative offset", method: "PATCH", header: append([]string{"Upload-Offset", "-1"}, piece[2:]...), status: 422},
		{
			what: "another type", method: "PATCH", header: append(piece[:2:2], "Content-Type", "text/html"),
			status: 415, says: api.PieceType,
		},
		{what: "not complete", method: "POST", path: path + "/finish", err: &upload.OffsetError{Offset: 3}, status: 409, says: "3 bytes"},
		{what: "refused", method: "POST", path: path + "/finish", upload: refused, status: 422, says: "scan again"},
		{what: "refused before", method: "GET", upload: refused, status: 422, says: "scan again"},
		{what: "damaged", method: "POST", path: path + "/finish", upload: damaged, status: 409, says: "send it again"},
		{what: "complete", method: "DELETE", err: upload.ErrImporting, status: 409, says: "complete"},
	} {
		u := &uploads{upload: tc.upload, err: tc.err}
		if u.upload.ID == "" {
			u.upload = known
		}
		if tc.path == "" {
			tc.path = path
		}
		h := serveUploads(t, u, usage.Everything())
		if w := send(t, h, tc.method, tc.path, tc.body, tc.header...); w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) {
			t.Errorf("%s: %d %s, want %d with %q", tc.what, w.Code, w.Body, tc.status, tc.says)
		}
	}
}

// Outside of the scope there is no upload, and where none are taken neither.
func TestUploadScope(t *testing.T) {
	u := &uploads{upload: upload.Upload{Announcement: upload.Announcement{ID: resultID, FileSystemID: 1}, State: upload.Receiving}}
	path := "/uploads/" + resultID
	for name, h := range map[string]http.Handler{
		"another's": serveUploads(t, u, usage.OnlyFileSystems(2)), "none": serveUploads(t, nil, usage.Everything()),
	} {
		for _, r := range [][2]string{{"PUT", path}, {"GET", path}, {"PATCH", path}, {"POST", path + "/finish"}, {"DELETE", path}} {
			body, header := "", []string{"Upload-Offset", "0", "Content-Type", api.PieceType}
			if r[0] == "PUT" {
				body, header = announced(), nil
			}
			if w := send(t, h, r[0], r[1], body, header...); w.Code != http.StatusNotFound {
				t.Errorf("%s: %s = %d %s", name, r[0], w.Code, w.Body)
			}
		}
	}
	if len(u.calls) > 0 {
		t.Errorf("asked for %q", u.calls)
	}
}
