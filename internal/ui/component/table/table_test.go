package table

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

func TestWhatReadsAsATable(t *testing.T) {
	for raw, want := range map[string]bool{
		`[{"a":1,"b":2},{"a":3,"b":4}]`:     true,
		`[{"a":1},{"a":2,"b":null}]`:        true,
		`[{"a":1,"b":2}]`:                   false, // one record reads better as a tree
		`[{"a":1},{"b":2},{"c":3},{"d":4}]`: false, // nothing is shared
		`[{"a":[1]},{"a":[2]}]`:             false,
		`[1,2]`:                             false,
		`{"a":1}`:                           false,
		`[]`:                                false,
		`x`:                                 false,
	} {
		if got := ReadsAsTable(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

// TestColumnsWithoutRoomAreNamed: what is not shown of what is under review is told.
func TestColumnsWithoutRoomAreNamed(t *testing.T) {
	r, ok := Parse(json.RawMessage(`[{"one":1,"two":2,"three":3,"four":4,"five":5}]`))
	if !ok {
		t.Fatal("no table")
	}
	th := theme.Must("", true)
	if got := ansi.Strip(Lines(th, r, 20).Line(0)); got != "2 of 5 columns have no room: four, five" {
		t.Errorf("%q", got)
	}
	if got := ansi.Strip(Lines(th, r, 80).Line(0)); !strings.HasPrefix(got, "one") {
		t.Errorf("%q", got)
	}
}
