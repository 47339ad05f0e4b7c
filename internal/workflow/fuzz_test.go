package workflow

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/google/go-cmp/cmp"
)

// FuzzBlocks: a file parsed in the smallest pieces is what it is when parsed whole.
func FuzzBlocks(f *testing.F) {
	f.Add(everything)
	f.Add("a:\n- b: c\n  d: |\n    e\nf: {g: h,\ni: j}\nk: 'l\n\n  m'\n# n\no:\n")
	f.Add("a:\n  b:\n    c: d\n  e: f\n")
	f.Fuzz(func(t *testing.T, text string) {
		parse := func(limit int) (*value, *source) {
			src := newSource("t.yaml", text)
			tokens, ok := checkTokens(src, lexer.Tokenize(text))
			if !ok || len(tokens) == 0 || !checkText(src, text) {
				t.Skip()
			}
			return (&blocks{src, limit}).parse(tokens, 0), src
		}
		whole, src := parse(1 << 30)
		if whole == nil {
			return
		}
		pieces, again := parse(1)
		if diff := cmp.Diff(whole, pieces, cmp.AllowUnexported(value{}, entry{}, position{})); diff != "" {
			t.Errorf("(-whole +pieces)\n%s\n%v", diff, again.faults)
		}
		if diff := cmp.Diff(src.faults.sorted(), again.faults.sorted()); diff != "" {
			t.Errorf("faults (-whole +pieces)\n%s", diff)
		}
	})
}

// FuzzLoad: whatever the bytes, a file is a workflow or a list of faults with places in it, without a panic; the fuzzer itself reports what hangs.
func FuzzLoad(f *testing.F) {
	for _, file := range examples(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(strings.Repeat("[", 1000)))
	f.Add([]byte(everything))
	f.Add([]byte(wf("  a: {{.x}}\n")))
	f.Add([]byte("workflow: t\nnodes: {a: {exec: [ls, {a: b}], then: [a, a]}, a: 5}\n"))
	f.Add([]byte("a: |\n  x\n b: 'c\n  d'\n? e\n: *f\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parse("t.yaml", string(text))
		if err == nil {
			if err := l.Graph.Check(); err != nil {
				t.Errorf("the engine refuses what the loader takes: %v", err)
			}
			return
		}
		var faults Faults
		if !errors.As(err, &faults) || len(faults) == 0 {
			t.Fatalf("the error is %T: %v", err, err)
		}
		lines := strings.Count(string(text), "\n") + 1
		for _, x := range faults {
			if x.Line < 1 || x.Line > lines || x.Column < 1 || x.Message == "" {
				t.Errorf("fault without a place: %+v", x)
			}
		}
	})
}
