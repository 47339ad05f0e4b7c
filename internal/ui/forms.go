package ui

import (
	"encoding/json"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/editorpane"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
	"github.com/hitl-tui/hitl-tui/internal/ui/dialog"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/retention"
)

// formPane asks for an object by its schema in the same pane in which answers are written.
func (m *Model) formPane(heading, title, leads string, schema, prefill json.RawMessage, take func(m *Model, data json.RawMessage) tea.Cmd) tea.Cmd {
	info, _ := actions.Describe(actions.Submit)
	p := &pane{}
	p.Pane = editorpane.New(m.theme, m.keys, editorpane.Config{
		Heading:  heading,
		Question: desk.Question{Question: actions.Question{Kind: actions.FormKind, Title: title, Schema: schema, Prefill: prefill}},
		Choice:   desk.Choice{Info: info, Allowed: true, Leads: leads},
	})
	p.send = func(m *Model, data json.RawMessage, _ guard.Ticket) tea.Cmd {
		m.pane = nil
		m.moved = true
		return take(m, data)
	}
	return m.showPane(p, nil)
}

// newThread reads what can be started.
func (m *Model) newThread() tea.Cmd {
	if m.opts.ReadOnly {
		return m.warn("read-only: nothing is started from here")
	}
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		w, err := d.Workflows(ctx)
		return workflowsRead{w, err}
	}
}

type workflowsRead struct {
	workflows []desk.Workflow
	err       error
}

func (w workflowsRead) apply(m *Model) tea.Cmd {
	if w.err != nil {
		return m.complain("the workflows cannot be read: "+w.err.Error(), "")
	}
	if len(w.workflows) == 0 {
		return m.warn("no workflow is in the configured folders: use `hitl-tui run FILE`")
	}
	return m.pickWorkflow(w.workflows)
}

// pickWorkflow offers up to nine by digit, more in a list that can be narrowed.
func (m *Model) pickWorkflow(workflows []desk.Workflow) tea.Cmd {
	var items []dialog.Item
	options := make([]actions.OptionItem, len(workflows))
	for i, x := range workflows {
		value, _ := json.Marshal(x.Name)
		about := x.Description
		if x.Err != "" {
			about = "cannot be started: " + x.Err
		}
		options[i] = actions.OptionItem{Value: value, Label: x.Name, Description: about}
		key := strconv.Itoa(i + 1)
		items = append(items, dialog.Item{ID: key, Key: key, Label: x.Name + ": " + about})
	}
	if len(items) > 9 {
		return m.openList(dialog.NewChooser(m.kit(), "Start a workflow", options, false), func(m *Model, r dialog.Result) tea.Cmd {
			if c, ok := r.(dialog.Chosen); ok && len(c.Options) == 1 {
				return m.fillInput(workflows[c.Options[0]])
			}
			return nil
		})
	}
	return m.openList(dialog.NewPick(m.kit(), "Start a workflow", items...), func(m *Model, r dialog.Result) tea.Cmd {
		p, ok := r.(dialog.Picked)
		if !ok {
			return nil
		}
		i, err := strconv.Atoi(p.ID)
		if err != nil {
			return nil
		}
		return m.fillInput(workflows[i-1])
	})
}

// fillInput asks for a workflow's input, where it has one.
func (m *Model) fillInput(w desk.Workflow) tea.Cmd {
	if w.Err != "" {
		return m.complain(w.Name+" cannot be started: "+w.Err, "")
	}
	if content.FieldCount(w.Input) == 0 {
		return m.start(w, nil)
	}
	return m.formPane("NEW THREAD", "Start "+w.Name, "a new thread", w.Input, nil, func(m *Model, data json.RawMessage) tea.Cmd { return m.start(w, data) })
}

func (m *Model) start(w desk.Workflow, data json.RawMessage) tea.Cmd {
	var input map[string]json.RawMessage
	if len(data) > 0 {
		if err := json.Unmarshal(data, &input); err != nil {
			return m.complain("start "+w.Name+": the input is no object: "+err.Error(), "")
		}
	}
	ctx, d := m.ctx, m.desk
	return tea.Batch(m.say("starting "+w.Name+" ..."), func() tea.Msg {
		r, err := d.Start(ctx, desk.StartRequest{File: w.File, Input: input}, true)
		return startedThread{w.Name, r, err}
	})
}

type startedThread struct {
	name   string
	result *desk.Result
	err    error
}

func (s startedThread) apply(m *Model) tea.Cmd {
	if s.err != nil {
		return m.complain("start "+s.name+": "+s.err.Error(), "")
	}
	m.note("started "+s.name, s.result.Thread)
	m.quiet()
	return tea.Batch(m.openThread(s.result.Thread), m.inbox.Wake(s.result.Thread))
}

