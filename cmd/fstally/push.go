package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fstally/internal/push"
	"fstally/internal/result"
	"fstally/internal/upload"
	"fstally/internal/usage"
)

// pushFlags say how results get to a server elsewhere.
type pushFlags struct {
	TokenFile    string        `type:"existingfile" placeholder:"FILE" help:"Where the access token of the server is. Default: the environment variable FSTALLY_TOKEN."`
	CAFile       string        `name:"ca-file" type:"existingfile" placeholder:"FILE" help:"Certificates (PEM) that are trusted beside those of this host."`
	InsecureHTTP bool          `name:"insecure-http" help:"Let the token go over plain http to another host."`
	PushFor      time.Duration `default:"24h" placeholder:"TIME" help:"How long the server may be away. What could not be sent until then is kept and sent by the next run. Default: ${default}."`
	AnyRoot      bool          `help:"Send also what was scanned at another path than the server has for the file system."`
}

// pushError is a failure to reach the server, or to be let in. Nothing is lost by it.
type pushError struct{ error }

// Unwrap returns the failure.
func (e pushError) Unwrap() error { return e.error }

func (c pushFlags) client(a *app, url string) (*push.Client, error) {
	token := a.getenv("FSTALLY_TOKEN")
	if c.TokenFile != "" {
		text, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return nil, usageError{fmt.Errorf("read the access token: %w", err)}
		}
		token = strings.TrimSpace(string(text))
	}
	var cas []byte
	if c.CAFile != "" {
		var err error
		if cas, err = os.ReadFile(c.CAFile); err != nil {
			return nil, usageError{fmt.Errorf("read the certificates: %w", err)}
		}
	}
	client, err := push.NewClient(push.Config{
		URL: url, Token: token, CAs: cas, InsecureHTTP: c.InsecureHTTP, Version: version,
	})
	if err != nil {
		return nil, usageError{err}
	}
	return client, nil
}

// tellEvery is how often it is told that the server is away.
const tellEvery = 10 * time.Minute

// send sends one result and tells what became of it.
func (c pushFlags) send(ctx context.Context, a *app, client *push.Client, r push.Result) error {
	line := newProgressLine(a.stderr, 0)
	progress := func(sent, size int64) {
		line.print(fmt.Sprintf("sending %s: %d%% of %s", filepath.Base(r.File), 100*sent/max(1, size),
			usage.FormatBytes(usage.ByteCount(size))))
	}
	var told time.Time
	tell := func(err error) {
		if time.Since(told) < tellEvery {
			return
		}
		told = time.Now()
		a.log.WarnContext(ctx, "send a result; it is tried again", "file", r.File, "error", err)
	}
	stored, err := client.Send(ctx, r, progress, tell)
	line.end()
	if err != nil {
		return err
	}
	if stored.Already {
		_, err = fmt.Fprintf(a.stdout, "Nothing to do: this result is stored as scan %d of %s.\n",
			stored.ScanID, r.FileSystem)
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "Scan %d of %s is stored, %s.\n", stored.ScanID, r.FileSystem, stored.Verdict)
	if err == nil && stored.Reason != "" {
		_, err = fmt.Fprintln(a.stdout, stored.Reason)
	}
	return err
}

// deliver sends what waits in the spool, the oldest first, and keeps what cannot be sent.
func (c pushFlags) deliver(ctx context.Context, a *app, client *push.Client, spool push.Spool, fs string) error {
	results, err := spool.Waiting()
	if err != nil {
		return err
	}
	var failed []error
	for _, r := range results {
		r.FileSystem, r.AnyRoot = fs, c.AnyRoot
		err := c.send(ctx, a, client, r)
		switch _, refused := errors.AsType[*push.RefusedError](err); {
		case err == nil:
			err = spool.Sent(r)
		case errors.Is(err, os.ErrNotExist): // another run has sent it meanwhile
			err = nil
		case refused:
			aside, asideErr := spool.Refused(r)
			err = errors.Join(fmt.Errorf("%w (kept in %s)", err, aside), asideErr)
		default:
			err = pushError{fmt.Errorf("%w (the result is kept in %s, and the next run sends it first)", err, r.File)}
		}
		if err != nil {
			failed = append(failed, err)
		}
		if ctx.Err() != nil || push.Passing(err) { // the others would not get further
			break
		}
	}
	return errors.Join(failed...)
}

