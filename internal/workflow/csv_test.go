package workflow

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/llm"
)

// writeFiles writes files into a new folder.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const twoGraphs = "Graph,Node,Type,Inputs,Output\nteam,A,echo,x,y\nOther,B,echo,x,z\n"

// TestFindGraph: a graph is found by path and by name, from the command line and from other workflows, and CSV files that
// hold data are none.
func TestFindGraph(t *testing.T) {
	folder := writeFiles(t, map[string]string{
		"flows/team.csv": twoGraphs, "flows/data.csv": "id,name\n1,2\n", "flows/one.csv": "Graph,Node\nG,A\n",
		"flows/data.yaml": wf("  a: {fail: x}\n"),
		"flows/top.yaml":  "workflow: top\nnodes:\n  a: {workflow: \"team::Other\", then: b}\n  b: {workflow: team.csv, then: c}\n  c: {workflow: ./one.csv}\n",
		"flows/bad.yaml":  "workflow: bad\nnodes:\n  a: {workflow: \"team::Othr\", then: b}\n  b: {workflow: \"none.csv::G\"}\n",
		"more/csv.csv":    "Graph,Node,Type,Context,Prompt\nG,A,graph,{workflow=../flows/team.csv::Other},\nG2,B,graph,../flows/one.csv,G\nG3,C,graph,{workflow=team::Other},\n",
	})
	l := Library{Folders: []string{filepath.Join(folder, "flows")}}
	for ref, want := range map[string]string{
		"team": "team", "team::Other": "Other", "one": "G", "top": "top",
		filepath.Join(folder, "flows/team.csv"): "team", filepath.Join(folder, "flows/team.csv::Other"): "Other",
		filepath.Join(folder, "more/csv.csv::G"): "G", filepath.Join(folder, "more/csv.csv::G2"): "G2", filepath.Join(folder, "more/csv.csv::G3"): "G3",
	} {
		loaded, err := l.Load(ref)
		if err != nil || loaded.Name != want {
			t.Errorf("%s: %v, %v", ref, loaded, err)
			continue
		}
		if again, err := l.FromDefinition(loaded.Definition); err != nil || again.Name != want {
			t.Errorf("%s, as kept: %v", ref, err)
		}
	}
	for ref, want := range map[string]string{
		"team::Othr": `has no graph "Othr"; did you mean "Other"?`, "none::G": `workflow "none" is in none of the folders`,
		filepath.Join(folder, "more/csv.csv"): "holds 3 graphs; name one of them", "data::G": "holds one workflow",
		"bad": `has no graph "Othr"; did you mean "Other"?`,
	} {
		_, err := l.Load(ref)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", ref, err, want)
		}
		var graph *GraphError
		if errors.As(err, &graph) && graph.Graph != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the error does not say that it does not exist", ref)
		}
	}
	if names, err := l.Graphs("team"); err != nil || !slices.Equal(names, []string{"team", "Other"}) {
		t.Errorf("graphs of team: %v %v", names, err)
	}
}

// TestModelsOfAgents: the model is the one configured under what the file calls it, else the default.
func TestModelsOfAgents(t *testing.T) {
	models := map[string]llm.Model{"default": {}, "fast": {}, "anthropic": {}}
	for row, want := range map[string]string{
		`llm,`: "default", `claude,`: "default", `anthropic,"{""model"": ""unknown""}"`: "anthropic",
		`openai,"{""model"": ""fast"", ""temperature"": 0.3}"`: "fast", `summary,"{""llm"": ""anthropic""}"`: "anthropic",
	} {
		folder := writeFiles(t, map[string]string{"t.csv": "Graph,Node,Inputs,Prompt,Type,Context\nG,A,x,About {x},llm,\nG,B,x,Be kind," + row + "\n"})
		l := Library{Services: Services{Models: models}}
		list, err := l.Convert(filepath.Join(folder, "t.csv"), "")
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		if _, after, _ := strings.Cut(list[0].Text, "\n  B:\n"); !strings.Contains(after, "llm: "+want+"\n") {
			t.Errorf("%s: not %s\n%s", row, want, after)
		}
	}
}

