// Package editorpane is the pane in which an answer is written: a text, a form made from the question's schema, or
// raw JSON, beside what is being answered.
//
// It checks what is written against the question and counts the bytes that are left, but sends nothing: every key
// gives a Result on which its owner acts. It never decides by a key that also types: only ctrl+s and Enter on [Send].
package editorpane

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/form"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/textarea"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Config says what is answered, and how.
type Config struct {
	Question desk.Question
	Choice   desk.Choice     // the action and where it leads
	Chosen   json.RawMessage // for choose: the option, or list of options, picked before
	Draft    *desk.Draft     // what was typed before, nil for nothing
	Heading  string          // instead of the action's name, where no question is answered
	Grace    time.Duration   // how long an answer can be taken back

	// Body draws what is asked at a width; nil draws message and content simply.
	Body func(th *theme.Theme, w int) pager.Source
}

// Result is what a key led to. It is one of the types below.
type Result interface{ result() }

// The results.
type (
	// Stay: the pane goes on.
	Stay struct{}
	// Back: leave the pane; what is typed is to be kept as a draft.
	Back struct{}
	// Send: the answer is complete and valid.
	Send struct{ Data json.RawMessage }
	// External: open Text in an editor, and give what comes back to SetText.
	External struct {
		Text      string
		Extension string // of the file, ".md"
	}
	// Copy: put Text on the clipboard.
	Copy struct{ Text string }
	// Discard: ask whether to throw the draft away.
	Discard struct{}
	// Suspend: suspend the program.
	Suspend struct{}
	// Interrupt: ctrl+c; once is as Back.
	Interrupt struct{}
)

func (Stay) result()      {}
func (Back) result()      {}
func (Send) result()      {}
func (External) result()  {}
func (Copy) result()      {}
func (Discard) result()   {}
func (Suspend) result()   {}
func (Interrupt) result() {}

type mode int

const (
	textMode mode = iota
	formMode
	rawMode
)

type stop int

const (
	onBody stop = iota
	onComment
	onSend
)

// Pane is the pane. Make one with New.
type Pane struct {
	theme *theme.Theme
	keys  *keymap.Map
	cfg   Config

	mode    mode
	text    *textarea.Area // of text mode
	raw     *textarea.Area // of raw mode
	form    *form.Form     // nil: none can be made
	comment *textarea.Area // nil: none is asked for beside the content
	turned  turned
	focus   stop
	start   string // draft text at the start, to know what has been typed

	sides  sides
	saved  time.Time
	notice string
	error  string
	block  bool
	wrap   int // bytes around the content
	w, h   int
	shared layout // made by SetSize, after whatever changes it
}

// New opens the pane of an action at a question.
func New(th *theme.Theme, keys *keymap.Map, cfg Config) *Pane {
	p := &Pane{theme: th, keys: keys, cfg: cfg, text: textarea.New(th), raw: textarea.New(th)}
	p.prepare()
	p.text.SetMask(p.masked())
	if cfg.Choice.NeedsComment && p.hasContent() {
		p.comment = textarea.New(th)
		p.comment.SetPlaceholder("comment, required")
	}
	p.start = p.Text()
	if d := cfg.Draft; d != nil && d.Text != "" {
		p.restore(*d)
		p.saved = d.Saved
	}
	p.sides = newSides(th, cfg)
	p.setFocus(onBody)
	return p
}

// hasContent says whether something else than a text or comment is written.
func (p *Pane) hasContent() bool {
	switch p.cfg.Choice.Data {
	case actions.Content, actions.OptionalContent, actions.Form, actions.AnyJSON:
		return true
	}
	return false
}

// prepare chooses the mode and fills in what is there at the start.
func (p *Pane) prepare() {
	q := p.cfg.Question.Whole()
	switch p.cfg.Choice.Data {
	case actions.Content, actions.OptionalContent:
		var s string
		if json.Unmarshal(q.Content, &s) == nil && strings.HasPrefix(string(q.Content), `"`) {
			p.text.SetValue(s)
		} else {
			p.makeForm(q.Content)
		}
		if w, err := actions.WrapContent(q.Question, json.RawMessage(`""`), ""); err == nil {
			p.wrap = len(w) - len(`""`)
		}
	case actions.Form, actions.AnyJSON:
		p.makeForm(q.Prefill)
	}
}

