package plain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
	"github.com/hitl-tui/hitl-tui/internal/ui/plain"
)

var (
	_ plain.Desk = (*desk.Masked)(nil)
	_ plain.Desk = (*desktest.Desk)(nil)
)

// ask is a thread with one question.
func ask(d *desktest.Desk, q actions.Question) {
	choices := desktest.Choices(actions.Allowed(q), "publish")
	for i, c := range choices {
		choices[i].NeedsComment = slices.Contains(q.RequireComment, c.Action)
	}
	d.Add(desk.Detail{Thread: desk.Thread{ID: "t-one-0001", Workflow: "release-notes", Node: "review", WaitingSince: d.Now().Add(-time.Hour)},
		Questions: []desk.Question{{ID: "q-one", Address: "review", Asked: d.Now().Add(-time.Hour), ResumesNow: true, ShownHash: "aa", Question: q, Choices: choices}}})
}

// talk answers with the lines of a script and gives back what was said. A pause between two parts of the script lets time pass.
func talk(t *testing.T, d *desktest.Desk, o plain.Options, script string) string {
	t.Helper()
	var out bytes.Buffer
	o.In, o.Out = strings.NewReader(script), &out
	if err := plain.Run(t.Context(), d, o); err != nil {
		t.Errorf("it ended with: %v\n%s", err, out.String())
	}
	time.Sleep(time.Minute)
	if bad := tuitest.UnsafeIn(out.String()); bad != "" || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%s was said", bad)
	}
	return out.String()
}

// sent is the data of each answer, by "action state".
func sent(d *desktest.Desk) []string {
	var all []string
	for _, e := range d.Outbox() {
		all = append(all, strings.TrimSpace(e.Decision.Action+" "+string(e.State)+" "+string(e.Decision.Data)))
	}
	return all
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Each kind of data is asked for line by line, and is what the drawn desk would send.
func TestAnswers(t *testing.T) {
	notes := actions.Question{Kind: actions.EditKind, Title: "Publish these notes?", Message: "They go out.", Content: raw("# One\n"),
		Actions: []actions.Action{actions.Approve, actions.Edit, actions.Retry, actions.Reject, actions.Skip}}
	form := actions.Question{Kind: actions.FormKind, Title: "Pay", Schema: json.RawMessage(`{"type":"object","required":["amount"],"properties":{
		"amount":{"type":"integer"},"paid":{"type":"boolean","default":true},"size":{"enum":["S","M"]},"note":{"type":"string"},
		"to":{"type":"object","title":"Receiver","properties":{"iban":{"type":"string"}}}}}`)}
	choice := actions.Question{Kind: actions.Choice, Title: "Which?", Options: []actions.OptionItem{{Value: raw("a"), Label: "First"}, {Value: raw(2), Label: "Second"}}}
	many := choice
	many.Multiple = true
	why := notes
	why.RequireComment = []actions.Action{actions.Edit}
	parts := actions.Question{Kind: actions.FormKind, Title: "2 calls", Actions: []actions.Action{actions.Submit, actions.Stop},
		Schema: json.RawMessage(`{"type":"object"}`),
		Parts: []actions.Question{{Kind: actions.Approval, Title: "transfer", Actions: []actions.Action{actions.Approve, actions.Reject}},
			{Kind: actions.Approval, Title: "mail", Actions: []actions.Action{actions.Approve, actions.Reject}}}}
	for name, c := range map[string]struct {
		q      actions.Question
		script string
		want   []string
		said   []string
	}{
		"approve by number": {notes, "1\n1\n.\ny\n\nq\nw\n", []string{"approve sent"}, []string{"Publish these notes?", "They go out.", "# One", "It is sent in 5 seconds", "1 answer is not sent yet"}},
		"reject by name":    {notes, "1\nreject\nToo thin\nand late\n.\ny\n\nq\nw\n", []string{`reject sent "Too thin\nand late"`}, nil},
		"taken back":        {notes, "1\nskip\ny\nu\nq\n", nil, []string{"Taken back: skip of Publish these notes?"}},
		"taken back later":  {notes, "1\nskip\ny\n\nu\nq\n", nil, []string{"your skip is not sent yet", "Taken back"}},
		"not confirmed":     {notes, "1\nskip\nn\nback\nq\n", nil, nil},
		"edit":              {notes, "1\nedit\n# Two\n.\ny\n\nq\nw\n", []string{`edit sent "# Two"`}, nil},
		"edit with comment": {why, "1\nedit\n# Two\n.\nshorter\n.\ny\n\nq\nw\n", []string{`edit sent {"edited":"# Two","comment":"shorter"}`}, []string{"Comment, required"}},
		"form": {form, "1\nsubmit\n\nx\n12\n\n2\n\nDE02\ny\n\nq\nw\n", []string{`submit sent {"amount":12,"paid":true,"size":"M","to":{"iban":"DE02"}}`},
			[]string{"amount is required", "that is no integer", "Receiver, iban, text"}},
		"choose":  {choice, "1\nchoose\n3\n2\ny\n\nq\nw\n", []string{"choose sent 2"}, []string{"2. Second", `"3" is no choice from 1 to 2`}},
		"several": {many, "1\nchoose\n1, 2\ny\n\nq\nw\n", []string{`choose sent ["a",2]`}, nil},
		"parts": {parts, "1\napprove\n.\nreject\nno\n.\ny\n\nq\nw\n", []string{`submit sent {"1":{"decision":"approve"},"2":{"decision":"reject","message":"no"}}`},
			[]string{"Part 2 of 2.", "Part 2: reject."}},
		"why not":        {notes, "1\nwhy\nback\nq\n", nil, []string{"choose: "}},
		"help and wrong": {notes, "help\n7\nblah\nq\n", nil, []string{"A number opens that thread", `"7" is neither a command`}},
		"kept as drafts": {notes, "1\nskip\ny\n\nq\nx\nd\n", nil, nil},
		"end of input":   {notes, "1\nskip\ny\n", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := desktest.New(t)
				ask(d, c.q)
				said := talk(t, d, plain.Options{}, c.script)
				var got []string
				for _, x := range sent(d) {
					if !strings.Contains(x, string(desk.TakenBack)) {
						got = append(got, x)
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s\n%s", diff, said)
				}
				for _, want := range c.said {
					if !strings.Contains(said, want) {
						t.Errorf("%q was not said:\n%s", want, said)
					}
				}
			})
		})
	}
}

