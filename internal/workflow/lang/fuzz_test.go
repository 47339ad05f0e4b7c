package lang_test

import (
	"testing"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

func checkFaults(t *testing.T, source string, faults []lang.Fault) {
	t.Helper()
	for _, f := range faults {
		if f.Offset < 0 || f.Offset > len(source) || f.Message == "" {
			t.Errorf("fault out of place in %q: %+v", source, f)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"", "{{.notes}}", "{{range .items}}{{.n}}{{else}}-{{end}}", "{{with .answers.review}}{{.by}}{{end}}", "{{$x := last .talk}}{{$x.role}}",
		"{{define \"t\"}}{{end}}{{template \"t\"}}", "{{block \"x\" .}}{{end}}", "{{(index .items 0).s | printf \"%9999d\"}}", "{{.a.b.c.d}}{{$.x}}{{.}}{{$}}",
		"{{if and .urgent (or .missing .empty)}}{{else if eq .amount 1}}{{else}}{{break}}{{end}}", "{{- /* c */ -}}", "{{1e3}}{{'x'}}{{1i}}{{nil}}",
		"{{slice .umlaut 1 2 3}}{{index .claim 1}}{{replace \"\" \"x\" .notes}}", "é{{.ü}}", "{{.notes", "{{end}}", "{{len | .x}}", "{{.answers.confirm.name.value.x}}",
	} {
		f.Add(s)
	}
	scope := stateOf(f, object)
	f.Fuzz(func(t *testing.T, source string) {
		tmpl, faults := lang.ParseTemplate(source, names())
		if (tmpl == nil) != (len(faults) > 0) {
			t.Fatalf("%q: template %v beside faults %v", source, tmpl, faults)
		}
		checkFaults(t, source, faults)
		if tmpl == nil {
			return
		}
		if out, err := tmpl.Render(scope); err == nil && len(out) > lang.MaxText {
			t.Errorf("%q: %d bytes", source, len(out))
		} else if err != nil && err.Error() == "" {
			t.Errorf("%q: empty error", source)
		}
	})
}

func FuzzExpr(f *testing.F) {
	for _, s := range []string{
		"", "notes", "amount > limit and 'b' in names", "missing?.x ?? answers.review.by", "filter(items, .n > 1)[0].s", "let x = 1; x + amount",
		"{a: 1, 'b c': [notes, nil]}", "map(1..10, # * 2) | sum()", "now().Year() + 1", "$env", "if urgent { 1 } else { 2 }", "reduce(names, #acc + #, '')",
		"notes matches '^H' ? 'a' : 'b'", "((((", "b'xx'", "`raw`", "/* c", "toJSON({a: items})", "flatten([[1], names])", "sortBy(items, -.n)", "1 / 0", "é + 'ü'",
		"groupBy(items, .s)", "date('2026-11-29').Unix()", "-notes", "not amount", "names[9]", "len(len)", "a.b.c()", "{{.notes}}", "null == nil", "x = 1",
	} {
		f.Add(s)
	}
	scope := stateOf(f, object)
	f.Fuzz(func(t *testing.T, source string) {
		e, faults := lang.ParseExpr(source, names())
		if (e == nil) != (len(faults) > 0) {
			t.Fatalf("%q: expression %v beside faults %v", source, e, faults)
		}
		checkFaults(t, source, faults)
		if e == nil {
			return
		}
		v, err := e.Eval(clocked{scope, time0}, engine.Value{})
		if err != nil && err.Error() == "" {
			t.Errorf("%q: empty error", source)
		}
		if err == nil && !utf8.Valid(v.JSON()) {
			t.Errorf("%q: %q is not UTF-8", source, v.JSON())
		}
		_, _ = e.Bool(scope, engine.Value{})
	})
}