// TestCSVFaults: what is wrong with a graph is told at its place, all together.
func TestCSVFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"function":             {"Graph,Node,Edge\nG,A,func:pick\n", `2:5 Edge: "func:pick" calls Python`},
		"case of a name":       {"Graph,Node,Edge\nG,Abc,abc\n", `2:7 Edge names the node "abc", which is not in the graph "G"; did you mean "Abc"? Names of nodes match by case`},
		"second of several":    {"Graph,Node,Edge\nG,A,\"A| B |A\"\n", `2:9 Edge names the node "B"`},
		"both edges":           {"Graph,Node,Edge,Success_Next\nG,A,B,A\nG,B,,\n", `2:7 the node "A" has an Edge and another Success_Next`},
		"unknown type":         {"Graph,Node,Type\nG,A,humann\n", `2:5 unknown agent type "humann"; did you mean "human"?`},
		"unsupported type":     {"Graph,Node,Type\nG,A,tool_agent\n", `2:5 the agent type "tool_agent" runs Python tools`},
		"tools":                {"Graph,Node,Tools\nG,A,x\n", `2:5 Available_Tools: tools are Python programs`},
		"interaction":          {"Graph,Node,Type,Context\nG,A,human,{'interaction_type': 'aproval'}\n", `2:32 unknown interaction_type "aproval", for which AgentMap takes text_input; did you mean "approval"?`},
		"choice of nothing":    {"Graph,Node,Type,Context\nG,A,human,{'interaction_type': 'choice'}\n", `2:3 the choice "A" needs options`},
		"timeout":              {"Graph,Node,Type,Context\nG,A,human,\"{'timeout_seconds': 'soon'}\"\n", `2:32 timeout_seconds must be a number of seconds above 0, not soon`},
		"default not allowed":  {"Graph,Node,Type,Context\nG,A,human,\"{'interaction_type': 'approval', 'timeout_seconds': 5, 'default_action': 'reply'}\"\n", `default_action: node "A" does not allow "reply"`},
		"no such graph":        {"Graph,Node,Type,Context\nG,A,graph,{workflow=::Inner}\n", `2:12 the file has no graph "Inner"`},
		"contains itself":      {"Graph,Node,Type,Context\nG,A,graph,{workflow=::G}\n", `contains itself: t.csv::G -> t.csv::G`},
		"graph as it runs":     {"Graph,Node,Type,Context\nG,A,graph,{workflow_field=x}\n", `2:12 workflow_field names a graph while it runs`},
		"two fields, one key":  {"Graph,Node,Inputs\nG,A,a-b|a_b\n", `2:9 the fields "a-b" and "a_b" are both called "a_b" here`},
		"output mapping":       {"Graph,Node,Output\nG,A,a=b\n", `2:5 "a=b": parent=child is for sub-graphs`},
		"half a mapping":       {"Graph,Node,Inputs\nG,A,a:\n", `2:5 "a:" names only one side`},
		"settings":             {"Graph,Node,Type,Context\nG,A,csv_writer,{'mode': 'wipe'}\n", `2:16 context: the mode wipe is none of write, append, update and delete`},
		"settings not read":    {"Graph,Node,Type,Context\nG,A,human,{interaction_type: }\n", `2:30 the Context begins like an object`},
		"prompt elsewhere":     {"Graph,Node,Type,Prompt\nG,A,llm,file:x.txt\n", `2:9 the prompt "file:x.txt" is kept elsewhere: there is no file x.txt in the folders prompts, ../prompts, ., from where`},
		"prompt of a number":   {"Graph,Node,Type,Prompt\nG,A,echo,yaml:t.csv#a\n", `2:10 the prompt "yaml:t.csv#a" is kept elsewhere: `},
		"no such default":      {"Graph,Node,Type,Context\nG,A,orchestrator,{'default_target': 'b'}\nG,B,echo,\n", `2:37 default_target names the node "b", which is not in the graph "G"; did you mean "B"?`},
		"default of its own":   {"Graph,Node,Type,Context\nG,A,orchestrator,{'default_target': 'A'}\nG,B,echo,\n", `2:37 default_target leads the orchestrator "A" back to itself`},
		"nothing to pick":      {"Graph,Node,Type\nG,A,orchestrator\n", `2:3 the orchestrator "A" has no node to pick`},
		"field of a sub-graph": {"Graph,Node,Type,Output,Context\nG,A,graph,a=bc,{workflow=::H}\nH,B,echo,bcd,\n", `2:11 no cell of the graph "H" names the field "bc"; did you mean "bcd"?`},
	} {
		file := filepath.Join(writeFiles(t, map[string]string{"t.csv": c.text}), "t.csv")
		_, err := Library{}.LoadAll(file)
		if err == nil {
			t.Errorf("%s: no fault", name)
			continue
		}
		want := c.want
		if want[0] >= '0' && want[0] <= '9' {
			place, message, _ := strings.Cut(want, " ")
			want = "t.csv:" + place + ": " + message
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", name, err, want)
		}
	}
}

