package form_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/form"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"pgregory.net/rapid"
)

// sample is a schema and a value that it accepts.
type sample struct{ schema, value string }

// anySample draws a schema of any kind and a value of it.
func anySample(t *rapid.T, depth int) sample {
	kinds := []string{"text", "date", "number", "integer", "boolean", "enum", "titled", "nullable", "raw", "scalars", "enums"}
	if depth > 0 {
		kinds = append(kinds, "object", "object", "objects", "lists", "variant", "either", "deep")
	}
	pick := func(values ...string) string { return rapid.SampledFrom(values).Draw(t, "value") }
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "text":
		return sample{`{"type":"string"}`, pick(`""`, `"a"`, `"two\nlines"`, `"é \" \\"`, `"null"`, `"12"`, `"[1]"`)}
	case "date":
		return sample{`{"type":"string","format":"date"}`, `"2026-02-28"`}
	case "number":
		return sample{`{"type":"number"}`, pick("1", "1.0", "-2.50", "1e3", "123456789012345678901234567890", "0.1000")}
	case "integer":
		return sample{`{"type":"integer"}`, pick("1", "1.0", "-7", "123456789012345678901234567890")}
	case "boolean":
		return sample{`{"type":"boolean"}`, pick("true", "false")}
	case "enum":
		return sample{`{"enum":["a",1,null,[1],{"k":2.0}]}`, pick(`"a"`, "1", "1.0", "null", "[1]", `{"k":2.0}`)}
	case "titled":
		return sample{`{"oneOf":[{"const":"r","title":"Red"},{"const":2}]}`, pick(`"r"`, "2", "2.0")}
	case "nullable":
		return sample{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, pick("null", "5")}
	case "raw":
		return sample{`{}`, pick("1.50", `"x"`, "null", `{"z":1,"a":[2.0]}`, "[]", "{}")}
	case "scalars":
		return sample{`{"type":"array","items":{"type":"number"}}`, pick("[]", "[1]", "[1.0,2,1]")}
	case "enums":
		return sample{`{"type":"array","items":{"enum":["a","b"]}}`, pick("[]", `["b","a"]`, `["a","a"]`)}
	case "object":
		return anyObject(t, depth-1, "")
	case "objects", "lists":
		return anyList(t, depth-1)
	case "variant":
		a, b := anyObject(t, depth-1, "a"), anyObject(t, depth-1, "b")
		schema := `{"oneOf":[` + a.schema + "," + b.schema + `]}`
		return sample{schema, pick(a.value, b.value)}
	case "deep":
		s := anySample(t, depth-1)
		for range 6 {
			s = sample{`{"type":"object","required":["in"],"properties":{"in":` + s.schema + `}}`, `{"in":` + s.value + `}`}
		}
		return s
	}
	s := anyList(t, depth-1)
	return sample{`{"anyOf":[` + s.schema + `,{"type":"integer"},{"type":"boolean"}]}`, pick(s.value, "3", "true")}
}

func anyList(t *rapid.T, depth int) sample {
	item := anySample(t, depth)
	n := rapid.IntRange(0, 3).Draw(t, "items")
	return sample{`{"type":"array","items":` + item.schema + `}`, "[" + strings.TrimSuffix(strings.Repeat(item.value+",", n), ",") + "]"}
}

// anyObject draws an object, with a constant that tells it from others where tag is given.
func anyObject(t *rapid.T, depth int, tag string) sample {
	var schemas, values, required []string
	if tag != "" {
		schemas, values, required = []string{`"tag":{"const":"` + tag + `"}`}, []string{`"tag":"` + tag + `"`}, []string{`"tag"`}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "properties") {
		s := anySample(t, depth)
		name := fmt.Sprintf(`"p%d/~é"`, i)
		schemas = append(schemas, name+":"+s.schema)
		must := rapid.Bool().Draw(t, "required")
		if must {
			required = append(required, name)
		}
		if must || rapid.Bool().Draw(t, "there") {
			values = append(values, name+":"+s.value)
		}
	}
	if rapid.Bool().Draw(t, "unknown") {
		values = append(values, `"more":{"b":1.0,"a":[]}`)
	}
	values = rapid.Permutation(values).Draw(t, "order")
	return sample{`{"type":"object","required":[` + strings.Join(required, ",") + `],"properties":{` + strings.Join(schemas, ",") + `}}`,
		"{" + strings.Join(values, ",") + "}"}
}

func formOf(t interface{ Fatal(...any) }, schema string) (*form.Form, *actions.Schema) {
	s, err := actions.CompileSchema(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err, schema)
	}
	f := form.New(theme.Must("", true), s)
	f.SetSize(80, 40)
	return f, s
}

// TestAnyValueOfAnySchema: what is put into a form comes out as it was, to the last digit and in its order, whatever the
// schema; and a number that is none is told at its field.
func TestAnyValueOfAnySchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyObject(t, 3, "")
		f, schema := formOf(t, s.schema)
		if err := schema.Check(json.RawMessage(s.value)); err != nil {
			t.Fatalf("the sample is no sample: %v", err)
		}
		for range 2 { // and again, as raw JSON and back does
			if err := f.SetValue(json.RawMessage(s.value)); err != nil {
				t.Fatal(err)
			}
			if got := string(f.Value()); got != s.value {
				t.Fatalf("schema %s\nwas %s\nis  %s", s.schema, s.value, got)
			}
		}
		if f.Len() == 0 {
			return
		}
		for range rapid.IntRange(0, f.Len()-1).Draw(t, "field") {
			f.Next()
		}
		label := focusedLine(f)
		kind := label[strings.LastIndex(label, "  ")+1:]
		if !strings.Contains(kind, "integer") && !strings.Contains(kind, "number") && !strings.Contains(kind, "date") || strings.Contains(kind, "list") {
			return
		}
		press(f, "end", "ctrl+u")
		typeText(f, "no sense")
		bad, ok := schema.Check(f.Value()).(*actions.DataError)
		if !ok {
			t.Fatalf("no error: %s", f.Value())
		}
		rest := f.SetProblems(bad.Problems)
		f.SetSize(80, 2000)
		view := "\n" + ansi.Strip(f.View())
		_, below, focused := strings.Cut(view, "\n"+label) // labels cut for their length can be equal
		if !focused {
			_, below, _ = strings.Cut(view, "\n  "+label[2:])
		}
		if len(rest) > 0 || !strings.Contains(firstLines(below, 4), "! must be") {
			t.Fatalf("schema %s\nvalue %s\nthe error of %q is not told there; elsewhere %v:\n%s", s.schema, f.Value(), label, rest, firstLines(ansi.Strip(f.View()), 60))
		}
	})
}

func firstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

func focusedLine(f *form.Form) string {
	for line := range strings.SplitSeq(ansi.Strip(f.View()), "\n") {
		if strings.HasPrefix(line, "> ") {
			return strings.TrimRight(line, " ")
		}
	}
	return ""
}
