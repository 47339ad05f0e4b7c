package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

// Open lists the open questions of a thread's head with their content, as they are to be shown.
func (e *Engine) Open(ctx context.Context, thread string) (*Outcome, error) {
	h, err := e.read(ctx, thread)
	if err != nil {
		return nil, err
	}
	out := h.tree.outcome()
	out.Version, out.Fingerprint, out.Workflow = h.checkpoint.Version(), h.checkpoint.Fingerprint, h.checkpoint.Workflow
	out.Status, out.Error, out.Source = h.info.Status, h.checkpoint.Error, h.tree.source
	return out, nil
}

// head is a thread as it stands: its row, its last checkpoint, and the tree made of it.
type head struct {
	info       *checkpoint.ThreadInfo
	checkpoint *checkpoint.Checkpoint
	tree       *tree
}

func (e *Engine) read(ctx context.Context, thread string) (*head, error) {
	if e.store == nil {
		return nil, fmt.Errorf("%w: thread %s cannot be read or resumed; name a store (--store sqlite:PATH)", ErrNoStore, thread)
	}
	info, err := e.store.Thread(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", thread, err)
	}
	c, err := e.store.Latest(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", thread, err)
	}
	g, err := e.graphOf(ctx, c.Fingerprint)
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", thread, err)
	}
	t, err := load(c, g, &e.o)
	if err != nil {
		return nil, err
	}
	t.title = info.Title
	return &head{info: info, checkpoint: c, tree: t}, nil
}

// Graph is the graph of the definition that a thread keeps.
func (e *Engine) Graph(ctx context.Context, thread string) (*Graph, error) {
	if e.store == nil {
		return nil, fmt.Errorf("%w: thread %s cannot be read; name a store (--store sqlite:PATH)", ErrNoStore, thread)
	}
	info, err := e.store.Thread(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", thread, err)
	}
	g, err := e.graphOf(ctx, info.Fingerprint)
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", thread, err)
	}
	return g, nil
}

// graphOf is the graph of the definition a thread keeps.
func (e *Engine) graphOf(ctx context.Context, fingerprint string) (*Graph, error) {
	d, err := e.store.Definition(ctx, fingerprint)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", fingerprint, err)
	}
	return e.graphFor(ctx, nil, *d)
}

// outcome is where the session's thread came to rest.
func (s *session) outcome() *Outcome {
	t := s.tree
	out := t.outcome()
	out.Version, out.Fingerprint, out.Workflow, out.Steps = s.head, s.fingerprint, s.workflow, s.steps
	if s.limited {
		out.Error = s.limitFailure()
	}
	return out
}

func (t *tree) outcome() *Outcome {
	out := &Outcome{Thread: t.thread, Status: t.phase(), Error: t.failure()}
	if t.ended == checkpoint.Done {
		out.Outputs = t.outputs.JSON()
	}
	for _, a := range t.asks {
		out.Questions = append(out.Questions, a.open())
	}
	return out
}

// open is the question as it is shown: with its content, and where each answer leads.
func (a *ask) open() OpenQuestion {
	q, shape := a.question()
	o := OpenQuestion{
		Interrupt: a.Interrupt, Question: q, Shape: shape, Leads: map[actions.Action]Lead{},
		WaitsFor: len(a.run.asks) - 1, ShownHash: a.shownHash(q),
	}
	if a.run.node.RerunOnResume {
		o.WaitsFor = 0
	}
	o.ResumesNow = o.WaitsFor == 0
	for _, action := range actions.Allowed(q) {
		o.Leads[action] = a.lead(action)
	}
	return o
}

// question is the payload in the one form questions have, its content filled in from the state.
func (a *ask) question() (actions.Question, question.Shape) {
	if !a.read {
		a.seen, a.shape = question.Recognise(a.Payload, nil)
		a.read = true
	}
	q := a.seen
	if content := a.content(); content != nil {
		q.Content = content
	}
	return q, a.shape
}

// shownHash is the SHA-256 of payload and content.
func (a *ask) shownHash(q actions.Question) string {
	h := sha256.New()
	h.Write(a.Payload)
	h.Write([]byte{0})
	h.Write(q.Content)
	return hex.EncodeToString(h.Sum(nil))
}

// lead says where an action leads, from the thread's own definition.
func (a *ask) lead(action actions.Action) Lead {
	n := a.run.node
	if action == actions.Stop {
		return Lead{Ends: checkpoint.Stopped}
	}
	if a.hears(action) {
		return Lead{To: []string{n.Name}}
	}
	f := a.run.frame
	if targets, ok := n.Routes[string(action)]; ok {
		return f.leadTo(targets)
	}
	switch action {
	case actions.Retry, actions.Reply:
		return Lead{Again: true}
	case actions.Reject, actions.Cancel:
		if action == actions.Cancel {
			return f.refusal(n, checkpoint.Cancelled)
		}
		return f.refusal(n, checkpoint.Rejected)
	}
	if targets, ok := n.Routes[a.run.route]; ok {
		return f.leadTo(targets)
	}
	if len(n.When) == 0 {
		return f.leadTo(n.Then)
	}
	lead := Lead{When: true}
	for _, b := range n.When {
		lead.add(f, b.Then)
	}
	lead.add(f, n.Then)
	return lead
}

// refusal is where a rejection or cancellation of a node leads: up, to the first failure route or map item.
func (f *frame) refusal(n *Node, status checkpoint.Status) Lead {
	for {
		switch {
		case n.HasFailure:
			return f.leadTo(n.Failure)
		case f.owner == nil:
			return Lead{Ends: status}
		case f.owner.isMap():
			return Lead{Ends: status, Frame: f.name()}
		}
		f, n = f.owner.run.frame, f.owner.run.node
	}
}

// name is the address of the frame, "" at the root.
func (f *frame) name() string { return strings.TrimSuffix(f.address, "/") }

func (f *frame) leadTo(targets []string) Lead {
	var l Lead
	l.add(f, targets)
	return l
}

// add adds the targets of one edge; END, which has none, ends the branch.
func (l *Lead) add(f *frame, targets []string) {
	if len(targets) == 0 {
		l.Ends, l.Frame = checkpoint.Done, f.name()
	}
	for _, name := range targets {
		if !slices.Contains(l.To, name) {
			l.To = append(l.To, name)
		}
	}
}
