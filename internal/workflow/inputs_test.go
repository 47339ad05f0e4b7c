package workflow_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// files writes workflow files and gives the path of the first, t.yaml.
func files(t *testing.T, folder string, texts map[string]string) string {
	t.Helper()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "t.yaml")
}

const around = `workflow: t
input: {properties: {list: {type: array, default: [1]}, size: {$ref: "#/$defs/size"}}, $defs: {size: {type: integer, maximum: 9}}, required: [list]}
nodes:
  each: {map: list, workflow: ./child.yaml, in: {n: item}, output: rows}
`

const within = `workflow: child
input: {properties: {n: {type: integer}, who: {type: string}}, required: [n]}
nodes:
  note: {set: {free: 1}, then: ask}
  ask: {human: approval, message: "{{.n}}?"}
`

// TestAnEditKeepsToTheInput: in every frame a key of the input takes what the input takes, and nothing else is written;
// other keys take anything.
func TestAnEditKeepsToTheInput(t *testing.T) {
	folder := t.TempDir()
	d, _ := open(t, files(t, folder, map[string]string{"t.yaml": around, "child.yaml": within}), folder, nil)
	for _, c := range []struct{ frame, update, refused string }{
		{"", `{"list":"nolist"}`, "/list: must be a list, not a text"},
		{"", `{"size":3,"list":null}`, "/list: must be a list, not null"},
		{"", `{"size":10}`, "/size: must be at most 9"},
		{"", `{"sise":3}`, `did you mean "size"?`},
		{"each/0", `{"n":"x"}`, "workflow child does not take this: /n: must be a whole number"},
		{"each/0", `{"n":1.5}`, "whole number"},
		{"each/0", `{"free":2,"who":[]}`, "/who: must be a text"},
		{"each/0", `{"nokey":1}`, "no state key of each/0"},
		{"", `{"list":[],"size":"3"}`, ""},
		{"", `{"size":null,"rows":7}`, ""},
		{"each/0", `{"n":5,"who":null,"free":{"any":"thing"}}`, ""},
	} {
		before, err := d.engine.Open(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		var updates map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.update), &updates); err != nil {
			t.Fatal(err)
		}
		_, err = d.engine.Edit(t.Context(), engine.EditRequest{Thread: "t", Frame: c.frame, Updates: updates, By: "ben"})
		after, _ := d.engine.Open(t.Context(), "t")
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s %s: %v", c.frame, c.update, err)
		case c.refused == "":
		case !errors.Is(err, engine.ErrInvalidEdit) || !strings.Contains(err.Error(), c.refused):
			t.Errorf("%s %s: %v, want %s", c.frame, c.update, err, c.refused)
		case after.Version != before.Version:
			t.Errorf("%s %s: refused, and yet there is version %v", c.frame, c.update, after.Version)
		}
	}
}

// upgrade puts the thread on what the files are now.
func (d *desk) upgrade(file string) error {
	l, err := workflow.Load(file)
	if err != nil {
		d.Fatal(err)
	}
	_, err = d.engine.Resume(d.Context(), engine.ResumeRequest{Thread: "t", Upgrade: &l.Definition, By: "ben"})
	return err
}

// TestAnUpgradeMindsTheInput: a definition that needs an input which the thread, or a nested workflow of it, does not have
// is refused, with the key; one that has a default for it gives it.
func TestAnUpgradeMindsTheInput(t *testing.T) {
	folder := t.TempDir()
	file := files(t, folder, map[string]string{"t.yaml": around, "child.yaml": within})
	d, _ := open(t, file, folder, nil)
	for _, c := range []struct {
		change  []string // old text, new text, ...
		refused string
	}{
		{[]string{"required: [list]", "required: [list, size]"}, `workflow t now needs the input "size", which the thread does not have`},
		{[]string{"required: [n]", "required: [n, who]", "in: {n: item}", "in: {n: item, who: \"'ben'\"}"}, `workflow child now needs the input "who", which each/0 does not have`},
		{[]string{"each:", "other:"}, `node "each" is gone, and each is at work there: put it back`},
		{[]string{"ask:", "other:", "then: ask", "then: other"}, `node "ask" is gone, and each/0/ask waits there: put it back`},
		{[]string{`{human: approval, message: "{{.n}}?"}`, "{template: x}"}, `node "ask" was of kind human and is now template, and each/0/ask waits there`},
		{[]string{"who: {type: string}", "who: {type: string, default: ann}"}, ""},
	} {
		changed := strings.NewReplacer(c.change...)
		err := d.upgrade(files(t, folder, map[string]string{"t.yaml": changed.Replace(around), "child.yaml": changed.Replace(within)}))
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.change, err)
		case c.refused != "" && (!errors.Is(err, engine.ErrWorkflowChanged) || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %v, want %s", c.change, err, c.refused)
		}
	}
	out, err := d.answer("each/0/ask", "approve", "")
	if err != nil || !strings.Contains(string(out.Outputs), `"who":"ann"`) {
		t.Errorf("%v: %s", err, out.Outputs)
	}
}