// TestPromptsElsewhere: a thread keeps the files of prompts that its graph names, and each fault of one is told at the cell.
func TestPromptsElsewhere(t *testing.T) {
	files := map[string]string{
		"prompts/registry.yaml": "hello: Hello\nv2.hello: Good day\nlist: [a]\nnested: {deep: {text: Deep}}\n",
		"prompts/broken.yaml":   "a: b: c\n",
		"flows/beside.txt":      "Beside\n",
	}
	for prompt, want := range map[string]string{
		"prompt:hello": "Hello", "prompt:v2.hello": "Good day", "prompt:nested.deep.text": "Deep", "file:beside.txt": "Beside",
		"yaml:registry.yaml#nested.deep.text": "Deep", "file:registry.yaml": "list: [a]", "file: not a name": "file: not a name", "prompt:two words": "prompt:two words",
		"prompt:helo": `registry.yaml has no text helo; did you mean "hello"?`, "prompt:list": "registry.yaml has under list is no text",
		"yaml:registry.yaml#nested.dep.text": `has no text nested.dep.text; did you mean "deep"?`, "yaml:broken.yaml#a": "broken.yaml:1:", "file:none.txt": "there is no file none.txt",
	} {
		files["flows/t.csv"] = "Graph,Node,Type,Prompt,Output\nG,A,default," + prompt + ",said\n"
		file := filepath.Join(writeFiles(t, files), "flows/t.csv")
		l, err := Load(file)
		if err != nil {
			if !strings.Contains(err.Error(), "t.csv:2:13: the prompt ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", prompt, err, want)
			}
			continue
		}
		kept, err := FromDefinition(l.Definition)
		if err != nil {
			t.Errorf("%s, as kept: %v", prompt, err)
			continue
		}
		if elsewhere := !strings.Contains(prompt, " "); (len(kept.Definition.Files) == 2) != elsewhere {
			t.Errorf("%s: kept are %v", prompt, kept.Definition.Files)
		}
		list, err := Library{}.Convert(file, "")
		if err != nil {
			t.Errorf("%s: %v", prompt, err)
			continue
		}
		if !strings.Contains(list[0].Text, want) {
			t.Errorf("%s: want %s in\n%s", prompt, want, list[0].Text)
		}
	}
}

// TestPromptsChangeWhatRuns: another prompt is another workflow, and a thread from before prompts were looked for is read as
// it was.
func TestPromptsChangeWhatRuns(t *testing.T) {
	files := map[string]string{"t.csv": "Graph,Node,Type,Prompt\nG,A,echo,file:p.txt\n", "p.txt": "one"}
	first, err := Load(filepath.Join(writeFiles(t, files), "t.csv"))
	if err != nil {
		t.Fatal(err)
	}
	files["p.txt"] = "two"
	second, err := Load(filepath.Join(writeFiles(t, files), "t.csv"))
	if err != nil || first.Definition.Fingerprint == second.Definition.Fingerprint {
		t.Errorf("%v, fingerprints %s and %s", err, first.Definition.Fingerprint, second.Definition.Fingerprint)
	}
	old := first.Definition
	old.Files = old.Files[:1]
	if _, err := FromDefinition(old); err != nil {
		t.Errorf("without the file: %v", err)
	}
}

// TestFailedNeedsFailure: failed says keys, of what errors.NODE has, where there is a failure route.
func TestFailedNeedsFailure(t *testing.T) {
	for nodes, want := range map[string]string{
		"  a: {fail: x, failed: {k: output.message}}\n":                            `failed is written where the failure route is taken: give failure`,
		"  a: {fail: x, failure: b, failed: k}\n  b: {fail: x}\n":                  `failed must be {KEY: expression}`,
		"  a: {fail: x, failure: b, failed: {k: output.mesage}}\n  b: {fail: x}\n": `unknown field "mesage"; did you mean "message"?`,
	} {
		if _, err := parse("t.yaml", wf(nodes)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", nodes, err)
		}
	}
}

