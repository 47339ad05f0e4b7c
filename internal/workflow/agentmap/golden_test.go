package agentmap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenFile is what AgentMap itself made of a file.
type goldenFile struct {
	Graphs     map[string][]goldenNode `json:"graphs"`
	ParseError string                  `json:"parse_error"`
}

type goldenNode struct {
	Line    int             `json:"line"`
	Name    string          `json:"name"`
	Agent   *string         `json:"agent_type"`
	Inputs  []string        `json:"inputs"`
	Output  *string         `json:"output"`
	Edge    any             `json:"edge"`
	Success any             `json:"success"`
	Failure any             `json:"failure"`
	Context json.RawMessage `json:"context"`
	Prompt  *string         `json:"prompt"`
}

const (
	crashes  = "AgentMap fails with an error of its libraries instead of one about the file"
	typed    = "AgentMap reads cells as numbers, true or false, and empties NA, null and None; here they are texts"
	readable = "it has one meaning, and AgentMap fails on it"
	loses    = "AgentMap leaves the row out with a line in its log; here that is a fault"
)

// differs says where a file is read differently here, and why. faults is part of what is reported; graphs are those that
// are compared all the same.
var differs = map[string]struct{ why, fault string }{
	"examples/routing_examples.csv":        {crashes, "this row has 10 cells and the header 9"},
	"examples/suspend_messaging_basic.csv": {crashes, `the columns "workflow" and "graph" both mean GraphName`},
	"q/badquote.csv":                       {crashes, "this quote is never closed"},
	"q/dup.csv":                            {crashes, `the columns "graph" and "workflow" both mean GraphName`},
	"q/dupsame.csv":                        {"AgentMap takes the first of two columns of one name and loses the other", `the columns "GraphName" and "GraphName" both mean GraphName`},
	"q/empty.csv":                          {"", "the file is empty"},
	"q/hdronly.csv":                        {"", "the file holds no node below its header"},
	"q/latin1.csv":                         {crashes, "this is not UTF-8"},
	"q/extra_all.csv":                      {crashes, `"extra" is one too many`},
	"q/extra_one.csv":                      {"", `"x" is one too many`},
	"q/edges.csv":                          {loses, `has a node "A" already, in line 2`},
	"q/hdrspace.csv":                       {readable, ""},
	"q/semi.csv":                           {readable, ""},
	"q/na.csv":                             {typed, ""},
	"q/num.csv":                            {typed, ""},
	"q/zeros.csv":                          {typed, ""},
	"q/boolcol.csv":                        {typed, ""},
}

// TestGolden: every example and every quirk is read as AgentMap reads it, but for what the table tells.
func TestGolden(t *testing.T) {
	for name, want := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			f := Read(fileText(t, name))
			differ, known := differs[name]
			var told []string
			for _, x := range f.Faults {
				told = append(told, x.Message)
			}
			all := strings.Join(told, "\n")
			switch {
			case known && differ.fault != "":
				if !strings.Contains(all, differ.fault) {
					t.Errorf("the faults do not say %q:\n%s", differ.fault, all)
				}
				return
			case len(f.Faults) > 0:
				t.Fatalf("faults:\n%s", all)
			case known:
				if differ.why == typed && cmp.Equal(want.Graphs, described(f)) || differ.why == readable && want.ParseError == "" {
					t.Error("AgentMap reads it so as well: take it out of the table")
				}
				return
			}
			if diff := cmp.Diff(want.Graphs, described(f)); diff != "" {
				t.Errorf("(-AgentMap +here)\n%s", diff)
			}
		})
	}
}

// TestCellsAreTexts: what AgentMap takes for numbers, truth values or nothing are the characters of the cell.
func TestCellsAreTexts(t *testing.T) {
	for file, want := range map[string]string{
		"na": "None echo null B/B echo NA /C n/a hello ", "num": "1 echo 5 2/2 echo  ", "zeros": "001 echo 5 002/002 echo 7 ",
		"boolcol": "A  true /B  false ",
	} {
		f := Read(fileText(t, "q/"+file+".csv"))
		var rows []string
		for _, n := range f.Graphs[0].Nodes {
			rows = append(rows, strings.Join([]string{n.Name, n.Cell(AgentType), n.Cell(Prompt), n.Cell(Edge)}, " "))
		}
		if got := strings.Join(rows, "/"); got != want {
			t.Errorf("%s:\n got %q\nwant %q", file, got, want)
		}
	}
}

// described is a file in the terms of the golden files. Their line counts rows; here it is that of the file, and is left out.
func described(f *File) map[string][]goldenNode {
	graphs := map[string][]goldenNode{}
	for _, g := range f.Graphs {
		for _, n := range g.Nodes {
			x := goldenNode{
				Name: n.Name, Agent: given(n, AgentType), Output: given(n, OutputField), Prompt: given(n, Prompt),
				Edge: edgeOf(n, Edge), Success: edgeOf(n, SuccessNext), Failure: edgeOf(n, FailureNext), Inputs: []string{},
			}
			for _, c := range n.cells[InputFields].trimmed().split("|") {
				x.Inputs = append(x.Inputs, c.text)
			}
			graphs[g.Name] = append(graphs[g.Name], x)
		}
	}
	return graphs
}

func given(n *Node, c Column) *string {
	if s := n.Cell(c); s != "" {
		return &s
	}
	return nil
}

func edgeOf(n *Node, c Column) any {
	var names []any
	for _, x := range n.cells[c].trimmed().split("|") {
		names = append(names, x.text)
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return names[0]
	}
	return names
}

func goldens(t testing.TB) map[string]goldenFile {
	t.Helper()
	all := map[string]goldenFile{}
	for _, file := range []string{"golden-examples.json", "golden-quirks.json"} {
		raw, err := os.ReadFile(filepath.Join(data, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &all); err != nil {
			t.Fatal(err)
		}
	}
	for name, x := range all {
		for _, nodes := range x.Graphs {
			for i := range nodes {
				nodes[i].Line, nodes[i].Context = 0, nil
			}
		}
		all[name] = x
	}
	return all
}

const data = "../../../testdata/agentmap"

// fileText is the text of a file that the golden files name.
func fileText(t testing.TB, name string) string {
	t.Helper()
	name = strings.NewReplacer("subgraph_mapping/workflows/", "subgraph_mapping/", "q/", "quirks/").Replace(name)
	raw, err := os.ReadFile(filepath.Join(data, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(string(raw), "\ufeff")
}
