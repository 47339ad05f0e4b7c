package actions

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Validate checks an answer against the question it is for and brings it into its canonical form. q must have its
// content filled in (see Question). data is any JSON or nothing; it is never altered.
//
// Answer.Value by action:
//
//   - approve: the content, true if there is none; reject: false if there is no content, else null
//   - choose: the value of the option, a list of values where the question says multiple
//   - respond, text_input, reply: the text; of a text question with a schema what the schema makes of it
//   - edit: the edited content; save: that, or the present content where none is given
//   - submit: the form, defaults filled in and scalars coerced; of a question with parts their verdicts, see Verdicts
//   - continue: the data as they are, null if there are none; under the schema of a suspend question, if it has one
//   - end: the text that came with it, or null; the engine adds it to the transcript, which becomes the value
//   - skip, retry, cancel, stop: null; feedback to a retry is the comment
//
// Errors: *UnknownError, *NotAllowedError, *SizeError, *DataError, *SchemaError where the question's own schema is
// none.
func Validate(q Question, a Action, data json.RawMessage) (Answer, error) {
	info, ok := Describe(a)
	if !ok {
		return Answer{}, &UnknownError{Name: string(a)}
	}
	if err := Blocked(q, a); err != nil {
		return Answer{}, err
	}
	var given *value // nil for none: nothing, white space or null
	if len(bytes.TrimSpace(data)) > 0 {
		v, err := parse(data)
		if err != nil {
			return Answer{}, dataError(a, "the data are not valid JSON: %v", err)
		}
		if size := len(v.compact()); size > MaxSize {
			return Answer{}, &SizeError{What: "response data", Size: size, Limit: MaxSize}
		}
		if v.kind != isNull {
			given = v
		}
	}
	in := input{question: q, action: a, data: given}
	out, comment, err := in.read(info.Data)
	if err != nil {
		return Answer{}, err
	}
	if slices.Contains(q.RequireComment, a) && strings.TrimSpace(comment) == "" {
		return Answer{}, dataError(a, "a comment is required")
	}
	if a == Submit && len(q.Parts) > 0 {
		if _, err := q.Verdicts(out); err != nil {
			return Answer{}, err
		}
	}
	return Answer{Action: a, Value: out, Comment: comment}, nil
}

// Blocked says why a cannot be taken on q whatever the data: *NotAllowedError, or, for edit and save of content that is
// itself over the limit, *SizeError. It is nil when a can be taken. q must have its content filled in.
func Blocked(q Question, a Action) error {
	if allowed := Allowed(q); !slices.Contains(allowed, a) {
		return &NotAllowedError{Action: a, Allowed: allowed}
	}
	if a != Edit && a != Save || len(q.Content) <= MaxSize {
		return nil
	}
	v, err := parse(q.Content)
	if err != nil {
		return nil // not for its size
	}
	if size := len(v.compact()); size > MaxSize {
		return &SizeError{What: "the content under review", Size: size, Limit: MaxSize, Remedy: "hitl-tui patch changes content of this size"}
	}
	return nil
}

// input is an answer being read.
type input struct {
	question Question
	action   Action
	data     *value
}

func (in input) read(kind Data) (json.RawMessage, string, error) {
	switch kind {
	case NoData, OptionalText:
		if in.action == End {
			return in.readText(kind)
		}
		return in.readComment()
	case RequiredText, AnyText:
		return in.readText(kind)
	case Option:
		return in.readOption()
	case Content, OptionalContent:
		return in.readContent(kind)
	case Form:
		return in.readForm()
	default:
		return in.readAny()
	}
}

// The keys under which data travel in the wild. A comment may stand beside any data; where no data are due the other
// words for it are understood as well.
func textKeys() []string {
	return []string{"text", "response", "message", "feedback", "content", "comment"}
}
func choiceKeys() []string  { return []string{"choice", "selection", "option", "value"} }
func contentKeys() []string { return []string{"edited", "edited_content", "content", "value"} }
func commentKeys() []string { return []string{"comment", "reason", "feedback", "message"} }

// pick takes the one member of object v whose key is among keys. Every key that is neither among them nor among
// beside is refused by name, and so are two keys of one meaning.
func (in input) pick(v *value, keys, beside []string) (*value, error) {
	var found *value
	var first string
	for _, m := range v.members {
		switch {
		case slices.Contains(beside, m.name):
		case !slices.Contains(keys, m.name):
			return nil, in.unknownKey(m.name, append(slices.Clone(keys), beside...))
		case found != nil:
			return nil, dataError(in.action, "%q and %q mean the same; give one of them", first, m.name)
		default:
			found, first = m.value, m.name
		}
	}
	return found, nil
}