// TestLeftOut: by AgentMap's rules what no cell names is left out of the input, and names that are no keys fit.
func TestLeftOut(t *testing.T) {
	file := filepath.Join(writeFiles(t, map[string]string{"t.csv": "Graph,Node,Type,Inputs\nG,A,echo,a-b|output\n"}), "t.csv")
	l, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]json.RawMessage{"a-b": json.RawMessage(`1`), "output": json.RawMessage(`2`), "x": json.RawMessage(`3`)}
	in, err := l.CheckInput(given)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]json.RawMessage{"a_b": json.RawMessage(`1`), "output_": json.RawMessage(`2`)}, in); diff != "" {
		t.Error(diff)
	}
	if left := l.LeftOut(given); !slices.Equal(left, []string{"x"}) {
		t.Errorf("left out: %v", left)
	}
}

// TestPrintedIsRead: whatever the texts, what is printed is read as the same value.
func TestPrintedIsRead(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z :#{}\[\],&*!|>'"%@\x60\n\t-]{0,12}`), rapid.SampledFrom([]string{
		"", "null", "true", "Yes", "010", "1e3", "~", "- a", "a: b", "a #b", "{{.x}}", "END", "\u2028", "\x01", "\x7f", "\ufeff", "a\\", "---", "?", "2024-01-01", "\U0001f600", "é",
	}))
	scalar := rapid.Custom(func(t *rapid.T) *value {
		return &value{shape: scalarShape, style: foldedStyle, text: strings.ToValidUTF8(texts.Draw(t, "text"), "?")}
	})
	rapid.Check(t, func(t *rapid.T) {
		root := &value{shape: mappingShape}
		for i := range rapid.IntRange(1, 5).Draw(t, "entries") {
			v := scalar.Draw(t, "value")
			switch rapid.IntRange(0, 3).Draw(t, "shape") {
			case 0:
				v = &value{shape: listShape, list: rapid.SliceOfN(scalar, 1, 3).Draw(t, "list")}
			case 1:
				v = &value{shape: mappingShape, entries: []entry{{scalar.Draw(t, "key"), v}}}
			}
			key := scalar.Draw(t, "key")
			key.text += string(rune('a' + i))
			root.entries = append(root.entries, entry{key, v})
		}
		text := printed(root)
		src := newSource("t.yaml", text)
		got := parseYAML(src, text)
		if got == nil || len(src.faults) > 0 {
			t.Fatalf("%v\n%s", src.faults, text)
		}
		if diff := cmp.Diff(plainOf(root), plainOf(got)); diff != "" {
			t.Fatalf("%s\n%s", diff, text)
		}
	})
}

// plainOf is a value without styles and places.
func plainOf(v *value) any {
	switch v.shape {
	case listShape:
		var list []any
		for _, item := range v.list {
			list = append(list, plainOf(item))
		}
		return list
	case mappingShape:
		var list []any
		for _, e := range v.entries {
			list = append(list, e.key.text, plainOf(e.value))
		}
		return list
	}
	return v.text
}

// FuzzCSV: a graph that loads is printed as YAML that loads, with the same nodes.
func FuzzCSV(f *testing.F) {
	for _, pattern := range []string{"examples/*.csv", "examples/*/*.csv", "quirks/*.csv", "own/*.csv"} {
		files, err := filepath.Glob(filepath.Join("../../testdata/agentmap", pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<15 {
			t.Skip()
		}
		b := &bundle{source: kept{{Path: "t.csv::", Text: text}}}
		s, err := b.sheet("t.csv")
		if err != nil || len(s.file.Graphs) > 20 {
			t.Skip()
		}
		for _, g := range s.file.Graphs {
			d := checkpoint.Definition{Files: []checkpoint.File{{Path: "t.csv::" + g.Name, Text: text}}}
			csv, err := FromDefinition(d)
			if err != nil {
				continue
			}
			if err := csv.Graph.Check(); err != nil {
				t.Fatalf("the engine refuses what the loader takes: %v", err)
			}
			yaml := printed(valueOf(s.file.Translate(g, b.csvOptions("t.csv::"+g.Name)).Root))
			d.Files = append([]checkpoint.File{{Path: "t.yaml", Text: yaml}}, d.Files...)
			converted, err := FromDefinition(d)
			if err != nil {
				t.Fatalf("the YAML does not load: %v\n%s", err, yaml)
			}
			if len(converted.Graph.Nodes) != len(csv.Graph.Nodes) {
				t.Errorf("%d nodes became %d", len(csv.Graph.Nodes), len(converted.Graph.Nodes))
			}
		}
	})
}
