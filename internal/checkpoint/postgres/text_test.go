package postgres

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestTextsComeBack escapes any text into one that PostgreSQL takes, and back.
func TestTextsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringOf(rapid.SampledFrom([]rune("\x00\x01\x02a\u0080\u00ffé李")))).Draw(t, "text")
		stored := escape(text)
		if !utf8.ValidString(stored) || strings.Contains(stored, "\x00") {
			t.Fatalf("%q is stored as %q", text, stored)
		}
		if got := unescape(stored); got != text {
			t.Fatalf("%q is stored as %q and read as %q", text, stored, got)
		}
	})
}

// TestEscapedTextsKeepTheirOrder holds for all that is UTF-8.
func TestEscapedTextsKeepTheirOrder(t *testing.T) {
	texts := rapid.StringOf(rapid.SampledFrom([]rune("\x00\x01\x02a\u0080\u00ffé李")))
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		if strings.Compare(a, b) != strings.Compare(escape(a), escape(b)) {
			t.Fatalf("%q and %q are stored as %q and %q, in another order", a, b, escape(a), escape(b))
		}
	})
}

func TestURLs(t *testing.T) {
	for raw, want := range map[string]struct {
		shown, schema string
		conns         int32
	}{
		"postgres://ann:secret@db.example:5433/desk": {"postgres://ann@db.example:5433/desk", "hitl_tui", defaultConns},
		"postgresql://db.example/desk?password=secret&search_path=team_a&user=ann&pool_max_conns=3": {
			"postgresql://db.example/desk?search_path=team_a&user=ann", "team_a", 3},
		"postgres://ann@db.example/desk?search_path=":                           {"postgres://ann@db.example/desk?search_path=", "", defaultConns},
		"postgres:///desk?host=/var/run/postgresql&sslpassword=secret&user=ann": {"postgres:///desk?host=%2Fvar%2Frun%2Fpostgresql&user=ann", "hitl_tui", defaultConns},
	} {
		shown, schema, config, err := parse(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if shown != want.shown || schema != want.schema || config.MaxConns != want.conns {
			t.Errorf("%s: %s, schema %q, %d connections; want %+v", raw, shown, schema, config.MaxConns, want)
		}
	}
	for raw, want := range map[string]string{
		"postgres://ann:sec%ret@host/db":                                               "%25",
		"postgres://ann:secret@host:port/db":                                           "number of a port",
		"postgres:host=x password=secret":                                              "two slashes",
		"postgres://ann@host/db?user=x#secret":                                         "%23",
		"postgres://ann:secret@host/db?pool_max_conns=many":                            "pool_max_conns",
		"mysql://ann:secret@host/db":                                                   "another kind",
		"postgres://ann:secret@host/db?sslmode=loud":                                   "option sslmode",
		"postgres://ann:secret@host/db?search_path=a,b":                                "one schema",
		"postgres://ann:secret@host/db?default_query_exec_mode=whatever&sslpassword=q": "option default_query_exec_mode",
	} {
		_, _, _, err := parse(raw)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: error %v, want one with %q and no secret", raw, err, want)
		}
	}
}
