package rule_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/rule"
)

func claim() desk.Facts {
	return desk.Facts{Thread: "t-1", Question: desk.Question{
		Workflow: "expenses", Node: "decide", Address: "triage/2/decide", Payload: json.RawMessage(`{"amount":12}`),
		Question: actions.Question{Kind: actions.Approval, Title: "Bo: 12.00 EUR", Content: json.RawMessage(`{"amount":12,"who":"Bo"}`), Group: "finance",
			Context: []actions.Labelled{{Label: "limit", Value: json.RawMessage(`50`)}}, Options: []actions.OptionItem{{Value: json.RawMessage(`"a"`)}}},
	}}
}

func TestHolds(t *testing.T) {
	for source, want := range map[string]bool{
		`workflow == "expenses" && content.amount < 50`:            true,
		`content.amount < context.limit`:                           true,
		`content.amount > 50`:                                      false,
		`priority == "normal" && group == "finance" && round == 1`: true,
		`"approve" in allowed and kind == "approval"`:              true,
		`options[0] == "a" && payload.amount == 12`:                true,
		`title contains "Bo" && assignee == ""`:                    true,
		`address startsWith "triage/" && thread == "t-1"`:          true,
		`true`: true,
	} {
		c, faults := rule.Compile(source)
		if len(faults) > 0 {
			t.Errorf("%s: %v", source, faults)
			continue
		}
		if got, err := c.Holds(claim()); err != nil || got != want {
			t.Errorf("%s: %v, %v", source, got, err)
		}
	}
}

func TestWhatCannotBeComputedDoesNotHold(t *testing.T) {
	for _, source := range []string{`content.amont < 50`, `message.x.y == 1`, `content.who`, `content.amount`} {
		c, faults := rule.Compile(source)
		if len(faults) > 0 {
			t.Errorf("%s: %v", source, faults)
			continue
		}
		if yes, err := c.Holds(claim()); yes || err == nil {
			t.Errorf("%s holds: %v, %v", source, yes, err)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for source, want := range map[string]string{
		`workfow == "x"`:   `unknown name "workfow"; did you mean "workflow"?`,
		`run.id == "x"`:    `unknown name "run"`,
		`answers == {}`:    `unknown name "answers"`,
		`content.amount <`: "",
		`false`:            "is always false",
		`"yes"`:            "is always",
		``:                 "empty",
	} {
		c, faults := rule.Compile(source)
		if c != nil || len(faults) == 0 || !strings.Contains(faults[0].Message, want) {
			t.Errorf("%q: %v, want %q", source, faults, want)
		}
	}
}

func TestDocsNameEveryFact(t *testing.T) {
	doc, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), rule.Markdown()) {
		t.Errorf("docs/rules.md does not hold this table:\n%s", rule.Markdown())
	}
}
