package agentmap

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestRead: files of every odd kind, with the place of each fault. A row is GRAPH.NODE.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"quoted newline":            {"Graph,Node,Prompt\nG,A,\"one\ntwo\"\nG,B,x\n", "G.A G.B"},
		"line after one":            {"Graph,Node,Prompt\nG,A,\"one\ntwo\"\nG,A,x\n", `G.A | 4:3 the graph "G" has a node "A" already, in line 2`},
		"semicolon in a cell":       {"Graph,Node,Prompt\nG,A,a;b\n", "G.A"},
		"semicolons":                {"Graph;Node;Prompt\nG;A;a, b\nG;B;\n", "G.A G.B"},
		"tabs":                      {"Graph\tNode\nG\tA\n", "G.A"},
		"blanks around quotes":      {"Graph,Node,Prompt\nG, A , \"a, b\" \n", "G.A"},
		"names of other scripts":    {"Graph,Node\nグラフ,Überprüfung\n", "グラフ.Überprüfung"},
		"column after wide letters": {"Graph,Node,Prompt\nグラフ,Ü,a,b\n", `グラフ.Ü | 2:9 this row has 4 cells and the header 3`},
		"empty cells at the end":    {"Graph,Node\nG,A,,,\n", "G.A"},
		"blank rows":                {"Graph,Node\n\n , \nG,A\n\n", "G.A"},
		"no line break at the end":  {"Graph,Node\nG,", `| 2:1 this row of the graph "G" names no node`},
		"a row without its graph":   {"Graph,Node\nG,A\n,B\n", "G.A | 3:1 this row names no graph"},
		"remarks":                   {"Graph,Node\n# one\n# two, three\nG,A\n#x,\n", "G.A"},
		"a quoted # is no remark":   {"Graph,Node\n\"# G\",A\n", "# G.A"},
		"missing column":            {"Graph,Prompt\nG,x\n", "| 1:1 no column says the node: its name is Node or one of node_name"},
		"missing columns":           {"a,b\n1,2\n", "| 1:1 no column says the graph| 1:1 no column says the node"},
		"all faults together":       {"Graph,Node,Edge\nG,A,B,C\nG\n,x\n", `G.A | 2:7 this row has 4 cells| 3:1 this row of the graph "G" names no node| 4:1 this row names no graph`},
		"text after a quote":        {"Graph,Node,Prompt\nG,A,\"x\"y\nG,B,z\n", `G.A G.B | 2:8 broken quotes`},
		"quotes with backslashes":   {"Graph,Node,Context\nG,A,\"{\\\"a\\\": [\\\"b\\\", \\\"c\\\"]}\"\nG,B,\"C:\\\"\n", "G.A G.B"},
		"only blank lines":          {"\n\n  \n", "| 1:1 the file is empty"},
		"UTF-16":                    {"\xff\xfeG\x00", "| 1:1 this is UTF-16"},
		"NUL":                       {"Graph,Node\nG,a\x00b\n", "| 2:4 a NUL character"},
		"edges by predecessor":      {"Graph,Node,edges\nG,A,\nG,B,A\n", `G.A G.B | 3:5 the column "edges" is none of AgentMap's`},
	} {
		t.Run(name, func(t *testing.T) {
			f := Read(c.text)
			rows, faults, _ := strings.Cut(c.want, "|")
			var got []string
			for _, g := range f.Graphs {
				for _, n := range g.Nodes {
					got = append(got, g.Name+"."+n.Name)
				}
			}
			if s := strings.Join(got, " "); s != strings.TrimSpace(rows) {
				t.Errorf("rows %q, want %q", s, rows)
			}
			var want []string
			if faults != "" {
				want = strings.Split(faults, "|")
			}
			if len(f.Faults) != len(want) {
				t.Fatalf("%d faults, want %d: %+v", len(f.Faults), len(want), f.Faults)
			}
			for i, x := range f.Faults {
				if s := fmt.Sprintf("%d:%d %s", x.At.Line, x.At.Column, x.Message); !strings.HasPrefix(s, strings.TrimSpace(want[i])) {
					t.Errorf("fault %q, want %q", s, want[i])
				}
			}
		})
	}
}

