package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"fstally/internal/api"
	"fstally/internal/postgres"
	"fstally/internal/server"
	"fstally/internal/usage"
)

type serveCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Directories to register and scan at once."`

	webFlags
	settings
}

// webFlags are the flags of commands that serve the pages and the API.
type webFlags struct {
	Listen         string   `env:"FSTALLY_LISTEN" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to serve. Default: ${default}."`
	Token          string   `env:"FSTALLY_TOKEN" placeholder:"TOKEN" help:"Access token. Default: the one in the data directory, made at the first start."`
	AllowAnonymous bool     `env:"FSTALLY_ALLOW_ANONYMOUS" help:"Let in whoever reaches the address, without the token. Every page says so."`
	Hosts          []string `env:"FSTALLY_HOSTS" placeholder:"HOST" help:"Names under which browsers may reach the pages, beside the address itself; put the name of a reverse proxy here."`
	PublicURL      string   `env:"FSTALLY_PUBLIC_URL" placeholder:"URL" help:"Address that browsers know the site by, such as https://storage.example.org, without the base path: it is printed at the start, and its name is let in."`
	BasePath       string   `env:"FSTALLY_BASE_PATH" placeholder:"/PATH" help:"Prefix of all addresses, behind a reverse proxy that serves other things too."`
}

// Limits of the HTTP server. A page takes milliseconds; an export may take long
// to be read.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	drainTimeout      = 10 * time.Second
)

// Run serves until ctx ends or the database goes away.
func (c serveCmd) Run(ctx context.Context, a *app) error {
	roots, err := c.inspect(ctx, a) // before anything is made or started
	if err != nil {
		return err
	}
	return c.withStore(ctx, a, func(d *database, listener net.Listener, token string) error {
		return c.serve(ctx, a, d, listener, token, func() error { return c.queueScans(ctx, a, d, roots) })
	})
}

// withStore opens what serving takes, so that a wrong address or database is
// told before anything else is done, for the time of f.
func (c webFlags) withStore(ctx context.Context, a *app, f func(*database, net.Listener, string) error) (err error) {
	if _, err := c.public(); err != nil {
		return usageError{err}
	}
	if err := a.makeDataDir(); err != nil {
		return err
	}
	token := c.Token
	if token == "" && !c.AllowAnonymous {
		var err error
		if token, err = a.token(); err != nil {
			return err
		}
	}
	// First, as a second fstally on the same data is in the way of the address, too.
	d, err := a.openToServe(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return listenError{fmt.Errorf("serve at %s: %w (choose another address with --listen)", c.Listen, err)}
	}
	defer listener.Close() //nolint:errcheck // the server closes it, too
	return f(d, listener, token)
}

// serve serves until ctx ends or the database goes away. Once what an earlier
// run left is cleared away, and before the address is told, it calls queue.
func (c webFlags) serve(
	ctx context.Context, a *app, d *database, listener net.Listener, token string, queue func() error,
) error {
	supervisor, err := a.supervisor(d)
	if err != nil {
		return err
	}
	supervisor.Housekeeping = true
	supervisor.Tasks = []func(context.Context) error{
		func(ctx context.Context) error { return d.PreparePartitions(ctx, time.Now()) },
		func(ctx context.Context) error {
			_, err := d.ThinOut(ctx, time.Now())
			return err
		},
	}
	uploads, err := a.uploads(d)
	if err != nil {
		return err
	}
	schema, err := postgres.SchemaVersion()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	site := server.Config{
		Reader: d.Store, Scans: d.Store, Schema: schema,
		SpoolSize: supervisor.SpoolSize, Ready: supervisor.Ready, Stopping: ctx.Done(), Token: token,
	}
	handler, err := c.handler(a, site, api.Config{
		Reader: d.Store, Scans: d.Store, Uploads: uploads,
	})
	if err != nil {
		return usageError{err}
	}
	if err := supervisor.Recover(ctx); err != nil { // before new scans are queued
		return err
	}
	if err := queue(); err != nil {
		return err
	}
	group.Go(func() error { return supervisor.Run(ctx) })
	group.Go(func() error { return uploads.Run(ctx) })
	group.Go(func() error { return serveHTTP(ctx, listener, handler) })
	group.Go(func() error { return a.keepPostgres(ctx, d) })
	c.announce(a, listener.Addr(), token)
	err = group.Wait()
	if err == nil {
		_, _ = fmt.Fprintln(a.stdout, "fstally has stopped.")
	}
	return err
}

