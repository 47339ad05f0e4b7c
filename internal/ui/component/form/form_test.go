package form_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/form"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"pgregory.net/rapid"
)

const claim = `{"type":"object","required":["amount","kind"],"properties":{
  "amount":{"type":"number","title":"Amount","minimum":0,"maximum":1900,"description":"in EUR"},
  "count":{"type":"integer"},
  "kind":{"enum":["travel","meal",3],"title":"Kind"},
  "urgent":{"type":"boolean","default":false},
  "tags":{"type":"array","items":{"enum":["a","b"]}},
  "days":{"type":"array","items":{"type":"integer"},"maxItems":3},
  "note":{"type":"string"},
  "code":{"type":"string","maxLength":8},
  "owner":{"type":"object","properties":{"name":{"type":"string","maxLength":20},"age":{"type":["integer","null"]}}},
  "any":{}
}}`

func newForm(t testing.TB, w, h int) (*form.Form, *actions.Schema) {
	t.Helper()
	s, err := actions.CompileSchema(json.RawMessage(claim))
	if err != nil {
		t.Fatal(err)
	}
	f := form.New(theme.Must("", true), s)
	f.SetSize(w, h)
	return f, s
}

func typeText(f *form.Form, s string) {
	for _, k := range tuitest.Text(s) {
		f.Update(k)
	}
}

func press(f *form.Form, names ...string) {
	for _, n := range names {
		f.Update(tuitest.Key(n))
	}
}

