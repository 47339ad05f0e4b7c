package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/dialog"
)

// openRules lists what answers by itself.
func (m *Model) openRules() tea.Cmd {
	d := m.desk
	return func() tea.Msg {
		rules, on := d.Rules()
		return rulesRead{rules: rules, on: on}
	}
}

type rulesRead struct {
	rules []desk.RuleState
	on    bool
}

func (r rulesRead) apply(m *Model) tea.Cmd {
	return m.openList(dialog.NewRules(m.kit(), r.rules, r.on, m.now()), nil)
}

// switchRules stops the rules at once, and asks before they answer again.
func (m *Model) switchRules() tea.Cmd {
	d := m.desk
	return func() tea.Msg {
		rules, on := d.Rules()
		return rulesToSwitch{n: len(rules), on: on}
	}
}

type rulesToSwitch struct {
	n  int
	on bool
}

func (r rulesToSwitch) apply(m *Model) tea.Cmd {
	d := m.desk
	set := func(on bool, done string) tea.Cmd {
		return func() tea.Msg { return called{what: "rules", done: done, err: d.SetRules(on)} }
	}
	switch {
	case r.n == 0:
		return m.warn("there are no rules in the configuration")
	case r.on:
		return set(false, "the rules are off until the desk is closed; what they had not sent is taken back")
	}
	return m.ask(confirmation{
		title: "Let the rules answer?", text: plural(r.n, "rule answers", "rules answer") + " by themselves what they match.", yes: "let them",
		run: set(true, "the rules answer by themselves"),
	})
}
