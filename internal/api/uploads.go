package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/upload"
	"fstally/internal/usage"
)

// Uploads takes results in pieces. See package upload for its errors.
type Uploads interface {
	Announce(ctx context.Context, a upload.Announcement) (upload.Upload, error)
	Status(ctx context.Context, id string) (upload.Upload, error)
	Append(ctx context.Context, id string, offset int64, body io.Reader) (upload.Upload, error)
	Finish(ctx context.Context, id string) (upload.Upload, error)
	Remove(id string) error
}

// PieceTimeout bounds how long the bytes of one piece may take. What came until then is
// kept, and a sender whose connection died without a word is not waited for any longer.
const PieceTimeout = time.Minute

// PieceType is the media type of a piece.
const PieceType = "application/octet-stream"

type uploadBody struct {
	ID           string     `json:"id" format:"uuid" doc:"Id of the result."`
	FileSystemID int64      `json:"filesystem_id" doc:"Number of the file system that it belongs to."`
	State        string     `json:"state" enum:"receiving,importing,imported" doc:"receiving bytes; importing, which goes on without the sender; or imported."`
	Size         int64      `json:"size,omitempty" doc:"Bytes of the whole file; absent of one that is imported."`
	SHA256       string     `json:"sha256,omitempty" doc:"SHA-256 of the whole file; absent of one that is imported."`
	Offset       int64      `json:"offset" doc:"Bytes that are here: where to go on."`
	Expires      *time.Time `json:"expires,omitempty" doc:"When it is forgotten, unless more bytes come before; absent of one that is complete."`
	Scan         *ScanBody  `json:"scan,omitempty" doc:"The scan that it became; of one that is imported."`
}

type uploadOutput struct {
	Offset int64 `header:"Upload-Offset" doc:"Bytes that are here, as in the body."`
	Body   uploadBody
}

func (a *api) newUploadOutput(u *upload.Upload) *uploadOutput {
	body := uploadBody{
		ID: u.ID, FileSystemID: u.FileSystemID, State: string(u.State), Size: u.Size, SHA256: u.SHA256, Offset: u.Offset,
		Expires: timeOrNil(u.Expires),
	}
	if u.State == upload.Imported {
		scan := a.newScanBody(&u.Scan)
		body.Scan = &scan
	}
	return &uploadOutput{Offset: u.Offset, Body: body}
}

// UploadParam names the upload of a request.
type UploadParam struct {
	ID string `path:"id" doc:"Id of the result: the UUID in it, in lower case." example:"0b6b1bd1-7b0e-4a54-9d3c-0f6f1f4b7c1e"`
}

type announceInput struct {
	UploadParam
	Body struct {
		_          struct{} `json:"-" additionalProperties:"false"`
		FileSystem string   `json:"filesystem" doc:"Name or id of the file system that it belongs to." example:"scratch"`
		Size       int64    `json:"size" minimum:"1" doc:"Bytes of the whole file."`
		SHA256     string   `json:"sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the whole file, in lower-case hexadecimal."`
		AnyRoot    bool     `json:"any_root,omitempty" doc:"Take it also where another directory was scanned than the root of the file system: the host that scanned mounts it elsewhere."`
	}
}

// pieceInput leaves the body unread, for the folder to read as it comes.
type pieceInput struct {
	UploadParam
	Offset      int64  `header:"Upload-Offset" required:"true" minimum:"0" doc:"Where the piece begins: the offset of the answer before."`
	ContentType string `header:"Content-Type" required:"true" doc:"application/octet-stream."`
	body        io.Reader
}

// Resolve takes hold of the body.
func (in *pieceInput) Resolve(ctx huma.Context) []error {
	_ = ctx.SetReadDeadline(time.Now().Add(PieceTimeout)) // fails where there is no connection, in tests
	in.body = ctx.BodyReader()
	return nil
}

func (a *api) registerUploads() {
	register(a, operation{
		id: "announce-upload", method: http.MethodPut, path: "/uploads/{id}", body: true,
		errors: []int{
			http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests, http.StatusInsufficientStorage,
		},
		group: groupUploads, summary: "Announce a result, or learn how much of it is here",
		description: "The first step, also of a sender that was interrupted: offset says where to go on. A result that " +
			"is stored already is answered with its scan, and nothing is to be sent.",
		answer: "The upload as it is now.",
	}, a.announceUpload)
	register(a, operation{
		id: "upload", method: http.MethodGet, path: "/uploads/{id}",
		errors: []int{http.StatusNotFound, http.StatusConflict},
		group:  groupUploads, summary: "How far an upload is",
		description: "Of a result that is stored, however it came, with its scan.",
		answer:      "The upload as it is now.",
	}, func(ctx context.Context, in *UploadParam) (*uploadOutput, error) {
		u, err := a.upload(ctx, in.ID)
		return a.uploadAnswer(&u, err)
	})
	piece := operation{
		id: "upload-piece", method: http.MethodPatch, path: "/uploads/{id}",
		errors: []int{
			http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
			http.StatusInsufficientStorage,
		},
		group: groupUploads, summary: "Send the next bytes of a result",
		description: "As many as can be sent in less than a minute, such as 8 MiB. What comes is kept even when the " +
			"connection breaks: ask for the offset then, and go on from there. A result whose last byte has come is " +
			"imported, whether its sender comes back or not.",
		answer: "The upload as it is now; its offset may be less than what was sent.",
	}
	register(a, piece, a.uploadPiece)
	a.documented(piece).RequestBody = &huma.RequestBody{
		Required: true, Description: "The bytes of the file from the offset on.",
		Content: map[string]*huma.MediaType{PieceType: {Schema: &huma.Schema{
			Type: huma.TypeString, Format: "binary", Description: "A piece of the file.",
		}}},
	}
	register(a, operation{
		id: "finish-upload", method: http.MethodPost, path: "/uploads/{id}/finish",
		errors: []int{http.StatusNotFound, http.StatusConflict},
		group:  groupUploads, summary: "Wait for the scan that an upload becomes",
		description: "Answers when it is stored or refused, or with the state importing after some seconds: ask again. " +
			"What is wrong with the result is told with status 422, and that its bytes were damaged on the way with 409: " +
			"announce and send it again then.",
		answer: "The upload, imported or still importing.",
	}, a.finishUpload)
	register(a, operation{
		id: "remove-upload", method: http.MethodDelete, path: "/uploads/{id}", status: http.StatusNoContent,
		errors: []int{http.StatusNotFound, http.StatusConflict},
		group:  groupUploads, summary: "Give up an upload",
		description: "Of one that is not complete. One that does not go on is forgotten after a week by itself.",
		answer:      "It is removed.",
	}, a.removeUpload)
}

