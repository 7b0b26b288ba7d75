package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

const (
	// eventsEvery is how often the store is asked about a scan that is watched.
	eventsEvery = time.Second
	// heartbeatEvery is how long a stream is silent at most, so that proxies keep it.
	heartbeatEvery = 15 * time.Second
	// eventWriteTimeout ends streams whose reader does not read any more.
	eventWriteTimeout = 30 * time.Second
	// maxStreams bounds the streams of events of all viewers; further ones poll.
	maxStreams = 200
)

// watches are the scans that somebody watches. However many do, the store is asked
// about a scan once each eventsEvery.
type watches struct {
	mu      sync.Mutex
	streams int
	of      map[int64]*watched
}

// watched is a scan that is watched. Who holds turn may read and set the rest.
type watched struct {
	watchers int // under watches.mu
	turn     chan struct{}
	at       time.Time // of live; zero before the first
	live     page.Live
}

// enter takes part in watching a scan; leave must be called. ok is false where too many
// watch already.
func (w *watches) enter(scanID int64) (scan *watched, leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streams >= maxStreams {
		return nil, nil, false
	}
	w.streams++
	if w.of == nil {
		w.of = make(map[int64]*watched)
	}
	scan = w.of[scanID]
	if scan == nil {
		scan = &watched{turn: make(chan struct{}, 1)}
		w.of[scanID] = scan
	}
	scan.watchers++
	return scan, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.streams--
		scan.watchers--
		if scan.watchers == 0 {
			delete(w.of, scanID)
		}
	}, true
}

// latest returns what is known of the scan and is younger than eventsEvery; whoever
// comes first after that asks, and the others wait for its answer.
func (w *watched) latest(ctx context.Context, ask func(context.Context) (page.Live, error)) (page.Live, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return page.Live{}, ctx.Err()
	}
	// A little less, as the ticks of watchers are not in step to the millisecond.
	if !w.at.IsZero() && time.Since(w.at) < eventsEvery*9/10 {
		return w.live, nil
	}
	live, err := ask(ctx)
	if err == nil {
		w.live, w.at = live, time.Now()
	}
	return live, err
}

// events streams what progress answers, as server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html): one "progress" when
// something has changed, until the scan has ended. Each holds everything, so a reader
// that comes back has missed nothing. It is not under limits and compress.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	seen, err := s.seen(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	scan, leave, ok := s.watches.enter(seen.of.ID)
	if !ok { // the script asks /progress instead
		w.Header().Set("Retry-After", "60")
		writeText(w, http.StatusServiceUnavailable, "too many scans are watched\n")
		return
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx
	stream := &eventStream{w: w, control: http.NewResponseController(w)}
	ask := func(ctx context.Context) (page.Live, error) { return s.liveOf(ctx, seen) }
	if err := s.follow(r.Context(), stream, scan, ask); err != nil {
		s.Logger.DebugContext(r.Context(), "a stream of events ended", "scan", seen.of.ID, "error", err)
	}
}

// seenScan is a scan that somebody may see, with what its progress is worded with.
type seenScan struct {
	frame  component.Frame
	of     usage.Scan
	before *usage.Scan
}

func (s *site) seen(r *http.Request) (seen seenScan, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	seen.frame, seen.of, seen.before, _, err = s.findScan(r.WithContext(ctx))
	return seen, err
}

// liveOf reads the scan anew.
func (s *site) liveOf(ctx context.Context, seen seenScan) (page.Live, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	of, err := s.Reader.Scan(ctx, Scope(ctx), seen.of.ID)
	if err != nil {
		return page.Live{}, fmt.Errorf("find scan %d: %w", seen.of.ID, err)
	}
	seen.frame.Now = s.Clock().In(s.Location)
	return s.live(ctx, seen.frame, s.zoned(of), seen.before)
}

// follow sends events until the scan has ended, the reader goes, or the server stops.
func (s *site) follow(
	ctx context.Context, stream *eventStream, scan *watched, ask func(context.Context) (page.Live, error),
) error {
	if err := stream.send("retry: 3000\n\n"); err != nil {
		return err
	}
	tick := time.NewTicker(eventsEvery)
	defer tick.Stop()
	for {
		live, err := scan.latest(ctx, ask)
		if err != nil {
			return err // the reader comes back, and is told then if it is still so
		}
		if err := stream.progress(live); err != nil || live.Ended {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Stopping:
			return nil
		}
	}
}

// eventStream writes events.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    string // the data of the last event
	at      time.Time
}

// progress sends what is known of a scan if it differs from what was sent, and a comment
// where nothing was sent for long.
func (e *eventStream) progress(live page.Live) error {
	data, err := json.Marshal(live) // one line: JSON escapes line ends
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	switch {
	case string(data) != e.sent:
		e.sent = string(data)
		return e.send("event: progress\ndata: " + e.sent + "\n\n")
	case time.Since(e.at) >= heartbeatEvery:
		return e.send(": still here\n\n")
	}
	return nil
}

func (e *eventStream) send(text string) error {
	e.at = time.Now()
	// Each write has a limit of its own, whatever the server has for requests; writers
	// that cannot have one do without.
	_ = e.control.SetWriteDeadline(e.at.Add(eventWriteTimeout))
	if _, err := e.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	return nil
}
