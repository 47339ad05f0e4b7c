package content

import (
	"encoding/json"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

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