func (a *api) announceUpload(ctx context.Context, in *announceInput) (*uploadOutput, error) {
	if a.Uploads == nil {
		return nil, noUploads()
	}
	fs, err := a.fileSystem(ctx, in.Body.FileSystem)
	if err != nil {
		return nil, err
	}
	u, err := a.Uploads.Announce(ctx, upload.Announcement{
		ID: in.ID, FileSystemID: fs.ID, Size: in.Body.Size, SHA256: in.Body.SHA256, AnyRoot: in.Body.AnyRoot,
	})
	return a.uploadAnswer(&u, err)
}

func (a *api) uploadPiece(ctx context.Context, in *pieceInput) (*uploadOutput, error) {
	if kind, _, err := mime.ParseMediaType(in.ContentType); err != nil || kind != PieceType {
		return nil, huma.Error415UnsupportedMediaType("Send the bytes as " + PieceType + ".")
	}
	if _, err := a.upload(ctx, in.ID); err != nil {
		return a.uploadAnswer(nil, err)
	}
	u, err := a.Uploads.Append(ctx, in.ID, in.Offset, in.body)
	return a.uploadAnswer(&u, err)
}

func (a *api) finishUpload(ctx context.Context, in *UploadParam) (*uploadOutput, error) {
	if _, err := a.upload(ctx, in.ID); err != nil {
		return a.uploadAnswer(nil, err)
	}
	u, err := a.Uploads.Finish(ctx, in.ID)
	return a.uploadAnswer(&u, err)
}

func (a *api) removeUpload(ctx context.Context, in *UploadParam) (*struct{}, error) {
	if _, err := a.upload(ctx, in.ID); err != nil {
		_, err := a.uploadAnswer(nil, err)
		return nil, err
	}
	if err := a.Uploads.Remove(in.ID); err != nil {
		_, err := a.uploadAnswer(nil, err)
		return nil, err
	}
	a.Logger.InfoContext(ctx, "upload given up", "result", in.ID)
	return nil, nil //nolint:nilnil // an answer without a body
}

// upload finds an upload that the caller may see.
func (a *api) upload(ctx context.Context, id string) (upload.Upload, error) {
	if a.Uploads == nil {
		return upload.Upload{}, noUploads()
	}
	u, err := a.Uploads.Status(ctx, id)
	if err == nil && !a.Scope(ctx).Sees(u.FileSystemID) {
		err = usage.ErrNotFound
	}
	if errors.Is(err, usage.ErrNotFound) {
		err = notFound("path.id", usage.Escape(id), "There is no upload of this id: announce it, or send it anew.")
	}
	return u, err
}

func noUploads() error {
	return huma.Error404NotFound("This fstally takes no uploads: send the result to the one that runs fstally serve.")
}

// uploadAnswer gives what can go wrong with an upload its status.
func (a *api) uploadAnswer(u *upload.Upload, err error) (*uploadOutput, error) {
	var invalidField *upload.InvalidError
	var large *upload.TooLargeError
	var many *upload.TooManyError
	var full *upload.FullError
	switch {
	case errors.As(err, &invalidField):
		return nil, invalid("body."+invalidField.Field, "", errors.New(invalidField.Reason))
	case errors.As(err, &large):
		return nil, huma.NewError(http.StatusRequestEntityTooLarge, large.Error())
	case errors.As(err, &many):
		return nil, huma.Error429TooManyRequests(many.Error())
	case errors.As(err, &full):
		return nil, huma.NewError(http.StatusInsufficientStorage, full.Error())
	case err != nil:
		return nil, fmt.Errorf("upload: %w", err)
	case u.State == upload.Refused && u.Resend:
		return nil, huma.Error409Conflict(u.Reason)
	case u.State == upload.Refused:
		return nil, huma.Error422UnprocessableEntity(u.Reason)
	}
	return a.newUploadOutput(u), nil
}
