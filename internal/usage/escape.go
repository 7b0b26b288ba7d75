package usage

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns raw bytes of a name as text that is safe to show, reversibly:
// a backslash becomes \\, and every byte of invalid UTF-8, of control
// characters, of line separators and of marks that reorder or hide text becomes
// \xHH. Markup is left to the writer of HTML, JSON or CSV.
func Escape(raw string) string {
	clean := true
	for i, r := range raw {
		if unsafeRune(r) || r == utf8.RuneError && !strings.HasPrefix(raw[i:], "\uFFFD") {
			clean = false
			break
		}
	}
	if clean {
		return raw
	}
	var b strings.Builder
	for len(raw) > 0 {
		r, n := utf8.DecodeRuneInString(raw)
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == utf8.RuneError && n == 1, unsafeRune(r):
			for _, c := range []byte(raw[:n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(raw[:n])
		}
		raw = raw[n:]
	}
	return b.String()
}

// unsafeRune reports a rune that must not reach a terminal or a page as it is.
// Zero-width joiners stay: several scripts need them.
func unsafeRune(r rune) bool {
	switch {
	case r == '\\', r == '\u200b', r == '\ufeff':
		return true
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	default:
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	}
}

// Unescape returns the raw bytes of what Escape or EscapeKey made, or an error
// where a backslash starts no escape.
func Unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		rest := text[i+1:]
		var c byte
		switch {
		case strings.HasPrefix(rest, `\`):
			c, i = '\\', i+1
		case len(rest) >= 3 && rest[0] == 'x' && hex(rest[1]) >= 0 && hex(rest[2]) >= 0:
			c, i = byte(hex(rest[1])<<4|hex(rest[2])), i+3
		default:
			return "", fmt.Errorf(`%q: a backslash must be written \\, another byte \xHH`, text)
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

func hex(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

// EscapeKey is Escape for the key of a fileset or a name beside reserved ones:
// "" becomes None, and a leading parenthesis is escaped, so that a directory
// really called "(none)" stays apart.
func EscapeKey(raw string) string {
	switch {
	case raw == "":
		return None
	case raw[0] == reservedMark:
		return fmt.Sprintf(`\x%02x`, reservedMark) + Escape(raw[1:])
	default:
		return Escape(raw)
	}
}

// UnescapeKey reverses EscapeKey.
func UnescapeKey(key string) (string, error) {
	if key == None {
		return "", nil
	}
	return Unescape(key)
}