// pushScan scans as the server wants it and sends the result.
func (c scanCmd) pushScan(ctx context.Context, a *app) error {
	if err := usage.ValidateName(c.FS); err != nil {
		return usageError{fmt.Errorf("--push needs --fs, the name of the file system on the server: %w", err)}
	}
	client, err := c.client(a, c.Push)
	if err != nil {
		return err
	}
	defer client.Close()
	dir := c.Spool
	if dir == "" {
		if err := a.makeDataDir(); err != nil {
			return err
		}
		dir = filepath.Join(a.cli.DataDir, "push")
	}
	spool, err := push.OpenSpool(dir, c.FS)
	if err != nil {
		return err
	}
	if err := c.scanInto(ctx, a, client, spool); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.PushFor)
	defer cancel()
	return c.deliver(ctx, a, client, spool, c.FS)
}

// scanInto scans into the spool, after what an earlier run left was sent.
func (c scanCmd) scanInto(ctx context.Context, a *app, client *push.Client, spool push.Spool) error {
	unlock, err := spool.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	fs, err := c.settingsFrom(ctx, a, client, spool)
	if err != nil {
		return err
	}
	root, err := a.inspect(ctx, c.Path)
	if err != nil {
		return err
	}
	if err := upload.CheckRoot(&fs, &usage.Meta{Root: root}); err != nil && !c.AnyRoot { // before hours of scanning
		return usageError{err}
	}
	fs.Root = root
	wanted := c
	wanted.of = &fs
	line := newProgressLine(a.stderr, 0)
	defer line.end()
	return wanted.scan(ctx, a, line.show, func(ctx context.Context, r *result.Result) error {
		into := wanted
		into.Out = spool.File(r.Meta.ResultID)
		return into.write(ctx, r)
	})
}

// settingsFrom asks the server how to scan, and sends it what waits meanwhile. While it
// is away, what it said the last time holds: the night is not lost.
func (c scanCmd) settingsFrom(
	ctx context.Context, a *app, client *push.Client, spool push.Spool,
) (usage.FileSystem, error) {
	fs, err := client.FileSystem(ctx, c.FS)
	if err == nil {
		if err := spool.Remember(&fs); err != nil {
			a.log.WarnContext(ctx, "keep the settings for a night without the server", "error", err)
		}
		if err := c.deliverOnce(ctx, a, client, spool); err != nil {
			a.log.WarnContext(ctx, "send what an earlier run left; it is tried again after the scan", "error", err)
		}
		return fs, nil
	}
	if !push.Passing(err) {
		return fs, pushError{err}
	}
	if fs, rememberErr := spool.Remembered(); rememberErr == nil {
		a.log.WarnContext(ctx, "the server does not answer; scanning with the settings that it told the last time",
			"error", err)
		return fs, nil
	}
	a.log.WarnContext(ctx, "the server does not answer; waiting for the settings", "error", err)
	return c.awaitSettings(ctx, client, err)
}

// awaitSettings asks until the server answers.
func (c scanCmd) awaitSettings(ctx context.Context, client *push.Client, last error) (usage.FileSystem, error) {
	const every = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, c.PushFor)
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return usage.FileSystem{}, pushError{fmt.Errorf("nothing was scanned: %w", last)}
		case <-time.After(min(every, c.PushFor)):
		}
		fs, err := client.FileSystem(ctx, c.FS)
		if err == nil {
			return fs, nil
		}
		if !push.Passing(err) {
			return fs, pushError{err}
		}
		last = err
	}
}

// leftoverTime bounds how long a scan waits for what an earlier run left to be sent.
const leftoverTime = 15 * time.Minute

func (c scanCmd) deliverOnce(ctx context.Context, a *app, client *push.Client, spool push.Spool) error {
	ctx, cancel := context.WithTimeout(ctx, min(leftoverTime, c.PushFor))
	defer cancel()
	return c.deliver(ctx, a, client, spool, c.FS)
}

type pushCmd struct {
	URL   string   `arg:"" help:"Address of the server, such as https://storage.example.org."`
	Files []string `arg:"" name:"file" type:"existingfile" help:"Results of 'fstally scan --out'."`
	FS    string   `name:"fs" required:"" placeholder:"NAME" help:"File system that they belong to, on the server."`
	pushFlags
}

// Run sends result files. They stay.
func (c pushCmd) Run(ctx context.Context, a *app) error {
	client, err := c.client(a, c.URL)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, c.PushFor)
	defer cancel()
	for _, file := range c.Files {
		r, err := result.ReadFile(file)
		if err != nil {
			return err
		}
		err = c.send(ctx, a, client, push.Result{File: file, ID: r.Meta.ResultID, FileSystem: c.FS, AnyRoot: c.AnyRoot})
		if _, refused := errors.AsType[*push.RefusedError](err); err != nil && !refused {
			err = pushError{err}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
