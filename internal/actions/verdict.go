package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// Verdict is the answer to one part of a question, as it stands in the form that submit takes: there each part has its
// own under its number, from "1".
type Verdict struct {
	Decision Action          `json:"decision,omitempty"` // "" for none yet
	Args     json.RawMessage `json:"args,omitempty"`     // what the decision takes: an edited content, an option, a form
	Message  string          `json:"message,omitempty"`  // its text or comment
}

// PartKey is the key of part i, counted from 0, in the form of a question with parts.
func PartKey(i int) string { return strconv.Itoa(i + 1) }

// VerdictOf is a valid answer to a part as its verdict.
func VerdictOf(a Answer) Verdict {
	v := Verdict{Decision: a.Action, Message: a.Comment}
	info, _ := Describe(a.Action)
	switch info.Data {
	case RequiredText, AnyText:
		if json.Unmarshal(a.Value, &v.Message) != nil { // a schema made something else of the text
			v.Message = string(a.Value)
		}
	case Option, Content, OptionalContent, Form, AnyJSON:
		v.Args = a.Value
	}
	return v
}

// data is the verdict as the data of its decision, nil for none.
func (v Verdict) data(part Question, info Info) (json.RawMessage, error) {
	text := textValue(v.Message).compact()
	switch info.Data {
	case RequiredText, AnyText:
		return text, nil
	case Option:
		if v.Message != "" && len(v.Args) > 0 {
			return json.RawMessage(`{"choice":` + string(v.Args) + `,"comment":` + string(text) + `}`), nil
		}
		return v.Args, nil
	case Content, OptionalContent:
		if len(v.Args) == 0 {
			return nil, nil
		}
		return WrapContent(part, v.Args, v.Message)
	case Form, AnyJSON:
		return v.Args, nil
	}
	if v.Message == "" {
		return nil, nil
	}
	return text, nil
}

// answer holds the verdict against its part. Arguments that were changed beside an approval make an edit of it: what a
// person wrote is not dropped.
func (v Verdict) answer(part Question) (Answer, error) {
	changed := len(v.Args) > 0 && !bytes.Equal(bytes.TrimSpace(v.Args), []byte("null")) && !SameJSON(v.Args, part.Content)
	info, known := Describe(v.Decision)
	switch {
	case v.Decision == "":
		return Answer{}, &DataError{Problems: []Problem{{Pointer: "/decision", Message: "is required"}}}
	case !known:
		return Answer{}, &DataError{Problems: []Problem{{Pointer: "/decision", Message: (&UnknownError{Name: string(v.Decision)}).Error()}}}
	case v.Decision == Approve && changed && slices.Contains(Allowed(part), Edit):
		v.Decision = Edit
		info, _ = Describe(Edit)
	case v.Decision == Approve && changed:
		return Answer{}, &DataError{Problems: []Problem{{Pointer: "/args", Message: "must not be edited"}}}
	}
	data, err := v.data(part, info)
	if err != nil {
		return Answer{}, err
	}
	return Validate(part, v.Decision, data)
}

// Verdicts reads the form that submit takes of a question with parts: one valid answer for each, in their order. All
// faults are reported, in one *DataError, each with the place of its part.
func (q Question) Verdicts(form json.RawMessage) ([]Answer, error) {
	var given map[string]Verdict
	if err := json.Unmarshal(form, &given); err != nil {
		return nil, dataError(Submit, "the form is not one verdict for each part: %v", err)
	}
	out := make([]Answer, len(q.Parts))
	var problems []Problem
	for i, part := range q.Parts {
		answer, err := given[PartKey(i)].answer(part)
		if err != nil {
			problems = append(problems, partProblems(i, err)...)
			continue
		}
		out[i] = answer
	}
	if len(problems) > 0 {
		return nil, &DataError{Action: Submit, Problems: problems}
	}
	return out, nil
}

// partProblems is what is wrong with the verdict on part i, told at the field of its form.
func partProblems(i int, err error) []Problem {
	at := "/" + PartKey(i)
	var bad *DataError
	var refused *NotAllowedError
	switch {
	case errors.As(err, &refused):
		return []Problem{{Pointer: at + "/decision", Message: err.Error()}}
	case !errors.As(err, &bad):
		return []Problem{{Pointer: at, Message: err.Error()}}
	}
	out := slices.Clone(bad.Problems)
	for n := range out {
		field := "/args"
		if info, _ := Describe(bad.Action); out[n].Pointer == "" && (info.Data == OptionalText || info.Data == RequiredText || info.Data == AnyText) {
			field = "/message"
		}
		if out[n].Pointer == "/decision" || out[n].Pointer == "/args" {
			field = ""
		}
		out[n].Pointer = at + field + out[n].Pointer
	}
	return out
}

// SameJSON compares two values without regard to space and the order of keys. What is not JSON is like nothing.
func SameJSON(a, b json.RawMessage) bool {
	x, err := parse(a)
	if err != nil {
		return false
	}
	y, err := parse(b)
	return err == nil && x.equal(y)
}
