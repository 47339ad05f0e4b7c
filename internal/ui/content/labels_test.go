package content

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

func TestFieldsKeepTheirOrder(t *testing.T) {
	th := theme.Must("", true)
	got := Fields(th, json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string","title":"Name","maxLength":9},
		"lunch":{"type":"boolean","title":"lunch","description":"on the first day"},"days":{"type":"array","items":{"enum":["Mon","Tue"]}}}}`))
	var lines []string
	for i := range got.Len() {
		lines = append(lines, ansi.Strip(got.Line(i)))
	}
	want := []string{"  name  text, required  Name", "  lunch  boolean  on the first day", "  days  multiselect"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if Fields(th, json.RawMessage(`{"type":"string"}`)).Len() > 0 {
		t.Error("a text is no form")
	}
}

// TestContextIsWhole: a long value among the context is cut with a word on where all of it is, and there it is.
func TestContextIsWhole(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat(`line\n`, 30) + `last"`)
	items := []actions.Labelled{{Label: "log", Value: long}, {Label: "by", Value: json.RawMessage(`"ana"`)}}
	for whole, want := range map[bool]struct {
		lines int
		text  string
	}{false: {1 + longest + 1 + 1, "19 more lines in the raw display …"}, true: {1 + 31 + 1, "last"}} {
		src := Context(theme.Must("", true), items, 60, whole)
		var lines []string
		for i := range src.Len() {
			lines = append(lines, ansi.Strip(src.Line(i)))
		}
		if len(lines) != want.lines || strings.TrimSpace(lines[len(lines)-2]) != want.text {
			t.Errorf("whole %v: %d lines: %q", whole, len(lines), lines)
		}
	}
}

// TestContextIsReadWhole: an address that somebody is asked to open may not end in dots, however narrow the screen is.
func TestContextIsReadWhole(t *testing.T) {
	th := theme.Must("", true)
	for w := 10; w <= 160; w++ {
		for n := 1; n <= 200; n++ {
			value := strings.Repeat("0123456789", n/10+1)[:n]
			given, _ := json.Marshal(value)
			got := Context(th, []actions.Labelled{{Label: "open this address", Value: given}}, w, n%2 == 0)
			var all []string
			for i := range got.Len() {
				all = append(all, ansi.Strip(got.Line(i)))
			}
			if !strings.HasSuffix(strings.Join(all, "\n"), " "+value) {
				t.Fatalf("%d characters in %d cells:\n%s", n, w, strings.Join(all, "\n"))
			}
		}
	}
}
