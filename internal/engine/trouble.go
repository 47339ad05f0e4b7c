package engine

import (
	"maps"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// refusal is the answer that rejected or cancelled a run, or what runs below it. It travels up with the end it caused.
type refusal struct {
	Address string         `json:"address"` // of the question
	Action  actions.Action `json:"action"`
	By      string         `json:"by,omitempty"`
	Comment string         `json:"comment,omitempty"`
	At      time.Time      `json:"at"`
}

// words tell who refused what, and why: review was rejected by ana: too long.
func (x *refusal) words(status checkpoint.Status) string {
	var b strings.Builder
	b.WriteString(x.Address + " was " + string(status))
	if x.By != "" {
		b.WriteString(" by " + x.By)
	}
	if x.Comment != "" {
		b.WriteString(": " + x.Comment)
	}
	return b.String()
}

// recordFailure keeps the latest failure of a node for the scope.
func (f *frame) recordFailure(x *checkpoint.Failure) { f.recordTrouble(x.Node, failureOf(x)) }

// recordRefusal keeps for the scope that a run was rejected or cancelled.
func (f *frame) recordRefusal(r *run) { f.recordTrouble(r.node.Name, f.refusalOf(r)) }

// failureOf is a failure as errors.NODE tells it.
func failureOf(x *checkpoint.Failure) Value {
	return troubleOf(checkpoint.Failed, x.Message, x.Attempts, refusal{At: x.At})
}

// refusalOf is the rejection or cancellation of a run as errors.NODE tells it.
func (f *frame) refusalOf(r *run) Value {
	why := refusal{Address: r.address(""), At: f.tree.now()} // of a checkpoint that does not say
	if r.why != nil {
		why = *r.why
	}
	return troubleOf(r.ends, why.words(r.ends), r.failures+1, why)
}

// troubleOf is how the latest run of a node ended that did not succeed.
func troubleOf(ended checkpoint.Status, message string, attempts int, why refusal) Value {
	return known(map[string]any{
		"message": message, "ended": string(ended), "by": why.By, "comment": why.Comment, "attempts": attempts,
		"at": why.At.UTC().Format(time.RFC3339Nano),
	})
}

// recordTrouble keeps how a node ended for the scope.
func (f *frame) recordTrouble(node string, v Value) {
	f.preserve("errors", f.errorsValue)
	if f.errors == nil {
		f.errors = map[string]Value{}
	}
	f.errors[node] = v
	f.errorsValue = object(f.errors)
	f.write(checkpoint.OpMerge, f.channel("errors"), object(map[string]Value{node: v}))
}

// recovered takes the trouble of a node that has succeeded out of the scope.
func (f *frame) recovered(node string) {
	if _, had := f.errors[node]; !had {
		return
	}
	f.preserve("errors", f.errorsValue)
	delete(f.errors, node)
	f.errorsValue = object(f.errors)
	f.write(checkpoint.OpSet, f.channel("errors"), f.errorsValue)
}

// succeeded reports whether the run of the completion ended well: it neither failed nor was refused.
func (c *completion) succeeded() bool { return c.failure == nil && !c.run.refused }

// errorsAfter are the errors of the frame once these completions are applied; nil when they stay as they are.
func (f *frame) errorsAfter(done []*completion) *Value {
	var left map[string]Value
	for _, c := range done {
		if _, had := f.errors[c.run.node.Name]; !had || !c.succeeded() {
			continue
		}
		if left == nil {
			left = maps.Clone(f.errors)
		}
		delete(left, c.run.node.Name)
	}
	if left == nil {
		return nil
	}
	v := object(left)
	return &v
}