// openStateEditor edits the state at the head as a new step.
func (m *Model) openStateEditor() tea.Cmd {
	d, state := m.history.Thread(), m.history.State()
	switch {
	case m.opts.ReadOnly:
		return m.warn("read-only: nothing is changed from here")
	case d == nil:
		return m.warn("nothing is read yet")
	case !m.history.AtHead():
		return m.warn("only the state at the last step can be edited; F forks from here")
	case state == nil:
		return m.warn("the state is not shown: Enter shows it")
	}
	state = state.Whole()
	before, err := json.Marshal(state.State)
	if err != nil {
		return m.complain("the state cannot be edited: "+err.Error(), d.ID)
	}
	info, _ := actions.Describe(actions.Edit)
	version := fmt.Sprintf("%d.%d", state.Step, state.Revision)
	p := &pane{}
	p.Pane = editorpane.New(m.theme, m.keys, editorpane.Config{
		Heading: "EDIT THE STATE as a new step",
		Question: desk.Question{Workflow: d.Workflow, Question: actions.Question{
			Kind: actions.EditKind, Title: "State at step " + fmt.Sprint(state.Step), Content: before}},
		Choice: desk.Choice{Info: info, Allowed: true, Leads: "a new step"},
	})
	p.send = func(m *Model, data json.RawMessage, _ guard.Ticket) tea.Cmd {
		return m.patch(p, d.ID, version, state.State, data)
	}
	return m.showPane(p, nil)
}

// patch writes the keys that were changed.
func (m *Model) patch(p *pane, thread, version string, before map[string]json.RawMessage, data json.RawMessage) tea.Cmd {
	updates, err := changedKeys(before, data)
	if err != nil {
		p.SetError(err.Error())
		return nil
	}
	if len(updates) == 0 {
		p.SetError("nothing is changed")
		return nil
	}
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		_, err := d.Patch(ctx, desk.Change{Thread: thread, Updates: updates, Version: version})
		return patched{pane: p, thread: thread, keys: len(updates), err: err}
	}
}

type patched struct {
	pane   *pane
	thread string
	keys   int
	err    error
}

func (x patched) apply(m *Model) tea.Cmd {
	if x.err != nil {
		if m.pane != nil && m.pane == x.pane {
			m.pane.SetError(x.err.Error())
			return nil
		}
		return m.complain("edit the state: "+x.err.Error(), x.thread)
	}
	if m.pane == x.pane {
		m.pane = nil
	}
	return tea.Batch(m.say(plural(x.keys, "key changed: a new step is written", "keys changed: a new step is written")), m.history.Wake(x.thread),
		m.inbox.Wake(x.thread))
}

// changedKeys is what differs between a state and its edited form. A key taken out is set to null.
func changedKeys(before map[string]json.RawMessage, data json.RawMessage) (map[string]json.RawMessage, error) {
	var wrapped struct {
		Edited *map[string]json.RawMessage `json:"edited"`
	}
	var after map[string]json.RawMessage
	if err := json.Unmarshal(data, &after); err != nil {
		return nil, fmt.Errorf("the state has to be a JSON object: %w", err)
	}
	if json.Unmarshal(data, &wrapped) == nil && wrapped.Edited != nil {
		after = *wrapped.Edited
	}
	updates := map[string]json.RawMessage{}
	for k, v := range after {
		if old, ok := before[k]; !ok || content.Indent(old) != content.Indent(v) {
			updates[k] = v
		}
	}
	for k := range before {
		if _, ok := after[k]; !ok {
			updates[k] = json.RawMessage("null")
		}
	}
	return updates, nil
}

// boundsSchema is the form of the retention page.
const boundsSchema = `{"type":"object","properties":{
 "older_than":{"type":"string","maxLength":60,"title":"older than","description":"30d, 12h, 8w or a date"},
 "before_step":{"type":"string","maxLength":20,"title":"before step","description":"a number"},
 "finished":{"type":"string","maxLength":60,"title":"finished before","description":"whole threads that ended; 90d or a date"},
 "status":{"type":"string","maxLength":120,"title":"status","description":"done,failed; empty is any"},
 "workflow":{"type":"string","maxLength":120,"title":"workflow","description":"names, comma between; empty is any"}}}`

type boundsForm struct {
	OlderThan  string `json:"older_than"`
	BeforeStep string `json:"before_step"`
	Finished   string `json:"finished"`
	Status     string `json:"status"`
	Workflow   string `json:"workflow"`
}

// openBounds asks for the bounds of retention.
func (m *Model) openBounds() tea.Cmd {
	prefill, _ := json.Marshal(boundsForm(m.prune.Limits()))
	return m.formPane("BOUNDS", "an age, a step or an end, and what else", "the preview", json.RawMessage(boundsSchema), prefill,
		func(m *Model, data json.RawMessage) tea.Cmd {
			var f boundsForm
			if err := json.Unmarshal(data, &f); err != nil {
				return m.complain("bounds: "+err.Error(), "")
			}
			return m.prune.SetLimits(retention.Limits(f))
		})
}