// TestBackslashes: what is in a cell whose quotes are written \" is what was meant.
func TestBackslashes(t *testing.T) {
	f := Read("Graph,Node,Context,Prompt\nG,A,\"{\\\"a\\\": [\\\"b\\\", \\\"c\\\"]}\",\"C:\\\"\n")
	n := f.Graphs[0].Nodes[0]
	if got := n.Cell(Context); got != `{"a": ["b", "c"]}` {
		t.Errorf("Context %q", got)
	}
	if got := n.Cell(Prompt); got != `C:\` {
		t.Errorf("Prompt %q", got)
	}
	if len(f.Warnings) != 1 {
		t.Errorf("warnings: %+v", f.Warnings)
	}
}

// TestAliases: every name of a column is read, in any case and with blanks around it.
func TestAliases(t *testing.T) {
	for _, x := range Columns() {
		for _, name := range append([]string{x.Name}, x.Aliases...) {
			for _, written := range []string{name, strings.ToUpper(name), " " + strings.ToLower(name) + " "} {
				text := "Graph,Node," + written + "\nG,A,x\n"
				if x.Column == GraphName || x.Column == NodeName {
					other := map[Column]string{GraphName: "Node", NodeName: "Graph"}[x.Column]
					text = other + "," + written + "\nx,x\n"
				}
				f := Read(text)
				if len(f.Faults)+len(f.Warnings) > 0 || f.Graphs[0].Nodes[0].Cell(x.Column) != "x" {
					t.Errorf("%s as %q: %+v", x.Name, written, f)
				}
			}
		}
	}
}

// TestContext: JSON, Python's literals and AgentMap's short form are read; what is none of them is told with its place.
func TestContext(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b": [true, null, -1.5e3], "c": {"d": "x\u00e9\n"}}`: `{a: 1, b: [true, null, -1.5e3], c: {d: xé` + "\n" + `}}`,
		`{'a': True, 'b': None, 'c': ('x', "y",),}`:                    `{a: true, b: null, c: [x, y]}`,
		`{llm_provider: "anthropic"}`:                                  `{llm_provider: anthropic}`,
		`{workflow=::Inner}`:                                           `{workflow: ::Inner}`,
		`{workflow=a.csv::G, mode='x'}`:                                `{workflow: a.csv::G, mode: x}`,
		`{"s": "\ud83d\ude00"}`:                                        `{s: 😀}`,
		`{}`:                                                           `{}`,
		`not json`:                                                     "",
		`[1,2]`:                                                        "",
		`{"a": }`:                                                      `fault 2:16 "}" is unexpected`,
		`{"a": 1`:                                                      `fault 2:17 it is not closed`,
		`{"a": 1} x`:                                                   `fault 2:19 "x" comes after its end`,
		`{"a": 1, "a": 2}`:                                             `fault 2:19 the key "a" is there twice`,
		`{"a": b}`:                                                     `fault 2:16 "b" needs quotes`,
		`{"a": ` + strings.Repeat("[", 100) + `}`: `fault 2:47 more than 32 levels deep`,
	} {
		f := Read("Graph,Node,Context\nG,AAA," + `"` + strings.ReplaceAll(text, `"`, `""`) + `"` + "\n")
		tr := &translator{file: f, graph: f.Graphs[0]}
		v := tr.context(f.Graphs[0].Nodes[0])
		got := ""
		switch {
		case len(tr.faults) > 0:
			x := tr.faults[0]
			_, message, _ := strings.Cut(x.Message, "ignore it: ")
			got = fmt.Sprintf("fault %d:%d %s", x.At.Line, x.At.Column, message)
		case v != nil:
			got = v.words()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s:\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestPrompt: a prompt is filled in as Python's str.format does it.
func TestPrompt(t *testing.T) {
	inputs := []input{{param: "name", key: "k"}, {param: "d", key: "d"}}
	for prompt, want := range map[string]string{
		"Hello {name}!":   `Hello {{default "" .k}}!`,
		"{{name}} {name}": `{name} {{default "" .k}}`,
		"{{{name}}}":      `{{"{"}}{{default "" .k}}}`,
		"{name!r:>10}":    `{{default "" .k}}`,
		"{d[x y]}":        `{{with .d}}{{default "" (index . "x y")}}{{end}}`,
		"{other} {name}":  `{other} {name}`,
		"{name":           `{name`,
		"{} {0}":          `{} {0}`,
		"a {{.x}} b":      `a {.x} b`,
		`{"json": 1}`:     `{"json": 1}`,
		"{{{{":            `{{"{"}}{`,
	} {
		if got, _ := (&translator{}).template(prompt, inputs); got != want {
			t.Errorf("%q:\n got %q\nwant %q", prompt, got, want)
		}
	}
}

// TestLargeFiles: time grows with the size of a file, whatever there is much of. Squares would take minutes here.
func TestLargeFiles(t *testing.T) {
	const n = 30_000
	numbered := func(prefix, separator string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%d%s", prefix, i, separator)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"fields of a cell":  "Graph,Node,Inputs,Output\nG,A," + numbered("i", "|") + "," + numbered("o", "|") + "\n",
		"escaped quotes":    "Graph,Node,Prompt\nG,A,\"" + strings.Repeat("\\\"a", n*10) + "\"\n",
		"targets":           "Graph,Node,Edge\nG,A," + strings.Repeat("A|", n*10) + "\n",
		"missing targets":   "Graph,Node,Edge\nG,A," + numbered("B", "|") + "\n",
		"names become one":  "Graph,Node\n" + strings.Repeat("G,", 1) + "A\n" + numbered("G,?", "\n"),
		"equal long names":  "Graph,Node\n" + numbered("G,"+strings.Repeat("x", 70), "\n"),
		"orchestrators":     "Graph,Node,Type\n" + numbered("G,N", ",orchestrator\n"),
		"rows without node": "Graph,Node\n" + strings.Repeat("G,\n", n),
	} {
		t.Run(name, func(t *testing.T) {
			f := Read(text)
			for _, g := range f.Graphs {
				f.Translate(g, Options{Child: func(graph string) string { return graph }})
			}
		})
	}
}

// FuzzRead: whatever the bytes, a file is graphs, faults with places in it, or both; and every graph can be translated.
func FuzzRead(f *testing.F) {
	for name := range goldens(f) {
		f.Add(fileText(f, name))
	}
	f.Add("Graph,Node,Type,Context\nG,A,human,\"{\\\"interaction_type\\\": \\\"edit\\\"}\"\n")
	f.Add("Graph;Node;Context\n\"G\"\"\n\";A;{'a': (1,)}\n")
	f.Add("Graph,Node,Edge,Inputs,Output,Type\nG,A,A|B|,a:b|c=d|e,x|y,echo\nG,B,A,x,y,graph\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			t.Skip()
		}
		file := Read(text)
		lines := strings.Split(text, "\n")
		check := func(kind string, list []Fault) {
			for _, x := range list {
				if x.At.Line < 1 || x.At.Line > len(lines) || x.At.Column < 1 || x.Message == "" ||
					x.At.Column > utf8.RuneCountInString(lines[x.At.Line-1])+1 {
					t.Errorf("%s without a place: %+v", kind, x)
				}
			}
		}
		check("fault", file.Faults)
		check("warning", file.Warnings)
		if len(file.Graphs) == 0 && len(file.Faults) == 0 {
			t.Error("neither a graph nor a fault")
		}
		for _, g := range file.Graphs {
			tr := file.Translate(g, Options{Child: func(graph string) string { return "./x.csv::" + graph }})
			check("fault", tr.Faults)
			check("warning", tr.Warnings)
			if len(tr.Faults) == 0 && tr.Root == nil {
				t.Errorf("graph %q is neither a tree nor a fault", g.Name)
			}
		}
	})
}
