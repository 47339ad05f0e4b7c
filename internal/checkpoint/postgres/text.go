package postgres

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
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

// textCodec is PostgreSQL's text with escapes, in every parameter and every result of a connection.
type textCodec struct{ pgtype.TextCodec }

// registerText makes conn read and write texts with escapes.
func registerText(conn *pgx.Conn) {
	text := &pgtype.Type{Name: "text", OID: pgtype.TextOID, Codec: textCodec{}}
	conn.TypeMap().RegisterType(text)
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "_text", OID: pgtype.TextArrayOID, Codec: &pgtype.ArrayCodec{ElementType: text}})
}

// PlanEncode implements pgtype.Codec.
func (c textCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(string); ok {
		return escapePlan{}
	}
	return c.TextCodec.PlanEncode(m, oid, format, value)
}

// PlanScan implements pgtype.Codec.
func (c textCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*string); ok {
		return unescapePlan{}
	}
	return c.TextCodec.PlanScan(m, oid, format, target)
}

type escapePlan struct{}

func (escapePlan) Encode(value any, buf []byte) ([]byte, error) {
	return append(buf, escape(value.(string))...), nil
}

type unescapePlan struct{}

func (unescapePlan) Scan(src []byte, target any) error {
	if src == nil {
		return fmt.Errorf("a text is NULL where there must be one")
	}
	*target.(*string) = unescape(string(src))
	return nil
}

// DecodeValue implements pgtype.Codec.
func (textCodec) DecodeValue(_ *pgtype.Map, _ uint32, _ int16, src []byte) (any, error) {
	if src == nil {
		return nil, nil
	}
	return unescape(string(src)), nil
}
