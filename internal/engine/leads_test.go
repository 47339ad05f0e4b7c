package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// TestLeadsComeTrue: where a question says that an answer leads, it leads: each of the fifteen actions, on nodes with
// every kind of edge, plain and of programs, at the root, in a workflow and in an item of a map.
func TestLeadsComeTrue(t *testing.T) {
	onRoute := func(target ...string) func(*Node, actions.Action) {
		return func(n *Node, a actions.Action) { n.Routes = map[string][]string{string(a): target} }
	}
	edges := map[string]func(*Node, actions.Action){
		"then":           func(*Node, actions.Action) {},
		"a route":        onRoute("elsewhere"),
		"routes to two":  onRoute("elsewhere", "after"),
		"a route to END": onRoute(),
		"a route back":   onRoute("draft"),
		"failure":        func(n *Node, _ actions.Action) { withFailure(n) },
		"failure to END": func(n *Node, _ actions.Action) { n.HasFailure = true },
		"when": func(n *Node, _ actions.Action) {
			n.When = []Branch{{If: func(_ Scope, v Value) (bool, error) { return v.IsNull(), nil }, Then: []string{"elsewhere"}}}
		},
		"no edge": func(n *Node, _ actions.Action) { n.Then = nil },
	}
	for name, edge := range edges {
		t.Run(name, func(t *testing.T) {
			for _, action := range actions.All() {
				for _, program := range []bool{false, true} {
					for prefix := range places(func() *Graph { return graph(node("a", passes)) }) {
						leadComesTrue(t, prefix, action, func(n *Node) { edge(n, action); n.RerunOnResume = program })
					}
				}
			}
		})
	}
}

func leadComesTrue(t *testing.T, prefix string, action actions.Action, edge func(*Node)) {
	var r ran
	heard := false
	q := actions.Question{Kind: actions.Approval, Message: "Well?", ContentKey: "talk", Actions: everyAction, Options: []actions.OptionItem{{Value: js("words")}}}
	whole := places(func() *Graph {
		review := node("review", func(_ context.Context, c *Call) (Result, error) {
			if len(c.Resume) > 0 {
				heard = true
				return Result{Output: text("heard")}, nil
			}
			return Result{Interrupts: []Ask{{Payload: js(q), ContentKey: q.ContentKey}}}, nil
		}, "after")
		edge(review)
		drafts := writes("talk", []any{})
		return graph(node("draft", noted(&r, drafts), "review"), review, node("after", noted(&r, passes)), node("elsewhere", noted(&r, passes)), node("onfailure", noted(&r, passes)))
	})[prefix]
	w := newWorld(t)
	out := w.start(whole, map[string]any{"list": []int{1}})
	w.open(out, prefix+"review")
	asked, before := out.Questions[0], len(r.all())
	lead, ok := asked.Leads[action]
	if !ok {
		t.Fatalf("%s%s: no lead", prefix, action)
	}
	answer := say(action, "words")
	switch action {
	case actions.Edit, actions.Save:
		answer.Data = js([]any{"words"})
	case actions.Submit:
		answer.Data = js(map[string]any{"n": 1})
	case actions.Skip:
		answer.Data = nil
	}
	out = w.elsewhere(out.Thread, answer)

	var went []string
	for _, path := range r.all()[before:] {
		name, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], "@")
		went = append(went, name)
	}
	slices.Sort(went)
	again := len(out.Questions) == 1 && out.Questions[0].ID != asked.ID
	fault := ""
	switch {
	case slices.Equal(lead.To, []string{"review"}):
		if !heard {
			fault = "the program did not hear it"
		}
	case heard:
		fault = "the program heard it"
	case lead.Again:
		if !again || len(went) > 0 {
			fault = "it did not ask again"
		}
	case lead.When:
		if len(went) != 1 || !slices.Contains(lead.To, went[0]) {
			fault = "it went to none of them"
		}
	default:
		if diff := cmp.Diff(slices.Sorted(slices.Values(lead.To)), went); diff != "" && (len(lead.To) > 0 || len(went) > 0) {
			fault = diff
		}
		if again != slices.Contains(lead.To, "draft") {
			fault = "asked again, or not"
		}
		if lead.Ends != "" && lead.Frame == "" && out.Status != lead.Ends {
			fault = "the thread is " + string(out.Status)
		}
		if lead.Ends != "" && lead.Frame != "" && (out.Status != checkpoint.Done || !strings.HasPrefix(prefix, lead.Frame+"/")) {
			fault = "the frame did not end, or not that one: " + string(out.Status)
		}
	}
	if fault != "" {
		t.Errorf("%s%s, heard %v: said %+v, went to %v, %s: %s", prefix, action, heard, lead, went, out.Status, fault)
	}
}
