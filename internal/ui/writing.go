package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// beginWriting claims the thread of a pane's question while its answer is written. The claim ends with the pane, or with
// what stays of it: a draft, or an answer on its way.
func (m *Model) beginWriting(p *pane) tea.Cmd {
	ctx, d, q := m.ctx, m.desk, p.question
	return func() tea.Msg { return writing{pane: p, err: d.BeginWriting(ctx, q)} }
}

// writing is the end of the call that claims.
type writing struct {
	pane *pane
	err  error
}

func (w writing) apply(m *Model) tea.Cmd {
	p := w.pane
	p.claimed = true
	if p.gone {
		return m.endWriting(p)
	}
	if w.err != nil {
		return m.complain("claim: "+w.err.Error(), p.question.Thread)
	}
	return nil
}

// endWriting gives the claim of a pane up, which nothing is left of; one that is still on its way as soon as it is there.
func (m *Model) endWriting(p *pane) tea.Cmd {
	if p.gone = true; !p.claimed {
		return nil
	}
	ctx, d, q := m.ctx, m.desk, p.question
	return func() tea.Msg { return called{what: "release", thread: q.Thread, err: d.EndWriting(ctx, q)} }
}

// nothingStays tells whether nothing typed about a pane's question is kept, now that x is what its pane holds.
func (m *Model) nothingStays(p *pane, x desk.Draft) bool {
	return x.Text == "" && m.inbox.Draft(p.question) == nil
}