// handler wires the API into the site, and adds what both share.
func (c webFlags) handler(a *app, site server.Config, v1 api.Config) (http.Handler, error) {
	v1.Scope, v1.Base, v1.Clock, v1.Logger, v1.Version = server.Scope, c.BasePath, time.Now, a.log, version
	handler, err := api.New(v1)
	if err != nil {
		return nil, err
	}
	site.API, site.AllowAnonymous, site.Hosts, site.BasePath = handler, c.AllowAnonymous, c.hosts(), c.BasePath
	site.Location, site.Clock, site.Logger, site.Version = a.location, time.Now, a.log, version
	return server.New(site)
}

// hosts returns the names that browsers may use. Those to listen at and of the
// public address are among them, unless they are IP addresses, which are let in
// anyway.
func (c webFlags) hosts() []string {
	hosts := c.Hosts
	add := func(host string) {
		if host != "" && net.ParseIP(host) == nil {
			hosts = append(hosts, host)
		}
	}
	if host, _, err := net.SplitHostPort(c.Listen); err == nil {
		add(host)
	}
	if u, err := c.public(); err == nil && u != nil {
		add(u.Hostname())
	}
	return hosts
}

// public returns the public address, nil for none.
func (c webFlags) public() (*url.URL, error) {
	if c.PublicURL == "" {
		return nil, nil
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("--public-url %q: write scheme and host, such as https://storage.example.org; "+
			"a path behind it goes into --base-path", c.PublicURL)
	}
	return u, nil
}

// inspect checks all paths, so that a wrong one is told before anything starts.
func (c serveCmd) inspect(ctx context.Context, a *app) (roots []string, err error) {
	for _, path := range c.Paths {
		root, err := a.inspect(ctx, path)
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	return roots, nil
}

func (c serveCmd) queueScans(ctx context.Context, a *app, d *database, roots []string) error {
	for _, root := range roots {
		fs, err := a.register(ctx, d, root, "", c.settings)
		if err != nil {
			return err
		}
		if _, err := d.QueueScan(ctx, fs.ID); err != nil {
			id, busy := isBusy(err)
			if !busy {
				return err
			}
			a.log.InfoContext(ctx, "a scan is queued or running already", "filesystem", fs.Name, "scan", id)
		}
		_, _ = fmt.Fprintf(a.stdout, "Scanning %s as file system %s.\n", usage.Escape(root), fs.Name)
	}
	return nil
}

// announce prints the address to open.
func (c webFlags) announce(a *app, addr net.Addr, token string) {
	u := url.URL{Scheme: "http", Host: browserHost(addr)}
	if public, err := c.public(); err == nil && public != nil {
		u.Scheme, u.Host = public.Scheme, public.Host
	}
	u.Path = c.BasePath + "/"
	if token != "" {
		u.RawQuery = url.Values{"token": {token}}.Encode()
	}
	_, _ = fmt.Fprintf(a.stdout, "fstally is ready: %s\n", u.String())
	if c.AllowAnonymous {
		_, _ = fmt.Fprintln(a.stdout, "Anybody who reaches this address sees everything (--allow-anonymous).")
	}
}

// browserHost turns an address that listens everywhere into one to open.
func browserHost(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// serveHTTP serves until ctx ends, then lets requests finish.
func serveHTTP(ctx context.Context, listener net.Listener, handler http.Handler) error {
	s := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		_ = s.Close()
	}
	return nil
}
