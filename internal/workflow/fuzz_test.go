package workflow

import (
	"errors"
	"os"
	"strings"
	"testing"
)

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
