package ui

import (
	"encoding/json"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// alike is the questions that one answer fits: an action with the same data for all.
type alike struct {
	action  actions.Action
	asks    []asked
	leftOut []message     // why the other marked are not among them
	draft   *desk.Draft   // what was typed for them before, nil for nothing
	about   desk.Question // stands for all while their data are written; its id is of the action and the shape of its data
	choice  desk.Choice   // the strictest of theirs
}

// asked is one question, and what the action takes there.
type asked struct {
	question desk.Question
	choice   desk.Choice
}

// alike picks the questions that take the same data with an action; where they differ, the largest number that does.
func (b *bulkRead) alike(a actions.Action) alike {
	shapes := map[string][]asked{}
	out := alike{action: a}
	leave := func(q desk.Question, why string) {
		out.leftOut = append(out.leftOut, message{text: "left out: " + q.Title + ": " + string(a) + why, thread: q.Thread})
	}
	most := ""
	for _, q := range b.questions {
		c, _ := choiceOf(q, a)
		shape, why := shapeOf(q, c)
		if why != "" {
			leave(q, why)
			continue
		}
		shapes[shape] = append(shapes[shape], asked{q, c})
		if len(shapes[shape]) > len(shapes[most]) {
			most = shape
		}
	}
	out.asks = shapes[most]
	for _, q := range b.questions {
		c, _ := choiceOf(q, a)
		if shape, why := shapeOf(q, c); why == "" && shape != most {
			leave(q, " takes other data there")
		}
	}
	if len(out.asks) > 0 {
		out.stand(most)
	}
	return out
}

// shapeOf names the data an action takes at a question, so that two of the same name take the same; or says why it takes
// none that another could share.
func shapeOf(q desk.Question, c desk.Choice) (shape, why string) {
	whole := q.Whole()
	asJSON := func(parts ...any) string {
		b, err := json.Marshal(parts)
		if err != nil { // of a schema that is no JSON
			return string(c.Action) + whole.ID
		}
		return string(b)
	}
	switch {
	case !c.Allowed:
		return "", " is not allowed there"
	case (isText(c) && c.Data != actions.OptionalText || c.Data == actions.Form) && whole.IsSecret():
		return "", " takes a secret there"
	case c.Action == actions.Submit && len(whole.Parts) > 0:
		return "", " takes a verdict on each part there"
	}
	switch c.Data {
	case actions.NoData:
		return "nothing", ""
	case actions.OptionalText, actions.RequiredText, actions.AnyText:
		return "text", ""
	case actions.AnyJSON:
		if c.NeedsComment {
			return "", " needs a comment there"
		}
		return "nothing", ""
	case actions.Option:
		return asJSON("option", whole.Options, whole.Multiple, whole.Schema), ""
	case actions.Form:
		return asJSON("form", whole.Kind, whole.Schema, whole.Prefill), ""
	}
	return "", " takes content of its own there"
}

// stand makes the question that stands for all of one shape.
func (x *alike) stand(shape string) {
	first := x.asks[0]
	x.choice = first.choice
	x.choice.Leads = plural(len(x.asks), "question", "questions")
	titles := make([]string, len(x.asks))
	for i, k := range x.asks {
		x.choice.NeedsComment = x.choice.NeedsComment || k.choice.NeedsComment
		titles[i] = k.question.Title
	}
	q := first.question.Whole().Question
	x.about.ID = "bulk/" + string(x.action) + "/" + desk.PayloadHash(json.RawMessage(shape))[:16]
	x.about.Key = x.about.ID
	x.about.Question = actions.Question{Kind: q.Kind, Actions: []actions.Action{x.action}, Title: plural(len(x.asks), "question gets", "questions get") + " the same answer",
		Message: strings.Join(titles, "\n\n")}
	switch x.choice.Data {
	case actions.Form:
		x.about.Schema, x.about.Prefill = q.Schema, q.Prefill
	case actions.Option:
		x.about.Schema, x.about.Options, x.about.Multiple = q.Schema, q.Options, q.Multiple
	}
	if x.choice.NeedsComment {
		x.about.RequireComment = []actions.Action{x.action}
	}
}

// written tells whether their data are written in a pane. As with one question, approving goes without where it can.
func (x *alike) written() bool {
	switch x.choice.Data {
	case actions.Form, actions.RequiredText, actions.AnyText:
		return true
	case actions.OptionalText:
		return x.choice.NeedsComment || x.action != actions.Approve
	case actions.Option:
		return x.choice.NeedsComment || len(x.about.Options) == 0
	}
	return false
}

// decisions are their answers with data. Those whose question refuses the data are left out, each with the reason.
func (x *alike) decisions(data json.RawMessage) (fits []desk.Decision, leftOut []message) {
	for _, k := range x.asks {
		if _, err := actions.Validate(k.question.Whole().Question, x.action, data); err != nil {
			leftOut = append(leftOut, message{text: "left out: " + k.question.Title + ": " + err.Error(), thread: k.question.Thread})
			continue
		}
		fits = append(fits, decision(k.question, k.choice, data, false))
	}
	return fits, append(leftOut, x.leftOut...)
}
