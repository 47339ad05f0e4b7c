package content

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

func TestTalkShowsAllThatIsSaid(t *testing.T) {
	long := strings.Repeat("Where is my parcel? ", 40) + "THE END"
	value, err := json.Marshal([]map[string]any{
		{"role": "customer", "text": long},
		{"role": "human", "by": "ana", "text": "Say\x1b[2J sorry"},
		{"role": "assistant", "content": "Sorry."},
	})
	if err != nil {
		t.Fatal(err)
	}
	src, ok := Talk(theme.Must("default", true), value, 40)
	if !ok {
		t.Fatal("a conversation is not drawn as one")
	}
	var lines []string
	for i := range src.Len() {
		lines = append(lines, src.Line(i))
	}
	drawn := ansi.Strip(strings.Join(lines, "\n"))
	for _, want := range []string{"customer", "THE END", "human  by ana", "assistant", "Sorry."} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%q is not drawn:\n%s", want, drawn)
		}
	}
	if strings.Contains(strings.Join(lines, "\n"), "\x1b[2J") {
		t.Error("an escape sequence of a turn reaches the terminal")
	}
}

func TestTalkLeavesOtherValuesToTheTree(t *testing.T) {
	for _, value := range []string{`[]`, `{}`, `"x"`, `[1]`, `[{"role":"a"}]`, `[{"role":1,"text":"x"}]`, `[{"text":"x"}]`, `[{"role":"a","text":["x"]}]`, ``} {
		if _, ok := Talk(theme.Must("default", true), json.RawMessage(value), 40); ok {
			t.Errorf("%s is drawn as a conversation", value)
		}
	}
}
