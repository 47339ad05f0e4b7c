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
)

const order = `{"$defs":{"part":{"type":"object","required":["name"],"properties":{"name":{"type":"string","maxLength":30},
	"parts":{"type":"array","items":{"$ref":"#/$defs/part"}},"spare":{"$ref":"#/$defs/part"}}}},
	"type":"object","required":["lines"],"properties":{
	"lines":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"object","required":["sku","amount"],"properties":{
		"sku":{"type":"string","pattern":"^[A-Z]+$"},"amount":{"type":"integer","exclusiveMinimum":0,"multipleOf":5},
		"sizes":{"type":"array","items":{"type":"array","items":{"type":"number"}}}}}},
	"pay":{"oneOf":[{"type":"object","title":"Card","required":["by","number"],"properties":{"by":{"const":"card"},"number":{"type":"string","maxLength":20}}},
		{"type":"object","title":"Invoice","required":["by","due"],"properties":{"by":{"const":"invoice"},"due":{"type":"string","format":"date"}}}]},
	"tree":{"$ref":"#/$defs/part"}}}`

func fill(t *testing.T, f *form.Form, what ...string) {
	t.Helper()
	for _, w := range what {
		var err error
		switch w {
		case "next":
			f.Next()
		case "add":
			err = f.Add()
		case "remove":
			err = f.Remove()
		case "restore":
			err = f.Restore()
		case "up":
			err = f.Shift(-1)
		case "down":
			err = f.Shift(1)
		case "right", "space", "backspace":
			press(f, w)
		default:
			typeText(f, w)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestItemsOfLists: items are added, moved, removed and put back, and the focus goes along.
func TestItemsOfLists(t *testing.T) {
	f, _ := formOf(t, order)
	fill(t, f, "next", "A", "next", "5", "add", "B", "next", "10")
	if got, want := focusedLine(f), "> lines[2] › amount  required, integer, more than 0, a multiple of 5"; got != want {
		t.Errorf("the focus is at %q, want %q", got, want)
	}
	steps := []struct{ do, want string }{
		{"up", `[{"sku":"B","amount":10},{"sku":"A","amount":5}]`},
		{"down", `[{"sku":"A","amount":5},{"sku":"B","amount":10}]`},
		{"remove", `[{"sku":"A","amount":5}]`},
		{"restore", `[{"sku":"A","amount":5},{"sku":"B","amount":10}]`},
	}
	for _, s := range steps {
		fill(t, f, s.do)
		if got, want := string(f.Value()), `{"lines":`+s.want+`}`; got != want {
			t.Errorf("%s: got %s, want %s", s.do, got, want)
		}
	}
	fill(t, f, "add")
	if err := f.Add(); err == nil || err.Error() != "lines takes at most 3 items" {
		t.Errorf("a fourth item: %v", err)
	}
	if err := f.Shift(1); err == nil {
		t.Error("the last item moves down")
	}
	fill(t, f, "C", "next", "15", "next", "add", "1\n2.0", "add", "3") // a list within the item, of lists
	if got, want := string(f.Value()), `{"sku":"C","amount":15,"sizes":[[1,2.0],[3]]}]}`; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	fill(t, f, "remove", "remove")
	if got := string(f.Value()); !strings.HasSuffix(got, `"sizes":[]}]}`) {
		t.Errorf("got %s", got)
	}
}

// TestProblemsOfItems: what is wrong with the number of items stands at the list, with an item at the item.
func TestProblemsOfItems(t *testing.T) {
	f, s := formOf(t, order)
	fill(t, f, "remove") // the one there has to be
	f.SetProblems(problemsOf(t, s.Check(f.Value())))
	if got := ansi.Strip(f.View()); !strings.Contains(got, "! must have at least 1 items, has 0") || !strings.HasPrefix(focusedLine(f), "> lines  ") {
		t.Errorf("not at the list:\n%s", got)
	}
	fill(t, f, "add", "a", "next", "7")
	f.First()
	f.SetProblems(problemsOf(t, s.Check(f.Value())))
	view := ansi.Strip(f.View())
	for _, want := range []string{"! must match the pattern ^[A-Z]+$", "! must be a multiple of 5"} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is not told:\n%s", want, view)
		}
	}
}

// TestVariants: one is picked and filled in, its constant fills in itself, and what was typed for another stays.
func TestVariants(t *testing.T) {
	f, s := formOf(t, order)
	fill(t, f, "next", "A", "next", "5", "next", "next", "right", "next", "4711")
	if got, want := string(f.Value()), `"pay":{"by":"card","number":"4711"}}`; !strings.HasSuffix(got, want) {
		t.Fatalf("got %s, want %s", got, want)
	}
	f.Prev()
	fill(t, f, "right", "next", "soon")
	f.SetProblems(problemsOf(t, s.Check(f.Value())))
	if got := focusedLine(f); !strings.HasPrefix(got, "> pay › due") || !strings.Contains(ansi.Strip(f.View()), "! must be a valid date") {
		t.Errorf("the error is at %q:\n%s", got, ansi.Strip(f.View()))
	}
	f.Prev()
	fill(t, f, "right")
	if got, want := string(f.Value()), `"pay":{"by":"card","number":"4711"}}`; !strings.HasSuffix(got, want) {
		t.Errorf("what was typed before is lost: %s", got)
	}
	fill(t, f, "backspace")
	if got := string(f.Value()); strings.Contains(got, "pay") {
		t.Errorf("nothing is picked: %s", got)
	}
}

// TestSchemasThatReferToThemselves are unfolded as far as somebody asks for.
func TestSchemasThatReferToThemselves(t *testing.T) {
	f, _ := formOf(t, order)
	f.Last()
	if got := focusedLine(f); !strings.HasPrefix(got, "> tree › spare") {
		t.Fatalf("the last field is %q", got)
	}
	fill(t, f, "space", "S", "next", "add", "T", "next", "add", "U")
	if got, want := string(f.Value()), `"tree":{"spare":{"name":"S","parts":[{"name":"T","parts":[{"name":"U"}]}]}}}`; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	deep := `{"name":"0"}`
	for i := range 40 {
		deep = fmt.Sprintf(`{"name":"%d","parts":[%s]}`, i+1, deep)
	}
	raw := `{"lines":[],"tree":` + deep + `}`
	if err := f.SetValue(json.RawMessage(raw)); err != nil || string(f.Value()) != raw {
		t.Errorf("%v: %s", err, f.Value())
	}
	f.Last()
	tuitest.CheckBox(t, f.View(), 80, 40)
}

// TestConsentIsGivenByAPerson: a constant that must be there fills in itself, but not a yes.
func TestConsentIsGivenByAPerson(t *testing.T) {
	f, s := formOf(t, `{"type":"object","required":["version","agree"],"properties":{"version":{"const":2.0},"agree":{"const":true},"news":{"const":"weekly"}}}`)
	if got := string(f.Value()); got != `{"version":2.0}` {
		t.Errorf("got %s", got)
	}
	if rest := f.SetProblems(problemsOf(t, s.Check(f.Value()))); len(rest) > 0 || !strings.HasPrefix(focusedLine(f), "> agree") {
		t.Errorf("the error is at %q, elsewhere %v", focusedLine(f), rest)
	}
	fill(t, f, "space", "next", "space")
	if got := string(f.Value()); got != `{"version":2.0,"agree":true,"news":"weekly"}` {
		t.Errorf("got %s", got)
	}
}

// TestWhatDoesNotFitIsShownAsJSON in the place of the list, object or variant, and is typed anew there.
func TestWhatDoesNotFitIsShownAsJSON(t *testing.T) {
	f, _ := formOf(t, order)
	raw := `{"pay":{"by":"barter"},"lines":"none","tree":[1.0],"x":{"y":1.0}}`
	if err := f.SetValue(json.RawMessage(raw)); err != nil || string(f.Value()) != raw {
		t.Fatalf("%v: %s", err, f.Value())
	}
	for range len(`"none"`) {
		press(f, "backspace")
	}
	fill(t, f, "add", "A")
	if got, want := string(f.Value()), `"lines":[{"sku":"A"}]`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := f.SetValue(json.RawMessage(`{"x":1,"x":2}`)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a key given twice: %v", err)
	}
}

// TestFormats: each format the schema can ask for is checked, and told at its field.
func TestFormats(t *testing.T) {
	for format, value := range map[string][2]string{
		"date": {"2026-02-28", "2026-02-30"}, "date-time": {"2026-02-28T10:00:00Z", "2026-02-28 10"}, "time": {"10:00:00Z", "25:00"},
		"duration": {"P1DT2H", "2 days"}, "email": {"a@example.org", "a@"}, "uri": {"https://example.org/x", "example"},
		"uuid": {"018f4a5e-3c1b-7def-8000-0123456789ab", "018f"}, "ipv4": {"127.0.0.1", "127.0.0.256"}, "ipv6": {"::1", ":::1"},
	} {
		f, s := formOf(t, fmt.Sprintf(`{"type":"object","properties":{"it":{"type":"string","format":%q}}}`, format))
		typeText(f, value[0])
		if err := s.Check(f.Value()); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		press(f, "ctrl+u")
		typeText(f, value[1])
		bad, ok := s.Check(f.Value()).(*actions.DataError)
		if !ok {
			t.Errorf("%s: %s passes", format, value[1])
			continue
		}
		f.SetProblems(bad.Problems)
		if view := ansi.Strip(f.View()); !strings.Contains(view, "! must be a valid "+format) {
			t.Errorf("%s is not told:\n%s", format, view)
		}
	}
}

func TestDrawingOfLists(t *testing.T) {
	for _, size := range tuitest.Sizes() {
		f, _ := formOf(t, order)
		f.SetSize(size[0], size[1])
		fill(t, f, "next", "A", "next", "5", "add", "B", "next", "10", "next", "add", "1")
		tuitest.Golden(t, fmt.Sprintf("lists-%dx%d", size[0], size[1]), tuitest.Layout(f.View()))
	}
}

func BenchmarkKeyInAForm(b *testing.B) {
	f, _ := formOf(b, `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"enum":["x","y"]}}}}}}`)
	raw := `{"rows":[` + strings.TrimSuffix(strings.Repeat(`{"a":"text","b":1.0,"c":"x"},`, 900), ",") + `]}`
	if err := f.SetValue(json.RawMessage(raw)); err != nil {
		b.Fatal(err)
	}
	for range 1500 {
		f.Next()
	}
	for b.Loop() {
		press(f, "x")
		f.Next()
		f.View()
		f.Prev()
	}
}
