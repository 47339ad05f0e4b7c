package nearest_test

import (
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

func TestName(t *testing.T) {
	names := []string{"approve", "reject", "choose", "text_input", "output", "type", "since", "END", "stop", "skip"}
	for want, expect := range map[string]string{
		"aprove":                       "approve",
		"APROVE":                       "approve",
		"outptu":                       "output",
		"typ":                          "type",
		"sinse":                        "since",
		"text-input":                   "text_input",
		"textinput":                    "text_input",
		"end":                          "END",
		"stpo":                         "stop",
		"skpi":                         "skip",
		"":                             "",
		"x":                            "",
		"zzzzzz":                       "",
		"banana":                       "",
		"approximately something else": "",
	} {
		got, ok := nearest.Name(want, names)
		if got != expect || ok != (expect != "") {
			t.Errorf("Name(%q) = %q, %v; want %q", want, got, ok, expect)
		}
	}
}

func TestNamePrefersTheNearestThenTheFirst(t *testing.T) {
	if got, _ := nearest.Name("abcdef", []string{"abcdxx", "abcdex", "abcdey"}); got != "abcdex" {
		t.Errorf("got %q", got)
	}
}

func TestHint(t *testing.T) {
	if got := nearest.Hint("typ", []string{"type"}); got != `; did you mean "type"?` {
		t.Errorf("got %q", got)
	}
	if got := nearest.Hint("q", []string{"type"}); got != "" {
		t.Errorf("got %q", got)
	}
}
