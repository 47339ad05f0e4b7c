package actions

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

func hint(name string, valid []string) string { return nearest.Hint(name, valid) }

// option is an OptionItem whose value is parsed.
type option struct {
	value *value
	label string // never empty: without a label of its own an option is called by its value
}

// readOption reads a choice: bare, or under one of its keys; by value, then label, then 1-based index.
func (in input) readOption() (json.RawMessage, string, error) {
	options, err := in.options()
	if err != nil {
		return nil, "", err
	}
	choice, comment := in.data, ""
	if choice != nil && choice.kind == isObject && byValue(options, choice) == nil {
		if comment, err = in.commentText(choice.get("comment")); err != nil {
			return nil, "", err
		}
		if choice, err = in.pick(choice, choiceKeys(), []string{"comment"}); err != nil {
			return nil, "", err
		}
	}
	if choice == nil || choice.kind == isNull && byValue(options, choice) == nil {
		return nil, "", dataError(in.action, "an option is required%s", in.offered(options))
	}
	if len(options) == 0 { // a payload of unknown shape: nobody knows what can be chosen
		return choice.compact(), comment, nil
	}
	if in.question.Multiple {
		out, err := in.several(options, choice)
		return out, comment, err
	}
	if choice.kind == isList && byValue(options, choice) == nil {
		if len(choice.items) != 1 {
			return nil, "", dataError(in.action, "one option is due, %d are given", len(choice.items))
		}
		choice = choice.items[0]
	}
	chosen, err := in.match(options, choice)
	if err != nil {
		return nil, "", err
	}
	return chosen.value.compact(), comment, nil
}

func (in input) options() ([]option, error) {
	if len(in.question.Options) == 0 && in.question.Kind == Choice {
		return nil, dataError(in.action, "the question has no options to choose from")
	}
	out := make([]option, len(in.question.Options))
	for i, item := range in.question.Options {
		v, err := parse(item.Value)
		if err != nil {
			return nil, dataError(in.action, "option %d of the question has no valid value: %v", i+1, err)
		}
		out[i] = option{value: v, label: item.Label}
		if item.Label == "" {
			out[i].label = v.display()
		}
	}
	return out, nil
}

// several reads the list of a multiple choice; a single option need not be in a list.
func (in input) several(options []option, choice *value) (json.RawMessage, error) {
	items := []*value{choice}
	if choice.kind == isList && byValue(options, choice) == nil {
		items = choice.items
	}
	if len(items) == 0 {
		return nil, dataError(in.action, "one option or more is required%s", in.offered(options))
	}
	out := &value{kind: isList}
	taken := map[*option]bool{}
	for _, item := range items {
		chosen, err := in.match(options, item)
		if err != nil {
			return nil, err
		}
		if taken[chosen] {
			return nil, dataError(in.action, "the option %s is given twice", quote(chosen.label))
		}
		taken[chosen] = true
		out.items = append(out.items, chosen.value)
	}
	return out.compact(), nil
}

func byValue(options []option, v *value) *option {
	for i := range options {
		if options[i].value.equal(v) {
			return &options[i]
		}
	}
	return nil
}

func (in input) match(options []option, v *value) (*option, error) {
	if o := byValue(options, v); o != nil {
		return o, nil
	}
	if v.kind == isText || v.kind == isNumber || v.kind == isBoolean {
		o, err := in.byLabel(options, v.display())
		if o != nil || err != nil {
			return o, err
		}
	}
	if v.kind == isText || v.kind == isNumber {
		if n, err := strconv.Atoi(strings.TrimSpace(v.text)); err == nil {
			if n < 1 || n > len(options) {
				return nil, dataError(in.action, "there is no option %d%s", n, in.offered(options))
			}
			return &options[n-1], nil
		}
	}
	labels := make([]string, len(options))
	for i, o := range options {
		labels[i] = o.label
	}
	return nil, dataError(in.action, "%s is none of the options%s%s", quote(v.display()), hint(v.display(), labels), in.offered(options))
}

func (in input) byLabel(options []option, label string) (*option, error) {
	var found *option
	for i := range options {
		if options[i].label != label {
			continue
		}
		if found != nil {
			return nil, dataError(in.action, "several options are called %s: give the value or the number", quote(label))
		}
		found = &options[i]
	}
	return found, nil
}

// offered lists the first options for a message.
func (in input) offered(options []option) string {
	const most, longest = 9, 40
	var b strings.Builder
	for i, o := range options {
		if i == most {
			b.WriteString(" ...")
			break
		}
		if i == 0 {
			b.WriteString(" (")
		} else {
			b.WriteString(", ")
		}
		label := o.label
		if r := []rune(label); len(r) > longest {
			label = string(r[:longest]) + "..."
		}
		b.WriteString(strconv.Itoa(i+1) + " " + label)
	}
	if len(options) > 0 {
		b.WriteString(")")
	}
	return b.String()
}
