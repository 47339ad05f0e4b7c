package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// answered is a question whose answer a run has got.
type answered struct {
	ID    string `json:"id"`
	Round int    `json:"round,omitempty"`

	Digest json.RawMessage `json:"digest,omitempty"` // in the place of a value that its schema calls secret
}

// answeredBy is a question that is answered so.
func (a *ask) answeredBy(rec AnswerRecord) answered {
	was := answered{ID: a.ID, Round: a.Round}
	q, _ := a.question()
	if shown := actions.Recorded(q, rec.Value); !bytes.Equal(shown, rec.Value) {
		was.Digest = shown
	}
	return was
}

// hand gives a run that a retry began the feedback, and what had been answered in the run of the same node that the retry
// took away, if it did: whoever answered need not be asked again. Answers that an earlier retry had handed on count too.
func (e *effect) hand(next, former *run) {
	key := e.ask.Key
	if next.node != e.run.node {
		key = strings.TrimPrefix(e.ask.Address, e.frame.address)
	}
	next.feedback = map[string]AnswerRecord{key: e.answer}
	if former == nil {
		return
	}
	next.discarded = map[string]AnswerRecord{}
	maps.Copy(next.discarded, former.discarded)
	maps.Copy(next.discarded, former.given)
	if next.node == e.run.node {
		delete(next.discarded, key)
	}
}

// supersedeAnswered links what a run that is taken away had been answered to the questions that ask it once more.
func (t *tree) supersedeAnswered(r *run) {
	for key, was := range r.were {
		rec := r.given[key]
		if was.Digest != nil {
			rec.Value = was.Digest
		}
		t.links[r.address(key)] = link{
			Previous: checkpoint.Previous{ID: was.ID, Action: string(rec.Action), Value: rec.Value, Feedback: rec.Comment, By: rec.By},
			Round:    max(was.Round, 1) + 1,
		}
	}
	if len(r.were) > 0 {
		t.linksChanged()
	}
}
