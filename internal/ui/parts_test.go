package ui

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/question"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// threeCalls is a request of an agent to make three calls at once.
const threeCalls = `{"action_requests": [{"name": "transfer", "args": {"amount": 1200, "to": "DE02"}}, {"name": "read_file", "args": {"path": "/etc/hosts"}},
	{"name": "mail", "args": {"to": "ana"}}], "review_configs": [{"action_name": "transfer", "allowed_decisions": ["approve", "edit", "reject"]},
	{"action_name": "read_file", "allowed_decisions": ["approve", "reject", "respond"]}, {"action_name": "mail", "allowed_decisions": ["approve", "reject"]}]}`

// fourQuestions is what the ask_user of an agent asks at once.
const fourQuestions = `{"type": "ask_user", "questions": [{"question": "What is the name?"}, {"question": "Which colour?", "type": "multiple_choice", "choices": [{"value": "red"}, {"value": "blue"}]},
	{"question": "Which days?", "type": "multi_select", "choices": [{"value": "Monday"}, {"value": "Friday"}]}, {"question": "Anything else?", "required": false}], "tool_call_id": "c1"}`

// adds adds a thread, first of the list, whose question has parts.
func adds(payload string) func(d *desktest.Desk) {
	return func(d *desktest.Desk) {
		asked, shape := question.Recognise(json.RawMessage(payload), nil)
		now := d.Now()
		d.Add(desk.Detail{Thread: desk.Thread{ID: "t-calls-0099", Workflow: "agent", Node: "calls", Step: 1, WaitingSince: now.Add(-time.Minute), Due: now.Add(-2 * time.Hour)},
			Questions: []desk.Question{{ID: "q-calls", Address: "calls", Asked: now.Add(-time.Minute), ResumesNow: true, ShownHash: "ab", Shape: string(shape),
				Payload: json.RawMessage(payload), Question: asked}}})
	}
}

// partsFlow runs a program whose first question has parts.
func partsFlow(t *testing.T, do func(t *testing.T, d *desktest.Desk, p *tuitest.Program)) {
	t.Helper()
	flowOf(t, adds(threeCalls), func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Expect("3 tool calls: transfer", ". goes through the parts", "1  transfer", "open")
		do(t, d, p)
	})
}

// slowly presses keys, each when the screen takes a decision again.
func slowly(p *tuitest.Program, keys ...string) {
	for _, k := range keys {
		p.Keys(k)
		p.Advance(settle)
	}
}

func sentData(d *desktest.Desk) string {
	for _, e := range d.Outbox() {
		if e.State == desk.Unsent {
			return string(e.Decision.Data)
		}
	}
	return ""
}

func TestEachPartGetsItsVerdict(t *testing.T) {
	partsFlow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		slowly(p, ".")
		p.Expect("transfer", "no verdict yet: 3 of 3 are open", "amount: 1200", "a approve")
		slowly(p, "a")
		p.Expect("part 1: approve; 2 parts are open", "read_file", "no verdict yet: 2 of 3")
		slowly(p, "r", "n", "o", "ctrl+s")
		p.Expect("part 2: reject; 1 part is open", "mail", "the last verdict: it sends all")
		wantOutbox(t, d)
		slowly(p, ",")
		p.Expect("~ verdict: reject: no")
		slowly(p, ".", "a")
		wantOutbox(t, d, "submit 3 tool calls: transfer, read_file, mail: unsent")
		want := `{"1":{"decision":"approve"},"2":{"decision":"reject","message":"no"},"3":{"decision":"approve"}}`
		if diff := cmp.Diff(want, sentData(d)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestVerdictsAreChangedUntilTheyAreSent: what is taken back is there again, and one verdict of it can be changed.
func TestVerdictsAreChangedUntilTheyAreSent(t *testing.T) {
	partsFlow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		slowly(p, ".", "a", "a", "a", "u")
		p.Expect("~ 3 of 3 decided, not sent: s goes on", "transfer", "approve")
		slowly(p, ".", "e")
		p.Expect("EDIT", "1200")
		slowly(p, "ctrl+r")
		for range len(`{"amount":1200,"to":"DE02"}`) + 12 {
			p.Keys("delete")
		}
		p.Paste(`{"amount": 900, "to": "DE02"}`)
		slowly(p, "ctrl+s")
		if got := sentData(d); !strings.Contains(got, `"1":{"decision":"edit","args":{"amount":900,"to":"DE02"}}`) {
			t.Errorf("sent %s\n%s", got, p.Screen())
		}
	})
}