func TestTypesAreKept(t *testing.T) {
	f, _ := newForm(t, 60, 40)
	typeText(f, "12.50")
	f.Next()
	typeText(f, "7")
	f.Next()
	press(f, "right", "right", "right") // travel, meal, 3
	f.Next()
	press(f, "y")
	f.Next()
	press(f, "right", "space") // b
	f.Next()
	typeText(f, "1\n20")
	f.Next()
	typeText(f, "line\nline")
	f.Next()
	typeText(f, "12")
	f.Next()
	typeText(f, "Ana")
	f.Next()
	typeText(f, "40")
	f.Next()
	typeText(f, `[1, {"x": null}]`)
	if f.Next() {
		t.Error("there is a field behind the last")
	}
	want := `{"amount":12.50,"count":7,"kind":3,"urgent":true,"tags":["b"],"days":[1,20],"note":"line\nline","code":"12",` +
		`"owner":{"name":"Ana","age":40},"any":[1,{"x":null}]}`
	if got := string(f.Value()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatIsLeftEmptyIsLeftOut(t *testing.T) {
	f, _ := newForm(t, 60, 40)
	if got := string(f.Value()); got != `{"urgent":false}` {
		t.Errorf("got %s: only the default is there", got)
	}
}

// TestNothingIsLost: any object that is put in comes out again, whatever its fields hold.
func TestNothingIsLost(t *testing.T) {
	names := []string{"amount", "count", "kind", "urgent", "tags", "days", "note", "code", "any", "owner", "unknown", "öther"}
	values := []string{`1`, `12.50`, `"12x"`, `"text"`, `""`, `true`, `"travel"`, `3`, `["a"]`, `["zz"]`, `{"q":[1]}`, `[]`,
		`1e400`, `123456789012345678901234567890`, `[1,"x",2.50]`, `["a\nb",null]`, `["[1]"]`, `[""]`, `{"name":"Ana"}`, `{"name":5,"more":{"x":[]}}`, `{}`, `null`}
	_, s := newForm(t, 60, 40)
	rapid.Check(t, func(t *rapid.T) {
		f := form.New(theme.Must("", true), s)
		object := map[string]json.RawMessage{}
		for _, n := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "names") {
			object[n] = json.RawMessage(rapid.SampledFrom(values).Draw(t, n))
		}
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetValue(raw); err != nil {
			t.Fatal(err)
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(f.Value(), &got); err != nil {
			t.Fatal(err)
		}
		for n, v := range object {
			if string(got[n]) != string(v) {
				t.Fatalf("%s was %s and is %s", n, v, got[n])
			}
		}
	})
}

// TestListsAreTypedByLine: each line is an item of the type that the schema asks for, and what is wrong names the item.
func TestListsAreTypedByLine(t *testing.T) {
	s, err := actions.CompileSchema(json.RawMessage(`{"type":"object","properties":{"n":{"type":"array","items":{"type":"number"}},
		"b":{"type":"array","items":{"type":"boolean"}},"t":{"type":"array","items":{"type":"string","minLength":2}},"j":{"type":"array","items":{"type":"string"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	f := form.New(theme.Must("", true), s)
	f.SetSize(60, 60)
	typeText(f, "1.50\n2\n")
	f.Next()
	typeText(f, "yes\nfalse")
	f.Next()
	typeText(f, "12\nx y\nz")
	f.Next()
	typeText(f, `["two\nlines", "[x]"]`)
	want := `{"n":[1.50,2],"b":[true,false],"t":["12","x y","z"],"j":["two\nlines","[x]"]}`
	if got := string(f.Value()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f.SetProblems(problemsOf(t, s.Check(f.Value())))
	if view := ansi.Strip(f.View()); !strings.Contains(view, "! item 3: must have at least 2 characters") {
		t.Errorf("the item is not named:\n%s", view)
	}
}

func TestErrorsStandAtTheirField(t *testing.T) {
	f, s := newForm(t, 60, 60)
	typeText(f, "abc")
	problems := problemsOf(t, s.Check(f.Value()))
	rest := f.SetProblems(problems)
	lines := strings.Split(ansi.Strip(f.View()), "\n")
	at := -1
	for i, l := range lines {
		if strings.Contains(l, "Amount") {
			at = i
		}
		if strings.Contains(l, "! ") && at >= 0 && i-at <= 3 {
			at = -2
			break
		}
	}
	if at != -2 {
		t.Errorf("no error below Amount; others %v:\n%s", rest, strings.Join(lines, "\n"))
	}
	before := strings.Count(ansi.Strip(f.View()), "! ")
	press(f, "backspace")
	if strings.Count(ansi.Strip(f.View()), "! ") != before-1 {
		t.Error("the error stays while its field is being put right")
	}
}

func problemsOf(t *testing.T, err error) []actions.Problem {
	t.Helper()
	bad, ok := err.(*actions.DataError)
	if !ok {
		t.Fatalf("error %T %v", err, err)
	}
	return bad.Problems
}

func TestSecretFieldsAreNotEchoed(t *testing.T) {
	s, err := actions.CompileSchema(json.RawMessage(`{"type":"object","properties":{"key":{"type":"string","format":"password"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	f := form.New(theme.Must("", true), s)
	f.SetSize(40, 10)
	typeText(f, "hunter2")
	if strings.Contains(ansi.Strip(f.View()), "hunter2") || !f.Secret() {
		t.Errorf("echoed:\n%s", f.View())
	}
	if got := string(f.Value()); got != `{"key":"hunter2"}` {
		t.Errorf("value %s", got)
	}
}

func TestDrawing(t *testing.T) {
	for _, size := range tuitest.Sizes() {
		f, _ := newForm(t, size[0], size[1])
		typeText(f, "12.50")
		f.SetProblems([]actions.Problem{{Pointer: "/kind", Message: "is required"}})
		f.First()
		tuitest.Golden(t, fmt.Sprintf("form-%dx%d", size[0], size[1]), tuitest.Layout(f.View()))
	}
}

func TestBoxForAnyValue(t *testing.T) {
	_, s := newForm(t, 60, 40)
	rapid.Check(t, func(t *rapid.T) {
		f := form.New(theme.Must("", true), s)
		w, h := rapid.IntRange(0, 80).Draw(t, "w"), rapid.IntRange(0, 20).Draw(t, "h")
		f.SetSize(w, h)
		raw, err := json.Marshal(map[string]string{"note": tuitest.AnyText().Draw(t, "note"), "kind": "\u202e", "x\x1b": "y"})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetValue(raw); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 9).Draw(t, "next") {
			f.Next()
		}
		view := f.View()
		tuitest.CheckBox(t, view, w, h)
		if bad := tuitest.UnsafeIn(view); bad != "" {
			t.Fatalf("%s gets to the screen", bad)
		}
		if x, y, ok := f.Cursor(); ok && (x < 0 || y < 0 || x >= w || y >= h) {
			t.Fatalf("cursor %d,%d outside of %dx%d", x, y, w, h)
		}
	})
}
