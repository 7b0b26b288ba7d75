package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"fstally/internal/usage"
)

// cookieAge is how long a browser is remembered. A new token forgets them all.
const cookieAge = 30 * 24 * time.Hour

type scopeKey struct{}

// Scope returns what the caller of a request may see: nothing, unless the
// request has passed the gate.
func Scope(ctx context.Context) usage.Scope {
	scope, _ := ctx.Value(scopeKey{}).(usage.Scope)
	return scope
}

// gate lets in who has the token, as a bearer token or as the cookie that was
// given for it. An address with ?token= is exchanged for the cookie, and the
// browser sent on to the address without it.
func (s *site) gate(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token := r.URL.Query().Get("token")
		switch {
		case token != "" && isRead(r) && !isAPI(r):
			s.exchange(w, r, token)
		case s.AllowAnonymous || s.authorized(r):
			next(w, r.WithContext(context.WithValue(r.Context(), scopeKey{}, usage.Everything())))
		default:
			s.refuse(w, r, false)
		}
	}
}

// exchange answers an address that holds a token.
func (s *site) exchange(w http.ResponseWriter, r *http.Request, token string) {
	if !s.AllowAnonymous {
		if !s.isToken(token) {
			s.refuse(w, r, true)
			return
		}
		s.setCookie(w, r)
	}
	s.redirect(w, r, withoutToken(r.URL), http.StatusSeeOther)
}

// refuse asks for a token: programs with a problem document, people with the
// login page, which leads back to where they wanted to go.
func (s *site) refuse(w http.ResponseWriter, r *http.Request, wrongToken bool) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	if isAPI(r) {
		writeProblem(w, http.StatusUnauthorized, "The access token is missing or not valid: "+
			"send it as Authorization: Bearer TOKEN.")
		return
	}
	next := "/"
	if isRead(r) {
		next = withoutToken(r.URL)
	}
	s.page(func(*http.Request) (answer, error) { return s.loginAnswer(r, next, wrongToken), nil })(w, r)
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// isAPI reports addresses that are read by programs.
func isAPI(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/metrics"
}

// withoutToken returns path and query of an address of the site.
func withoutToken(u *url.URL) string {
	query := u.Query()
	query.Del("token")
	clean := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: query.Encode()}
	return clean.String()
}

func (s *site) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") { // in any case, RFC 9110 section 11.1
		return s.isToken(strings.TrimSpace(token))
	}
	cookie, err := r.Cookie(s.cookieName())
	return err == nil && hmac.Equal([]byte(cookie.Value), []byte(s.derive("session")))
}

// isToken compares digests: they are of one length, and so tell nothing about
// the token by the time that it takes.
func (s *site) isToken(token string) bool {
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.Token))
	return s.Token != "" && hmac.Equal(given[:], want[:])
}

// derive returns a secret made from the token, so that a cookie does not give
// the token away.
func (s *site) derive(purpose string) string {
	mac := hmac.New(sha256.New, []byte(s.Token))
	mac.Write([]byte("fstally " + purpose))
	return hex.EncodeToString(mac.Sum(nil))
}

// cookieName differs from site to site, because browsers share the cookies of a
// host between all its ports.
func (s *site) cookieName() string { return "fstally_" + s.derive("cookie name")[:8] }

// setCookie remembers the browser. SameSite is Lax, not Strict, so that a link
// in a mail opens without asking for the token again; requests that change
// something from other sites are refused by crossOrigin.
func (s *site) setCookie(w http.ResponseWriter, r *http.Request) {
	//nolint:gosec // G124: Secure depends on how the site is reached; without TLS the cookie must work too
	http.SetCookie(w, &http.Cookie{
		Name:     s.cookieName(),
		Value:    s.derive("session"),
		Path:     s.BasePath + "/",
		MaxAge:   int(cookieAge / time.Second),
		HttpOnly: true,
		Secure:   isSecure(r),
		SameSite: http.SameSiteLaxMode,
	})
}

// isSecure reports that the visitor speaks TLS with the site, or with the proxy
// before it, which says so in a header. Someone else who claims it only keeps the
// cookie from himself.
func isSecure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// redirect sends the browser to a path of the site, below its base.
func (s *site) redirect(w http.ResponseWriter, r *http.Request, path string, status int) {
	//nolint:gosec // G710: localPath lets no other host through
	http.Redirect(w, r, s.BasePath+localPath(path), status)
}

// localPath returns path if it leads to an address of this site, else "/":
// "//host" and "/\host" lead a browser to another one.
func localPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(path, "/") ||
		strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\t\r\n") {
		return "/"
	}
	return path
}