// What was typed before the input ended, or an action was left, is there again.
func TestTypedIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := desktest.New(t)
		ask(d, actions.Question{Kind: actions.Approval, Title: "Go?", Actions: []actions.Action{actions.Approve, actions.Reject}})
		talk(t, d, plain.Options{}, "1\nreject\nhalf a\nsentence\n")
		said := talk(t, d, plain.Options{}, "1\nreject\ny\ny\n\nq\nw\n")
		if diff := cmp.Diff([]string{`reject sent "half a\nsentence"`}, sent(d)); diff != "" || !strings.Contains(said, "A draft is kept") {
			t.Errorf("%s\n%s", diff, said)
		}
	})
}

// A secret is read by what does not show it, and neither said nor kept.
func TestSecretIsNotEchoed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := desktest.New(t)
		ask(d, actions.Question{Kind: actions.FormKind, Title: "Log in", Schema: json.RawMessage(`{"type":"object","properties":{"token":{"type":"string","writeOnly":true}}}`)})
		said := talk(t, d, plain.Options{Secret: func() (string, error) { return "hunter22", nil }}, "1\nsubmit\ny\n\nq\nw\n")
		if strings.Contains(said, "hunter22") || !strings.Contains(said, "not shown") {
			t.Error(said)
		}
		if diff := cmp.Diff([]string{`submit sent {"token":"hunter22"}`}, sent(d)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestReadOnlyAndClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := desktest.New(t)
		q := actions.Question{Kind: actions.Approval, Title: "Go\x1b[2J?", Content: raw(strings.Repeat("line\n", 150))}
		ask(d, q)
		if said := talk(t, d, plain.Options{ReadOnly: true}, "1\nn\nq\n"); !strings.Contains(said, "50 lines follow") || !strings.Contains(said, "Read-only") {
			t.Error(said)
		}
		d.Add(desk.Detail{Thread: desk.Thread{ID: "t-two-0002", Workflow: "w", Node: "n", Claimed: "bob", ClaimedUntil: d.Now().Add(time.Hour)},
			Questions: []desk.Question{{ID: "q-two", Address: "n", Asked: d.Now(), ShownHash: "bb", Question: actions.Question{Kind: actions.Approval, Title: "Mine?"}}}})
		if said := talk(t, d, plain.Options{}, "1\nn\n1\ny\nback\nq\n"); !strings.Contains(said, "bob has claimed this") {
			t.Error(said)
		}
	})
}

// A signal ends it also while it waits for a line.
func TestSignalEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	in, _ := io.Pipe()
	defer in.Close()
	stopped := errors.New("stopped")
	cancel(stopped)
	if err := plain.Run(ctx, desktest.New(t), plain.Options{In: in, Out: io.Discard}); !errors.Is(err, stopped) {
		t.Error(err)
	}
}

// TestTitleIsReadOnce: a question whose message is its title is read out once.
func TestTitleIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := desktest.New(t)
		ask(d, actions.Question{Kind: actions.Approval, Title: "Publish the notes?", Message: "Publish the notes?"})
		said := talk(t, d, plain.Options{Now: d.Now}, "1\nq\nq\n")
		_, read, _ := strings.Cut(said, "Asked ")
		if strings.Contains(read, "Publish the notes?\n") || !strings.Contains(said, "Publish the notes?\nAsked ") {
			t.Errorf("not read once:\n%s", said)
		}
	})
}
