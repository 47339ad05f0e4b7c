package checkpoint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// drawQuestion is a question of any kind; JSON from outside in it is of any spelling, or none.
func drawQuestion(t *rapid.T, place int) checkpoint.Interrupt {
	foreign := rapid.SampledFrom([]string{"", `{ "a" :  1.0 }`, "[\n1]", ` "blank around" `, `"<é>\u00e9&"`, "1e-400", `{"a":1,"a":2}`, "no JSON",
		"\xff", `{"#text":"looks like ours"}`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000)})
	raw := func(label string) json.RawMessage {
		if s := foreign.Draw(t, label); s != "" {
			return json.RawMessage(s)
		}
		return nil
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, rapid.IntRange(0, 999).Draw(t, "ns"), time.UTC)
	q := checkpoint.Interrupt{ID: rapid.StringN(0, 5, -1).Draw(t, "id"), Key: rapid.StringN(0, 5, -1).Draw(t, "key"), Address: "a.b", Node: "a",
		Path: fmt.Sprintf("main@1/a@%d", place), Payload: raw("payload"), ContentKey: "draft", Asked: at, Place: place,
		Overdue: rapid.Bool().Draw(t, "overdue"), Round: rapid.IntRange(0, 3).Draw(t, "round")}
	if rapid.Bool().Draw(t, "due") {
		q.Due = &at
	}
	if rapid.Bool().Draw(t, "again") {
		q.Previous = &checkpoint.Previous{ID: "p", Feedback: "shorter", By: "ann", Action: "respond", Value: raw("value"), Content: raw("content")}
	}
	return q
}

// TestQuestionsComeBack keeps questions in channels, in any order, and wants them back to the byte in that of their places.
func TestQuestionsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "questions")
		c := checkpoint.Checkpoint{Thread: "t", Open: n, Channels: checkpoint.Channels{"draft": []byte("1"), "@asks": []byte("no question")}}
		var want []checkpoint.Interrupt
		for i := range n {
			q := drawQuestion(t, 3*i+1)
			raw, err := q.Encode()
			if err != nil || !json.Valid(raw) {
				t.Fatalf("%s: %v", raw, err)
			}
			c.Channels[q.Channel()] = raw
			want = append(want, q)
		}
		c.Interrupts = want[:1:1]
		got, err := c.Questions()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-kept +got):\n%s", diff)
		}
		if err := c.Validate(); err != nil || c.Asks() != n || !c.Interrupted() {
			t.Fatalf("%d questions: %v", c.Asks(), err)
		}
		state := c.Channels
		if c.Channels = nil; c.Asks() != n {
			t.Errorf("%d questions without the state", c.Asks())
		}
		if _, err := c.Questions(); !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Errorf("the list without the state: %v", err)
		}
		if c.Channels, c.Open = state, 0; len(c.Channels.State()) != 1 {
			t.Errorf("the workflow's state shows %v", c.Channels.State())
		}
		if got, err := c.Questions(); err != nil || len(got) != n { // an earlier version took it in from a file
			t.Errorf("without the number: %d questions (%v)", len(got), err)
		}
	})
}

// TestQuestionsThatContradict demands an error where state and record do not fit.
func TestQuestionsThatContradict(t *testing.T) {
	q := checkpoint.Interrupt{ID: "q", Key: "k", Path: "main@1/a@1", Place: 1}
	raw, err := q.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]checkpoint.Checkpoint{
		"one is missing":         {Open: 2, Channels: checkpoint.Channels{q.Channel(): raw}},
		"one is too many":        {Open: 1, Channels: checkpoint.Channels{q.Channel(): raw, "@ask:main@1/b@1:": raw}},
		"one of another run":     {Open: 1, Channels: checkpoint.Channels{"@ask:main@1/b@1:k": raw}},
		"what is no question":    {Open: 1, Channels: checkpoint.Channels{q.Channel(): []byte(`"q"`)}},
		"a number below nothing": {Open: -1},
	} {
		c.Thread = "t"
		if got, err := c.Questions(); !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Errorf("%s: %+v (%v)", name, got, err)
		}
		if err := c.Validate(); err == nil {
			t.Errorf("%s: it may be put", name)
		}
	}
}

// TestQuestionsOfARecord are those that others put, and that earlier versions wrote: the list is as it is given.
func TestQuestionsOfARecord(t *testing.T) {
	due := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	c := checkpoint.Checkpoint{Thread: "t", Interrupts: []checkpoint.Interrupt{{ID: "b", Asked: due, Node: "n"}, {ID: "a", Asked: due.Add(-time.Hour), Due: &due}}}
	got, err := c.Questions()
	if err != nil || !slices.EqualFunc(got, c.Interrupts, func(a, b checkpoint.Interrupt) bool { return a.ID == b.ID }) || c.Asks() != 2 {
		t.Errorf("%+v (%v)", got, err)
	}
	if s := checkpoint.SummaryOf(&c); s.Questions != 2 || s.Node != "n" || !s.Due.Equal(due) || !s.WaitingSince.Equal(due.Add(-time.Hour)) {
		t.Errorf("%+v", s)
	}
}
