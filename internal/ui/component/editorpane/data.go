package editorpane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Data is the answer's data as it would be sent, checked against the question. nil: none.
func (p *Pane) Data() (json.RawMessage, error) {
	data, err := p.compose()
	if err != nil {
		return nil, err
	}
	if size := len(data); size > actions.MaxSize {
		return nil, &actions.SizeError{What: "response data", Size: size, Limit: actions.MaxSize}
	}
	_, err = actions.Validate(p.cfg.Question.Whole().Question, p.cfg.Choice.Action, data)
	return data, err
}

// compose makes the data of what is typed.
func (p *Pane) compose() (json.RawMessage, error) {
	switch p.cfg.Choice.Data {
	case actions.NoData:
		return nil, nil
	case actions.OptionalText:
		if p.text.Empty() {
			return nil, nil
		}
		return quote(p.text.Value()), nil
	case actions.RequiredText, actions.AnyText:
		return quote(p.text.Value()), nil
	case actions.Option:
		return p.composeOption()
	}
	value, err := p.composeValue()
	if err != nil {
		return nil, err
	}
	comment := ""
	if p.comment != nil {
		comment = p.comment.Value()
	}
	switch p.cfg.Choice.Data {
	case actions.Content, actions.OptionalContent:
		return actions.WrapContent(p.cfg.Question.Whole().Question, value, comment)
	}
	if comment != "" && len(value) > 0 {
		return withComment(value, comment), nil
	}
	return value, nil
}

func (p *Pane) composeOption() (json.RawMessage, error) {
	if len(p.cfg.Chosen) == 0 {
		return nil, fmt.Errorf("no option is picked: go back and pick one with %s", p.cfg.Choice.Key)
	}
	if p.text.Empty() {
		return p.cfg.Chosen, nil
	}
	return json.RawMessage(`{"choice":` + string(p.cfg.Chosen) + `,"comment":` + string(quote(p.text.Value())) + `}`), nil
}

// composeValue is the content, form or JSON alone.
func (p *Pane) composeValue() (json.RawMessage, error) {
	switch p.mode {
	case textMode:
		return quote(p.text.Value()), nil
	case formMode:
		return p.form.Value(), nil
	}
	return compactJSON(p.raw.Value())
}

// withComment puts a comment into an object, beside its other keys.
func withComment(object json.RawMessage, comment string) json.RawMessage {
	trimmed := bytes.TrimSpace(object)
	if len(trimmed) < 2 || trimmed[0] != '{' {
		return object
	}
	inner := bytes.TrimSpace(trimmed[1 : len(trimmed)-1])
	out := append([]byte("{"), inner...)
	if len(inner) > 0 {
		out = append(out, ',')
	}
	return append(append(append(out, `"comment":`...), quote(comment)...), '}')
}

// compactJSON reads JSON that was typed. The error names line and column.
func compactJSON(s string) (json.RawMessage, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		// Compact gives no place; a decoder does.
		var any json.RawMessage
		at := int64(len(s))
		if syntax, ok := json.Unmarshal([]byte(s), &any).(*json.SyntaxError); ok {
			at = min(syntax.Offset, at)
		}
		before := s[:at]
		line := strings.Count(before, "\n") + 1
		column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
		return nil, fmt.Errorf("not valid JSON at line %d, column %d: %v", line, max(column, 1), err)
	}
	return b.Bytes(), nil
}

// Left is how many bytes may still be typed; below 0 it is too much. Where raw JSON is not valid it is an estimate.
func (p *Pane) Left() int { return actions.MaxSize - p.size() }

func (p *Pane) size() int {
	if p.mode == textMode && p.cfg.Choice.Data != actions.Option {
		n := p.text.JSONSize() + p.wrap
		if p.comment != nil && !p.comment.Empty() {
			n += len(`,"comment":`) + p.comment.JSONSize()
		}
		if p.text.Empty() && p.cfg.Choice.Data == actions.OptionalText {
			return 0
		}
		return n
	}
	data, err := p.compose()
	if err != nil {
		return len(p.raw.Value()) + p.wrap
	}
	return len(data)
}

// toggleRaw goes from text or form to raw JSON and back, and loses nothing: what the other cannot show keeps it here
// and says why.
func (p *Pane) toggleRaw() {
	p.error = ""
	if p.secret() {
		p.error = "a secret is not shown as JSON"
		return
	}
	if p.mode != rawMode {
		if !p.hasContent() {
			p.error = "a comment is plain text: there is no JSON to show"
			return
		}
		value, _ := p.composeValue()
		text := indent(value)
		if p.turned.typed != "" && string(value) == p.turned.became {
			text = p.turned.typed // as it was written, spaces and all
		}
		p.raw.SetValue(text)
		p.turned.made, p.turned.from = text, p.mode
		p.mode = rawMode
		p.settle()
		return
	}
	if p.turned.made != "" && p.raw.Value() == p.turned.made {
		p.mode = p.turned.from // nothing was changed, so what is half typed there is as it was
		p.settle()
		return
	}
	value, err := compactJSON(p.raw.Value())
	if err != nil {
		p.error = err.Error()
		return
	}
	var s string
	switch {
	case p.form != nil:
		if len(value) == 0 {
			value = p.form.Empty()
		}
		if err := p.form.SetValue(value); err != nil {
			p.error = err.Error()
			return
		}
		p.mode = formMode
	case json.Unmarshal(value, &s) == nil && len(value) > 0 && value[0] == '"':
		p.text.SetValue(s)
		p.mode = textMode
	default:
		p.error = "this is raw JSON already: its schema has no fields to show as a form"
		return
	}
	became, _ := p.composeValue()
	p.turned.typed, p.turned.became = p.raw.Value(), string(became)
	p.settle()
}

// turned is what is remembered of the last change between form or text and raw JSON, so that going there and back loses
// nothing.
type turned struct {
	made   string // the JSON that was made of what was typed
	from   mode   // where that was
	typed  string // the JSON as it was typed
	became string // and what the form made of it
}

// settle gives the new body its size and the focus.
func (p *Pane) settle() {
	p.SetSize(p.w, p.h)
	p.setFocus(onBody)
}

func quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimSpace(b.Bytes())
}

func indent(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") != nil {
		return string(v)
	}
	return b.String()
}
