package local

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// advise puts into a refusal of an unknown question which one was likely meant.
func (s *Source) advise(ctx context.Context, r engine.ResumeRequest, refusal *desk.Error) {
	if !errors.Is(refusal, engine.ErrUnknownQuestion) {
		return
	}
	out, err := s.engine.Open(ctx, r.Thread)
	if err != nil {
		return
	}
	if name, ok := meant(r.Answers, out.Questions); ok {
		refusal.Remedy = fmt.Sprintf("did you mean %q?", name)
	}
}

// meant is the address of the open question that is nearest to one of answers which names none. The separators count as
// alike: of each/0/agent.a the frames are told by slashes and the key by a dot, which is easily mistaken.
func meant(answers []engine.Answer, open []engine.OpenQuestion) (string, bool) {
	alike := strings.NewReplacer("/", ".", "@", ".", ":", ".", "[", "", "]", "").Replace
	known := make(map[string]bool, 3*len(open))
	addresses, names := make(map[string]string, len(open)), make([]string, 0, len(open))
	for _, q := range open {
		known[q.ID], known[q.Address], known[q.Key] = true, true, true
		addresses[alike(q.Address)] = q.Address
		names = append(names, alike(q.Address))
	}
	for _, a := range answers {
		if a.Interrupt == "" || known[a.Interrupt] {
			continue
		}
		if name, ok := nearest.Name(alike(a.Interrupt), names); ok {
			return addresses[name], true
		}
	}
	return "", false
}

// noStep says that a thread has not, or no longer, the step that was named.
func noStep(err error, thread string, step int64) error {
	return &desk.Error{
		Code: desk.CodeNotFound, Message: fmt.Sprintf("thread %s has no step %d", thread, step),
		Remedy: fmt.Sprintf("`hitl-tui history %s` lists its steps", thread), Err: err,
	}
}

// taken is Coded for a call that makes a thread: an id that another one has needs another id, not another look.
func taken(err error, thread string) error {
	coded := Coded(err)
	var conflict *checkpoint.ConflictError
	var known *desk.Error
	if errors.As(err, &conflict) && errors.As(coded, &known) && known.Code == desk.CodeConflict && conflict.Thread == thread && conflict.Reason != "" {
		known.Remedy = "give another --thread, or none for a fresh id"
	}
	return coded
}