// makeForm makes a form of the question's schema, or leaves raw JSON where none can be made.
func (p *Pane) makeForm(value json.RawMessage) {
	p.mode = rawMode
	p.raw.SetValue(indent(value))
	q := p.cfg.Question.Whole()
	if len(q.Schema) == 0 {
		return
	}
	schema, err := actions.CompileSchema(q.Schema)
	if err != nil {
		p.error = err.Error()
		return
	}
	f := form.New(p.theme, schema)
	if f.Len() == 0 || len(value) > 0 && f.Prefill(value) != nil {
		return
	}
	p.form, p.mode = f, formMode
}

// commentMark separates content and comment in the text of a draft.
const commentMark = "\n\f\n"

func (p *Pane) restore(d desk.Draft) {
	text := d.Text
	if at := strings.LastIndex(text, commentMark); at >= 0 && p.comment != nil {
		p.comment.SetValue(text[at+len(commentMark):])
		text = text[:at]
	}
	switch {
	case !d.Raw && p.mode == textMode:
		p.text.SetValue(text)
		p.text.MoveToEnd()
	case p.form != nil && p.form.SetValue(json.RawMessage(text)) == nil:
		p.mode = formMode
	default:
		p.mode = rawMode
		p.raw.SetValue(text)
		p.raw.MoveToEnd()
	}
}

// Text is what is to be kept as a draft: the text, or the JSON of form and raw mode, and the comment.
func (p *Pane) Text() string {
	text := p.body()
	if p.comment != nil && !p.comment.Empty() {
		text += commentMark + p.comment.Value()
	}
	return text
}

func (p *Pane) body() string {
	switch p.mode {
	case formMode:
		return string(p.form.Value())
	case rawMode:
		return p.raw.Value()
	}
	return p.text.Value()
}

// Draft is what is typed, ready to be kept. Its text is empty where nothing has been changed, and where a field of
// the form is secret.
func (p *Pane) Draft() desk.Draft {
	q := p.cfg.Question
	d := desk.NewDraft(q)
	d.Action, d.Raw = string(p.cfg.Choice.Action), p.mode != textMode
	if p.cfg.Draft != nil {
		d.Hash = p.cfg.Draft.Hash
	}
	if p.Dirty() && !p.secret() {
		d.Text = p.Text()
	}
	return d
}

func (p *Pane) secret() bool { return p.masked() || p.form != nil && p.form.Secret() }

// masked says whether the text itself is the secret: the value of a question whose schema calls it so.
func (p *Pane) masked() bool {
	q := p.cfg.Question
	if q.Kind != actions.Text || !q.IsSecret() {
		return false
	}
	return p.cfg.Choice.Data == actions.RequiredText || p.cfg.Choice.Data == actions.AnyText
}

// Dirty says whether anything differs from what was there at the start.
func (p *Pane) Dirty() bool { return p.Text() != p.start }

// SetText takes back what an external editor made of it.
func (p *Pane) SetText(s string) {
	p.error = ""
	switch p.mode {
	case textMode:
		p.text.SetValue(s)
	case rawMode:
		p.raw.SetValue(s)
	case formMode:
		if p.form.SetValue(json.RawMessage(s)) != nil {
			p.mode = rawMode
			p.raw.SetValue(s)
		}
	}
	p.SetSize(p.w, p.h)
}

// SetSaved shows when the draft was kept.
func (p *Pane) SetSaved(at time.Time) {
	p.saved = at
	p.SetSize(p.w, p.h)
}

// SetNotice shows what happened meanwhile; block switches sending off. "" takes it away.
func (p *Pane) SetNotice(text string, block bool) {
	p.notice, p.block = text, block
	p.SetSize(p.w, p.h)
}

// SetError shows why the answer was refused.
func (p *Pane) SetError(text string) {
	p.error = text
	p.SetSize(p.w, p.h)
}

// SetTheme changes the styles.
func (p *Pane) SetTheme(th *theme.Theme) {
	p.theme = th
	p.text.SetTheme(th)
	p.raw.SetTheme(th)
	if p.form != nil {
		p.form.SetTheme(th)
	}
	if p.comment != nil {
		p.comment.SetTheme(th)
	}
	p.sides.setTheme(th)
	p.SetSize(p.w, p.h)
}

// Scope is the scope of the pane's keys.
func (p *Pane) Scope() command.Scope { return command.Editor }