func (in input) unknownKey(name string, valid []string) error {
	slices.Sort(valid)
	valid = slices.Compact(valid)
	return dataError(in.action, "the key %s is not understood%s (understood are %s)", quote(name), hint(name, valid), list(valid))
}

// readComment reads the data of actions that take nothing but a comment.
func (in input) readComment() (json.RawMessage, string, error) {
	comment, err := in.bareComment()
	if err != nil {
		return nil, "", err
	}
	switch in.action {
	case Approve:
		if in.hasContent() {
			return slices.Clone(in.question.Content), comment, nil
		}
		return json.RawMessage("true"), comment, nil
	case Reject:
		if !in.hasContent() {
			return json.RawMessage("false"), comment, nil
		}
	}
	return json.RawMessage("null"), comment, nil
}

func (in input) bareComment() (string, error) {
	switch {
	case in.data == nil:
		return "", nil
	case in.data.kind == isText:
		return in.data.text, nil
	case in.data.kind != isObject:
		return "", dataError(in.action, "takes a comment only, a text, not %s", in.data.kind)
	}
	v, err := in.pick(in.data, commentKeys(), nil)
	if err != nil {
		return "", err
	}
	return in.commentText(v)
}

func (in input) commentText(v *value) (string, error) {
	switch {
	case v == nil || v.kind == isNull:
		return "", nil
	case v.kind != isText:
		return "", dataError(in.action, "the comment must be a text, not %s", v.kind)
	}
	return v.text, nil
}

func (in input) hasContent() bool {
	c := bytes.TrimSpace(in.question.Content)
	return len(c) > 0 && !bytes.Equal(c, []byte("null"))
}

// readText reads a text: bare, or under one of its keys. Alone, `comment` is the text; beside another key it is the
// comment.
func (in input) readText(kind Data) (json.RawMessage, string, error) {
	text, comment := in.data, ""
	if text != nil && text.kind == isObject {
		keys, beside := textKeys(), []string{}
		if slices.ContainsFunc(text.members, func(m member) bool { return m.name != "comment" }) {
			beside = []string{"comment"}
			keys = slices.DeleteFunc(keys, func(k string) bool { return k == "comment" })
		}
		v, err := in.pick(text, keys, beside)
		if err != nil {
			return nil, "", err
		}
		if len(beside) > 0 {
			if comment, err = in.commentText(text.get("comment")); err != nil {
				return nil, "", err
			}
		}
		text = v
	}
	if in.question.Kind == Text && len(in.question.Schema) > 0 && (in.action == Respond || in.action == TextInput) {
		out, err := in.complete(text)
		return out, comment, err
	}
	switch {
	case text == nil || text.kind == isNull:
		if in.action == End {
			return json.RawMessage("null"), comment, nil
		}
		return nil, "", dataError(in.action, "a text is required")
	case text.kind != isText:
		return nil, "", dataError(in.action, "must be a text, not %s", text.kind)
	case kind == RequiredText && strings.TrimSpace(text.text) == "":
		return nil, "", dataError(in.action, "the text must not be empty")
	}
	return text.compact(), comment, nil
}

// complete checks v against the question's schema; nil stands for nothing given.
func (in input) complete(v *value) (json.RawMessage, error) {
	schema, err := CompileSchema(in.question.Schema)
	if err != nil {
		return nil, err
	}
	out, bad := schema.complete(v)
	if bad != nil {
		bad.Action = in.action
		return nil, bad
	}
	return out, nil
}

// readContent reads edited content: bare, or under one of its keys. Where the content is an object, a key counts as
// wrapping only when the content itself has no such key and what it wraps is an object; WrapContent finds one that
// does.
func (in input) readContent(kind Data) (json.RawMessage, string, error) {
	original, err := in.original()
	if err != nil {
		return nil, "", err
	}
	content, comment := in.data, ""
	if content != nil && content.kind == isObject && in.wraps(content, original) {
		if comment, err = in.commentText(content.get("comment")); err != nil {
			return nil, "", err
		}
		if content, err = in.pick(content, contentKeys(), []string{"comment"}); err != nil {
			return nil, "", err
		}
	}
	if content == nil {
		switch {
		case kind == Content:
			return nil, "", dataError(in.action, "the edited content is required")
		case original == nil:
			return json.RawMessage("null"), comment, nil
		}
		return slices.Clone(in.question.Content), comment, nil
	}
	if err := in.sameType(content, original); err != nil {
		return nil, "", err
	}
	if err := in.checkContent(content); err != nil {
		return nil, "", err
	}
	return content.compact(), comment, nil
}

