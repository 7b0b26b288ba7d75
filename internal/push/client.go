package push

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fstally/internal/usage"
)

// Limits of a request. The server gives the bytes of a piece a minute.
const (
	requestTimeout = 90 * time.Second
	connectTimeout = 20 * time.Second
	maxAnswer      = 1 << 20
)

// DefaultPiece is how many bytes are sent with a request.
const DefaultPiece = 8 << 20

// Config is what a client is made of.
type Config struct {
	URL   string // of the site, with its base path: https://storage.example.org/fstally
	Token string
	CAs   []byte // certificates in PEM that are trusted beside those of the system
	// InsecureHTTP lets the token go over http to another host than this one.
	InsecureHTTP bool
	Version      string // of the program
	Piece        int64  // bytes sent with a request; 0 for DefaultPiece
}

// Client talks to one server.
type Client struct {
	base    *url.URL
	token   string
	version string
	piece   int64
	http    *http.Client
}

// NewClient checks the configuration. Nothing is sent yet.
func NewClient(c Config) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(c.URL, "/"))
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Hostname() == "" ||
		base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return nil, fmt.Errorf("%q is not the address of a server: write one such as https://storage.example.org", c.URL)
	}
	if base.Scheme == "http" && !isLoopback(base.Hostname()) && !c.InsecureHTTP {
		return nil, fmt.Errorf("%s: the token would be readable on its way: use https, or --insecure-http where the "+
			"network is trusted", c.URL)
	}
	if c.Token == "" {
		return nil, errors.New("no access token: set FSTALLY_TOKEN or --token-file to what 'fstally token' prints " +
			"on the server")
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the access token has characters that no token has: look into its file")
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout:   connectTimeout,
		ResponseHeaderTimeout: requestTimeout,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          1,
		IdleConnTimeout:       connectTimeout,
	}
	if len(c.CAs) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("read the certificates of the system: %w", err)
		}
		if !pool.AppendCertsFromPEM(c.CAs) {
			return nil, errors.New("the file of certificates holds none: it must be PEM")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	piece := c.Piece
	if piece == 0 {
		piece = DefaultPiece
	}
	return &Client{
		base: base, token: c.Token, version: c.Version, piece: piece,
		http: &http.Client{
			Transport: transport,
			// No redirect is followed: the token is for this server, and a piece
			// cannot be sent twice.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// AnswerError is an answer of the server that is not a success.
type AnswerError struct {
	Status int
	Detail string // for people
	what   string
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("%s: the server says: %s (HTTP %d)", e.what, e.Detail, e.Status)
}

// Unwrap returns usage.ErrNotFound where there is no such file system.
func (e *AnswerError) Unwrap() error {
	if e.Status == http.StatusNotFound {
		return usage.ErrNotFound
	}
	return nil
}

// Passing reports an error that may pass by itself: the server is away, busy or out of
// room, or the connection broke. Others need somebody: a wrong token, a name that is
// not known, a certificate that is not trusted.
func Passing(err error) bool {
	if answer, ok := errors.AsType[*AnswerError](err); ok {
		switch answer.Status {
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
			return true
		}
		return answer.Status >= http.StatusInternalServerError
	}
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError // plain HTTP behind an https address, as is ErrSchemeMismatch
	return err != nil && !errors.As(err, &certificate) && !errors.As(err, &record) &&
		!errors.Is(err, http.ErrSchemeMismatch) && !errors.Is(err, context.Canceled) &&
		!errors.As(err, new(*localError)) && !errors.As(err, new(*RefusedError))
}

// localError is a failure on this side.
type localError struct{ error }

// Unwrap returns the failure.
func (e *localError) Unwrap() error { return e.error }

// request is one to the API.
type request struct {
	what         string // for errors
	method, path string
	json         any       // body, unless
	piece        io.Reader // there is this one, of size bytes from offset on
	offset, size int64
}

// do sends a request and decodes the answer.
func (c *Client) do(ctx context.Context, r request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	body, kind := r.piece, "application/octet-stream"
	if r.piece == nil && r.json != nil {
		text, err := json.Marshal(r.json)
		if err != nil {
			return fmt.Errorf("%s: %w", r.what, err)
		}
		body, kind = bytes.NewReader(text), "application/json"
	}
	out, err := http.NewRequestWithContext(ctx, r.method, c.base.String()+"/api/v1"+r.path, body)
	if err != nil {
		return fmt.Errorf("%s: %w", r.what, err)
	}
	out.Header.Set("Authorization", "Bearer "+c.token)
	out.Header.Set("Accept", "application/json")
	out.Header.Set("User-Agent", "fstally/"+c.version)
	if body != nil {
		out.Header.Set("Content-Type", kind)
	}
	if r.piece != nil {
		out.ContentLength = r.size
		out.Header.Set("Upload-Offset", strconv.FormatInt(r.offset, 10))
	}
	in, err := c.http.Do(out)
	if err != nil {
		return fmt.Errorf("%s: %w", r.what, err) // with method and address, but without the token
	}
	defer in.Body.Close() //nolint:errcheck // nothing is written
	text, err := io.ReadAll(io.LimitReader(in.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: %w", r.what, err)
	}
	if in.StatusCode != http.StatusOK {
		return &AnswerError{Status: in.StatusCode, Detail: detail(in, text), what: r.what}
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return &AnswerError{
			Status: in.StatusCode, what: r.what,
			Detail: "something else than fstally does: check the address, and the proxy before it",
		}
	}
	return nil
}

// detail returns what an answer that is no success says.
func detail(in *http.Response, text []byte) string {
	var problem struct {
		Detail string
		Errors []struct{ Message, Location string }
	}
	switch {
	case in.StatusCode/100 == 3:
		return "look at " + usage.Escape(in.Header.Get("Location")) + ": name that address instead, if it is the right one"
	case json.Unmarshal(text, &problem) != nil || problem.Detail == "":
		return usage.Escape(http.StatusText(in.StatusCode))
	}
	for _, e := range problem.Errors {
		problem.Detail += "; " + e.Location + ": " + e.Message
	}
	return usage.Escape(problem.Detail)
}