// TestHalfTypedVerdictsAreKept: what is typed for a part and left is no verdict, and is there again.
func TestHalfTypedVerdictsAreKept(t *testing.T) {
	partsFlow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		slowly(p, ".", "a", "r", "w", "h", "y", "esc")
		p.Expect("no verdict yet: 2 of 3 are open")
		slowly(p, "r")
		p.Expect("why")
		slowly(p, "esc", ",", "e")
		slowly(p, "ctrl+r", "{", "esc", "e")
		p.Expect("{{", "raw JSON")
	})
}

// TestWholeActionsStayAtAPart: what is no verdict concerns the question whichever part is shown.
func TestWholeActionsStayAtAPart(t *testing.T) {
	partsFlow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		slowly(p, ".", "a", "s")
		p.Expect("SUBMIT", "1 transfer › Verdict", "(x) Approve")
		slowly(p, "esc", "m")
		p.Expect("RESPOND, then verdict 2 of 3")
		slowly(p, "esc", ".", "m")
		p.Expect("not allowed for this part")
		slowly(p, "X", "ctrl+s", "y")
		wantOutbox(t, d, "stop 3 tool calls: transfer, read_file, mail: unsent")
	})
}

// TestOneAnswerForAllParts: at the question itself an action is about all of it.
func TestOneAnswerForAllParts(t *testing.T) {
	partsFlow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		slowly(p, "a")
		wantOutbox(t, d, string(actions.Approve)+" 3 tool calls: transfer, read_file, mail: unsent")
	})
}

// TestEachQuestionIsAPage: several questions of one agent are gone through one by one, each answered in its own way, also
// in words where choices are offered.
func TestEachQuestionIsAPage(t *testing.T) {
	flowOf(t, adds(fourQuestions), func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Expect("4 questions: What is the name?", ". goes through the parts", "1  What is the name?", "open")
		slowly(p, ".")
		p.Expect("part 1/4", "m respond")
		slowly(p, "m", "A", "n", "a", "ctrl+s")
		p.Expect("part 1: respond; 3 parts are open", "Which colour?", "part 2/4")
		slowly(p, "c", "2")
		p.Expect("part 2: choose; 2 parts are open", "Which days?", "part 3/4")
		slowly(p, "m", "n", "o", "n", "e", "ctrl+s")
		p.Expect("part 3: respond; 1 part is open", "Anything else?", "the last verdict: it sends all")
		slowly(p, "S")
		p.Expect("Skip Anything else? ", "left without an answer: verdict 4 of 4")
		slowly(p, "y")
		wantOutbox(t, d, "submit 4 questions: What is the name?, Which colour?, Which days?, Anything else?: unsent")
		want := `{"1":{"decision":"respond","message":"Ana"},"2":{"decision":"choose","args":"blue"},"3":{"decision":"respond","message":"none"},"4":{"decision":"skip"}}`
		if diff := cmp.Diff(want, sentData(d)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestVerdictsStandWithinTheirColumn: one that has no room beside its part stands below it, and what is decided and not sent
// says how it is sent.
func TestVerdictsStandWithinTheirColumn(t *testing.T) {
	flowOf(t, adds(fourQuestions), func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		slowly(p, ".", "m")
		p.Type("an answer with several words in it, of which not one may stand below a number")
		slowly(p, "ctrl+s", ",", ",")
		var lines []string
		for l := range strings.Lines(p.Screen()) {
			if _, l, ok := strings.Cut(l, "│"); ok {
				lines = append(lines, strings.TrimRight(l, " \n"))
			}
		}
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  1  What is the name?") })
		if at < 0 {
			t.Fatal(p.Screen())
		}
		if said := strings.Join(lines[at:], "\n"); !strings.Contains(said, "\n     respond: an answer") {
			t.Errorf("not below its part:\n%s", said)
		}
		for _, l := range lines[at+1:] {
			if strings.HasPrefix(l, "  2 ") {
				return
			}
			if !strings.HasPrefix(l, "     ") {
				t.Errorf("below a number: %q", l)
			}
		}
		t.Error("the second part does not follow")
	})
}

// TestAQuestionWithoutATitleHasAName wherever it is named: payloads of any shape need not have one.
func TestAQuestionWithoutATitleHasAName(t *testing.T) {
	flowOf(t, adds(`{"odd": [1, 2]}`), func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Expect("│ calls  ", "agent / calls")
		slowly(p, "a")
		p.Expect("approved: calls, sends in")
		slowly(p, "u")
		p.Expect("taken back: approve of calls")
	})
}