// sameType holds an edited content to the type of the original, if that has one.
func (in input) sameType(content, original *value) error {
	if original != nil && original.kind != isNull && content.kind != original.kind {
		return dataError(in.action, "the content is %s and must stay one, not become %s", original.kind, content.kind)
	}
	return nil
}

func (in input) original() (*value, error) {
	if len(in.question.Content) == 0 {
		return nil, nil
	}
	v, err := parse(in.question.Content)
	if err != nil {
		return nil, dataError(in.action, "the content of the question is not valid JSON: %v", err)
	}
	return v, nil
}

// wraps says whether the object v holds the edited content under a key rather than being it.
func (in input) wraps(v, original *value) bool {
	if original != nil && original.kind != isNull && original.kind != isObject {
		return true
	}
	var key string
	for _, m := range v.members {
		switch {
		case m.name == "comment":
		case key != "" || !slices.Contains(contentKeys(), m.name):
			return false
		default:
			key = m.name
		}
	}
	if original == nil || original.kind == isNull {
		return key != "" || len(v.members) > 0
	}
	if key == "" { // only a comment: to a save it is one, unless the content itself has such a key
		return in.action == Save && len(v.members) > 0 && original.get("comment") == nil
	}
	return original.get(key) == nil && v.get(key).kind == isObject
}

// WrapContent writes edited content and a comment so that Validate reads back exactly these two. It fails for content
// of another type than the original, and for one which itself has all keys that could wrap it, when a comment is to go
// with it.
func WrapContent(q Question, edited json.RawMessage, comment string) (json.RawMessage, error) {
	in := input{question: q, action: Edit}
	original, err := in.original()
	if err != nil {
		return nil, err
	}
	v, err := parse(edited)
	if err != nil {
		return nil, dataError(Edit, "the data are not valid JSON: %v", err)
	}
	if err := in.sameType(v, original); err != nil {
		return nil, err
	}
	for _, key := range contentKeys() {
		if original != nil && original.get(key) != nil {
			continue
		}
		out := &value{kind: isObject, members: []member{{key, v}}}
		if comment != "" {
			out.members = append(out.members, member{"comment", textValue(comment)})
		}
		return out.compact(), nil
	}
	if comment != "" {
		return nil, dataError(Edit, "no comment can stand beside content that has all of the keys %s", list(contentKeys()))
	}
	return v.compact(), nil
}

// checkContent holds edited content against the schema, which in the kinds named here is about something else.
func (in input) checkContent(content *value) error {
	switch in.question.Kind {
	case FormKind, Text, Suspend:
		return nil
	}
	if len(in.question.Schema) == 0 {
		return nil
	}
	schema, err := CompileSchema(in.question.Schema)
	if err != nil {
		return err
	}
	if problems := schema.check(content); len(problems) > 0 {
		return &DataError{Action: in.action, Problems: problems}
	}
	return nil
}

// readForm reads the object of a form. A key `comment` is the comment where the schema has no property of that name.
func (in input) readForm() (json.RawMessage, string, error) {
	form, comment := in.data, ""
	if form == nil {
		form = &value{kind: isObject}
	}
	if form.kind != isObject {
		return nil, "", dataError(in.action, "must be an object, not %s", form.kind)
	}
	hasSchema := len(in.question.Schema) > 0 && in.question.Kind != EditKind && in.question.Kind != Text
	if !hasSchema {
		return form.compact(), in.commentWithin(form), nil
	}
	schema, err := CompileSchema(in.question.Schema)
	if err != nil {
		return nil, "", err
	}
	if c := form.get("comment"); c != nil && !schema.hasProperty("comment") {
		if comment, err = in.commentText(c); err != nil {
			return nil, "", err
		}
		form = form.without("comment")
	}
	out, bad := schema.complete(form)
	if bad != nil {
		bad.Action = in.action
		return nil, "", bad
	}
	return out, comment, nil
}

// readAny takes the data as they are. A member `comment` that is a text counts as the comment too, and stays.
func (in input) readAny() (json.RawMessage, string, error) {
	if in.question.Kind == Suspend && len(in.question.Schema) > 0 {
		out, err := in.complete(in.data)
		return out, in.commentWithin(in.data), err
	}
	if in.data == nil {
		return json.RawMessage("null"), "", nil
	}
	return in.data.compact(), in.commentWithin(in.data), nil
}

func (in input) commentWithin(v *value) string {
	if c := v.get("comment"); c != nil && c.kind == isText {
		return c.text
	}
	return ""
}