// Choice is the action that is being answered with.
func (p *Pane) Choice() desk.Choice { return p.cfg.Choice }

// Question is the question that is being answered.
func (p *Pane) Question() desk.Question { return p.cfg.Question }

// Update takes a key or a paste.
func (p *Pane) Update(msg tea.Msg) Result {
	r := p.update(msg)
	p.SetSize(p.w, p.h) // an error line may have come or gone
	return r
}

func (p *Pane) update(msg tea.Msg) Result {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		if id, ok := p.keys.In(key, command.Editor); ok {
			if r, done := p.run(id); done {
				return r
			}
		}
	}
	p.typed(msg)
	return Stay{}
}

func (p *Pane) typed(msg tea.Msg) {
	took := false
	switch {
	case p.focus == onSend:
	case p.focus == onComment:
		took = p.comment.Update(msg)
	case p.mode == formMode:
		took = p.form.Update(msg)
	case p.mode == rawMode:
		took = p.raw.Update(msg)
	default:
		took = p.text.Update(msg)
	}
	if took {
		p.error = ""
	}
}

// run does a command; false leaves the key to the field that has the focus.
func (p *Pane) run(id command.ID) (Result, bool) {
	switch id {
	case command.EditorSend:
		return p.send(), true
	case command.EditorBack:
		return Back{}, true
	case command.EditorInterrupt:
		return Interrupt{}, true
	case command.EditorSuspend:
		return Suspend{}, true
	case command.EditorDiscard:
		return Discard{}, true
	case command.EditorExternal:
		return p.external(), true
	case command.EditorCopy:
		if p.secret() {
			p.error = "a secret is not copied"
			return nil, true
		}
		return Copy{p.body()}, true
	case command.EditorNext:
		p.step(1)
	case command.EditorPrev:
		p.step(-1)
	case command.EditorSide:
		p.sides.cycle(p.narrow())
	case command.EditorRaw:
		p.toggleRaw()
	case command.EditorUp:
		p.sides.scroll(-1)
	case command.EditorDown:
		p.sides.scroll(1)
	case command.EditorNewLine:
		return p.enter()
	case command.EditorAddItem, command.EditorRemoveItem, command.EditorRestoreItem, command.EditorItemUp, command.EditorItemDown:
		p.item(id)
	default:
		return Stay{}, false
	}
	return Stay{}, true
}

// item changes the list in which the focus of the form is.
func (p *Pane) item(id command.ID) {
	if p.focus != onBody || p.mode != formMode {
		p.error = "there are no items here: they are in the lists of a form"
		return
	}
	var err error
	switch id {
	case command.EditorAddItem:
		err = p.form.Add()
	case command.EditorRemoveItem:
		err = p.form.Remove()
	case command.EditorRestoreItem:
		err = p.form.Restore()
	case command.EditorItemUp:
		err = p.form.Shift(-1)
	case command.EditorItemDown:
		err = p.form.Shift(1)
	}
	p.error = ""
	if err != nil {
		p.error = err.Error()
	}
}

// enter sends on [Send], moves on in a form, and is a new line elsewhere.
func (p *Pane) enter() (Result, bool) {
	switch {
	case p.focus == onSend:
		return p.send(), true
	case p.focus == onBody && p.mode == formMode && !p.form.Multiline():
		p.step(1)
		return Stay{}, true
	}
	return Stay{}, false
}

func (p *Pane) external() Result {
	if p.secret() {
		p.error = "a secret is not written to a file"
		return Stay{}
	}
	ext := ".json"
	if p.mode == textMode {
		ext = ".txt"
		if p.cfg.Question.ContentType == "markdown" || !p.hasContent() {
			ext = ".md"
		}
	}
	text := p.body()
	if p.mode != textMode {
		text = indent(json.RawMessage(text))
	}
	return External{Text: text, Extension: ext}
}

func (p *Pane) send() Result {
	if p.block {
		p.error = "sending is off: " + p.notice
		return Stay{}
	}
	data, err := p.Data()
	if err == nil {
		p.error = ""
		return Send{data}
	}
	p.error = err.Error()
	var bad *actions.DataError
	if errors.As(err, &bad) && p.form != nil && p.mode == formMode {
		if rest := p.form.SetProblems(bad.Problems); len(rest) == 0 && len(bad.Problems) > 0 {
			p.error = "not sent: see the marked field"
		}
		p.setFocus(onBody)
	}
	return Stay{}
}
