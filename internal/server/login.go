package server

import (
	"net/http"

	"fstally/web/page"
)

func (s *site) loginPage(r *http.Request) (answer, error) {
	a := s.loginAnswer(r, localPath(r.URL.Query().Get("next")), false)
	a.status = http.StatusOK
	return a, nil
}

// loginAnswer asks for the token.
func (s *site) loginAnswer(r *http.Request, next string, refused bool) answer {
	return answer{
		status:  http.StatusUnauthorized,
		content: page.LoginPage(page.Login{Frame: s.frame(r, "Access token"), Refused: refused, Next: next}),
	}
}

// login changes a token for a cookie.
func (s *site) login(r *http.Request) (answer, error) {
	next := localPath(r.PostFormValue("next"))
	if !s.AllowAnonymous && !s.isToken(r.PostFormValue("token")) {
		return s.loginAnswer(r, next, true), nil
	}
	return answer{redirect: next, setCookie: !s.AllowAnonymous}, nil
}
