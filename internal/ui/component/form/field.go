package form

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/textarea"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// field is one control. Text, numbers and raw JSON are typed into text; the others are picked among options. What an
// option field is given that is none of its options stays in odd and is given back.
type field struct {
	spec    actions.Field
	text    *textarea.Area
	options []actions.OptionItem
	picked  []int // of options
	at      int   // option under the cursor of a multiselect
	odd     json.RawMessage
	touched bool
	given   json.RawMessage // the value that was put in, for as long as it is not changed
	asText  string
	preset  bool // it holds the default and nobody has touched it
}

// rowsOfText is the height of a text field of many lines.
const rowsOfText = 4

func newField(th *theme.Theme, s actions.Field) *field {
	f := &field{spec: s, options: s.Options}
	if f.multiline() {
		f.text = textarea.New(th)
	} else {
		f.text = textarea.NewLine(th)
	}
	f.text.SetMask(s.Secret)
	if s.Kind == actions.BooleanField {
		f.options = []actions.OptionItem{{Value: json.RawMessage("true"), Label: "yes"},
			{Value: json.RawMessage("false"), Label: "no"}}
	}
	return f
}

func (f *field) multiline() bool {
	return f.spec.Kind == actions.RawField || f.spec.Kind == actions.ListField || f.spec.Kind == actions.TextField && f.spec.Multiline && !f.spec.Secret
}

// isPick says whether the field is picked among options.
func (f *field) isPick() bool {
	switch f.spec.Kind {
	case actions.BooleanField, actions.SelectField, actions.ManyField:
		return true
	}
	return false
}

func (f *field) many() bool { return f.spec.Kind == actions.ManyField }

func (f *field) setWidth(w int) {
	h := 1
	if f.multiline() {
		h = rowsOfText
	}
	f.text.SetSize(max(w-2, 1), h)
}

func (f *field) clear() {
	f.picked, f.odd, f.touched, f.given, f.preset = nil, nil, false, nil, false
	f.text.SetValue("")
}

// set shows a value. A value of the wrong type is shown as it is written, so that it can be put right.
func (f *field) set(v json.RawMessage) {
	f.clear()
	f.touched = true
	if f.isPick() {
		f.setPick(v)
		return
	}
	var s string
	switch {
	case f.spec.Kind == actions.RawField:
		f.text.SetValue(indent(v))
	case f.spec.Kind == actions.ListField:
		f.text.SetValue(linesOf(v))
	case string(v) == "null" && f.spec.Nullable:
		f.touched = false
	case json.Unmarshal(v, &s) == nil && string(v) != "null":
		f.text.SetValue(s)
	default:
		f.text.SetValue(string(v))
	}
	f.text.MoveToEnd()
	f.given, f.asText = v, f.text.Value()
}

func (f *field) setPick(v json.RawMessage) {
	f.given = v
	values := []json.RawMessage{v}
	if f.many() {
		values = nil
		if string(v) == "null" || json.Unmarshal(v, &values) != nil {
			f.odd = v
			return
		}
	}
	for _, one := range values {
		i := slices.IndexFunc(f.options, func(o actions.OptionItem) bool { return same(o.Value, one) })
		if i < 0 {
			f.picked, f.odd = nil, v
			return
		}
		f.picked = append(f.picked, i)
	}
}

// value is the field's JSON; false leaves it out. What does not read as the field's type is given as text: the
// schema then says what is wrong with it.
func (f *field) value() (json.RawMessage, bool) {
	if f.isPick() {
		return f.pickValue()
	}
	s := f.text.Value()
	if f.given != nil && s == f.asText {
		return f.given, true
	}
	if s == "" {
		switch {
		case f.spec.Nullable && f.spec.Required:
			return json.RawMessage("null"), true
		case f.spec.Kind == actions.ListField && (f.touched || f.spec.Required):
			return json.RawMessage("[]"), true
		case f.spec.Kind == actions.TextField && f.touched && (f.spec.Required || f.given != nil):
			return json.RawMessage(`""`), true
		}
		return nil, false
	}
	switch f.spec.Kind {
	case actions.NumberField, actions.IntegerField:
		if n := strings.TrimSpace(s); isNumber(n) {
			return json.RawMessage(n), true
		}
	case actions.ListField:
		return f.list(s), true
	case actions.RawField:
		var b bytes.Buffer
		if json.Compact(&b, []byte(s)) == nil {
			return b.Bytes(), true
		}
	}
	return quote(s), true
}

func (f *field) pickValue() (json.RawMessage, bool) {
	switch {
	case f.given != nil:
		return f.given, true
	case f.many() && (f.touched || f.spec.Required):
		var b bytes.Buffer
		b.WriteByte('[')
		for i, p := range slices.Sorted(slices.Values(f.picked)) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(f.options[p].Value)
		}
		b.WriteByte(']')
		return b.Bytes(), true
	case len(f.picked) > 0:
		return f.options[f.picked[0]].Value, true
	case f.spec.Nullable && f.spec.Required:
		return json.RawMessage("null"), true
	}
	return nil, false
}

