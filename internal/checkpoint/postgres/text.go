package postgres

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// escapeByte begins an escape in a stored text. PostgreSQL's text knows no NUL and nothing that is not UTF-8, but a title
// or an id may hold both, and is to come back byte for byte: NUL is stored as "\x01\x01", the escape itself as
// "\x01\x02", both of which keep their order, and a byte that is part of no character as "\x01" and the character of its
// value.
const escapeByte = '\x01'

func escape(s string) string {
	if utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\x01") {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == 0:
			b.WriteString("\x01\x01")
		case r == escapeByte:
			b.WriteString("\x01\x02")
		case r == utf8.RuneError && size == 1:
			b.WriteByte(escapeByte)
			b.WriteRune(rune(s[0]))
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// unescape is the reverse of escape.
func unescape(s string) string {
	if strings.IndexByte(s, escapeByte) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		plain, rest, found := strings.Cut(s, string(escapeByte))
		b.WriteString(plain)
		if !found || rest == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch r {
		case 1, 2:
			b.WriteByte(byte(r) - 1)
		default:
			b.WriteByte(byte(r))
		}
		s = rest[size:]
	}
	return b.String()
}

// escapeAll escapes the texts among the parameters of a statement.
func escapeAll(args []any) []any {
	escaped, cloned := args, false
	for i, arg := range args {
		s, ok := arg.(string)
		if !ok {
			continue
		}
		if e := escape(s); e != s {
			if !cloned {
				escaped, cloned = slices.Clone(args), true
			}
			escaped[i] = e
		}
	}
	return escaped
}

// scanner reads the rows of a result, their texts as they were written.
type scanner struct{ pgx.Rows }

// Scan reads the columns of a row.
func (r scanner) Scan(dest ...any) error {
	if err := r.Rows.Scan(dest...); err != nil {
		return err
	}
	for _, d := range dest {
		if s, ok := d.(*string); ok {
			*s = unescape(*s)
		}
	}
	return nil
}

// Values gives the columns of a row.
func (r scanner) Values() ([]any, error) {
	values, err := r.Rows.Values()
	for i, v := range values {
		if s, ok := v.(string); ok {
			values[i] = unescape(s)
		}
	}
	return values, err
}
