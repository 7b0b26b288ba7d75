package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"fstally/internal/usage"
)

// Result is a result file that has to be sent.
type Result struct {
	File       string
	ID         string // of the result in it
	FileSystem string // name or id of the one that it belongs to
	AnyRoot    bool   // whatever directory was scanned
}

// Stored says what a result became.
type Stored struct {
	ScanID  int64
	Verdict usage.Verdict
	Reason  string // why the verdict is not clean
	Already bool   // it was there before
}

// RefusedError says that the server will never take a result.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "the server refuses the result: " + e.Reason }

// upload is an answer about an upload.
type upload struct {
	State  string
	Offset int64
	Scan   struct {
		ID      int64
		Verdict usage.Verdict
		Reason  string
	}
}

// How long to wait until the next try, at first and at most.
const (
	waitFirst = time.Second
	waitMost  = time.Minute
)

// maxDamaged is how often a result is sent again whose bytes came damaged.
const maxDamaged = 3

// Send brings a result to the server and waits until it is stored. It goes on after
// whatever break for as long as ctx lasts; tell is called with an error before each
// wait, progress with the bytes that the server has.
//
// Errors: RefusedError; an AnswerError that is not Passing; the last passing error when
// ctx ends.
func (c *Client) Send(
	ctx context.Context, r Result, progress func(sent, size int64), tell func(error),
) (Stored, error) {
	s := &sender{Client: c, result: r, progress: progress}
	file, err := os.Open(r.File)
	if err != nil {
		return Stored{}, &localError{fmt.Errorf("send the result: %w", err)}
	}
	defer file.Close() //nolint:errcheck // nothing was written
	s.file = file
	if s.sum, s.size, err = digest(file); err != nil {
		return Stored{}, &localError{fmt.Errorf("read the result %s: %w", r.File, err)}
	}
	wait := waitFirst
	for {
		before := s.offset
		stored, err := s.try(ctx)
		if err == nil || !s.again(err) {
			return stored, err
		}
		if s.offset > before {
			wait = waitFirst
		}
		tell(err)
		select {
		case <-ctx.Done():
			return Stored{}, err
		case <-time.After(wait):
		}
		wait = min(2*wait, waitMost)
	}
}

func digest(file *os.File) (sum string, size int64, err error) {
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

// sender sends one result.
type sender struct {
	*Client
	result   Result
	file     *os.File
	sum      string
	size     int64
	offset   int64 // bytes that the server has
	damaged  int   // how often they were not what was sent
	progress func(sent, size int64)
}

// errOutOfStep is an answer that says to ask for the offset again.
var errOutOfStep = errors.New("the upload is elsewhere than expected")

// again reports whether another try is worth it.
func (s *sender) again(err error) bool {
	if errors.Is(err, errOutOfStep) {
		return s.damaged < maxDamaged
	}
	return Passing(err)
}

// try sends what is missing, as far as it comes.
func (s *sender) try(ctx context.Context) (Stored, error) {
	path := "/uploads/" + s.result.ID
	what := "send " + s.result.File
	var u upload
	err := s.do(ctx, request{what: what, method: http.MethodPut, path: path, json: map[string]any{
		"filesystem": s.result.FileSystem, "size": s.size, "sha256": s.sum, "any_root": s.result.AnyRoot,
	}}, &u)
	if err != nil {
		return Stored{}, err
	}
	if u.State == "imported" {
		stored := storedAs(&u)
		stored.Already = s.offset == 0 // else it was sent, and only the answer was lost
		return stored, nil
	}
	for u.State == "receiving" && u.Offset < s.size {
		s.offset = u.Offset
		s.progress(u.Offset, s.size)
		n := min(s.piece, s.size-u.Offset)
		err := s.do(ctx, request{
			what: what, method: http.MethodPatch, path: path,
			piece: io.NewSectionReader(s.file, u.Offset, n), offset: u.Offset, size: n,
		}, &u)
		if err != nil {
			return Stored{}, s.step(err)
		}
		if u.State == "receiving" && u.Offset <= s.offset {
			return Stored{}, fmt.Errorf("%s: the server got nothing of it in time: %w", what, errOutOfStep)
		}
	}
	if u.State == "receiving" { // all is there, and a crash kept it from being complete
		err := s.do(ctx, request{
			what: what, method: http.MethodPatch, path: path, piece: http.NoBody, offset: u.Offset,
		}, &u)
		if err != nil {
			return Stored{}, s.step(err)
		}
	}
	s.offset = s.size
	s.progress(s.size, s.size)
	for u.State != "imported" {
		asked := time.Now()
		if err := s.do(ctx, request{what: what, method: http.MethodPost, path: path + "/finish"}, &u); err != nil {
			return Stored{}, s.finishStep(err)
		}
		if u.State != "imported" && time.Since(asked) < waitFirst { // the server did not wait
			select {
			case <-ctx.Done():
				return Stored{}, fmt.Errorf("%s: the server has not imported it yet: %w", what, ctx.Err())
			case <-time.After(waitFirst):
			}
		}
	}
	return storedAs(&u), nil
}

func storedAs(u *upload) Stored {
	return Stored{ScanID: u.Scan.ID, Verdict: u.Scan.Verdict, Reason: u.Scan.Reason}
}

// step explains an answer to a piece: another sender may be ahead, or the upload was
// forgotten or refused meanwhile.
func (s *sender) step(err error) error {
	answer, ok := errors.AsType[*AnswerError](err)
	switch {
	case !ok:
		return err
	case answer.Status == http.StatusConflict, answer.Status == http.StatusNotFound:
		return fmt.Errorf("%w: %s", errOutOfStep, answer.Error())
	case answer.Status == http.StatusUnprocessableEntity:
		return &RefusedError{Reason: answer.Detail}
	}
	return err
}

// finishStep explains an answer to the last request, where a conflict says that bytes
// were damaged on the way.
func (s *sender) finishStep(err error) error {
	if answer, ok := errors.AsType[*AnswerError](err); ok && answer.Status == http.StatusConflict {
		s.damaged++
		s.offset = 0
	}
	return s.step(err)
}