func (f *field) update(msg tea.Msg) bool {
	if f.isPick() {
		key, ok := msg.(tea.KeyPressMsg)
		took := ok && f.pickKey(key.String())
		f.preset = f.preset && !took
		return took
	}
	if key, ok := msg.(tea.KeyPressMsg); ok && !f.multiline() && (key.String() == "up" || key.String() == "down") {
		return false
	}
	if !f.text.Update(msg) {
		return false
	}
	f.touched, f.preset = true, f.preset && f.text.Value() == f.asText
	return true
}

func (f *field) pickKey(key string) bool {
	n := len(f.options)
	if n == 0 {
		return false
	}
	if f.many() {
		switch key {
		case "right":
			f.at = (f.at + 1) % n
		case "left":
			f.at = (f.at + n - 1) % n
		case "space":
			f.flip(f.at)
		default:
			return false
		}
		return true
	}
	now := -1
	if len(f.picked) > 0 {
		now = f.picked[0]
	}
	switch {
	case key == "right" || key == "space":
		f.pick((now + 1) % n)
	case key == "left":
		f.pick((max(now, 0) + n - 1) % n)
	case key == "y" && f.spec.Kind == actions.BooleanField:
		f.pick(0)
	case key == "n" && f.spec.Kind == actions.BooleanField:
		f.pick(1)
	case (key == "backspace" || key == "delete") && !f.spec.Required:
		f.clear()
	default:
		return false
	}
	return true
}

func (f *field) pick(i int) { f.picked, f.odd, f.given, f.touched = []int{i}, nil, nil, true }

func (f *field) flip(i int) {
	f.odd, f.given, f.touched = nil, nil, true
	if at := slices.Index(f.picked, i); at >= 0 {
		f.picked = slices.Delete(f.picked, at, at+1)
	} else {
		f.picked = append(f.picked, i)
	}
}

func isNumber(s string) bool {
	var n json.Number
	return json.Unmarshal([]byte(s), &n) == nil && s != "null" && !strings.HasPrefix(s, `"`)
}

func same(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if isNumber(string(a)) && isNumber(string(b)) {
		return sameNumber(string(a), string(b))
	}
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// sameNumber compares what numbers are worth: 1 and 1.0 are one.
func sameNumber(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return a == b || err1 == nil && err2 == nil && x == y && max(len(a), len(b)) < 16
}

func indent(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") != nil {
		return string(v)
	}
	return b.String()
}

// list is the items typed, one on a line. What is written as a JSON list is that list.
func (f *field) list(s string) json.RawMessage {
	var b bytes.Buffer
	if strings.HasPrefix(strings.TrimSpace(s), "[") && json.Compact(&b, []byte(s)) == nil {
		return b.Bytes()
	}
	b.Reset()
	b.WriteByte('[')
	for i, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item(f.spec.Items, line))
	}
	b.WriteByte(']')
	return b.Bytes()
}

// item is one item of a list. What does not read as its type is given as text: the schema then says what is wrong.
func item(kind actions.FieldKind, line string) json.RawMessage {
	trimmed := strings.TrimSpace(line)
	switch kind {
	case actions.NumberField, actions.IntegerField:
		if isNumber(trimmed) {
			return json.RawMessage(trimmed)
		}
	case actions.BooleanField:
		switch strings.ToLower(trimmed) {
		case "yes", "true":
			return json.RawMessage("true")
		case "no", "false":
			return json.RawMessage("false")
		}
	}
	return quote(line)
}

// linesOf is a list with an item on a line, or JSON where an item has no place on one.
func linesOf(v json.RawMessage) string {
	var items []json.RawMessage
	if json.Unmarshal(v, &items) != nil {
		return indent(v)
	}
	lines := make([]string, len(items))
	for i, one := range items {
		var s string
		switch {
		case len(one) == 0 || one[0] == '{' || one[0] == '[' || string(one) == "null":
			return indent(v)
		case one[0] != '"':
			lines[i] = string(one)
		case json.Unmarshal(one, &s) != nil || s == "" || strings.ContainsAny(s, "\n\r") || i == 0 && strings.HasPrefix(strings.TrimSpace(s), "["):
			return indent(v)
		default:
			lines[i] = s
		}
	}
	return strings.Join(lines, "\n")
}

// about is the description of the option at the cursor, or of the picked one.
func (f *field) about() string {
	switch {
	case f.many() && f.at < len(f.options):
		return f.options[f.at].Description
	case !f.many() && len(f.picked) > 0:
		return f.options[f.picked[0]].Description
	}
	return ""
}
