package workflow

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/workflow/agentmap"
)

// Converted is a graph of an AgentMap file as YAML.
type Converted struct {
	Graph    string
	File     string // name of the YAML file, by which the other graphs of the file name it
	Text     string
	Runs     []string // graphs of the same file that it runs
	Warnings Faults
}

// Convert makes YAML of the graphs of an AgentMap file: of the one that FILE.csv::GRAPH names and of those that it runs, which
// come after it; of a file alone, all. folder is where the YAML is to lie, so that other files which a graph names are found
// from there; "" is beside the file.
func (l Library) Convert(ref, folder string) ([]Converted, error) {
	x, err := l.locate(ref)
	if err != nil {
		return nil, err
	}
	if !isCSV(x.path) {
		return nil, Faults{{File: x.file, Line: 1, Column: 1, Message: "this is no CSV file: AgentMap's graphs are converted, whose files end in .csv"}}
	}
	if _, err := l.LoadAll(ref); err != nil {
		return nil, err
	}
	b := l.bundleOf(x)
	s, err := b.sheet(filepath.Base(x.path))
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", x.file, err)
	}
	names := s.file.Names()
	if x.graph != "" {
		names = []string{x.graph}
	}
	var list []Converted
	for i := 0; i < len(names); i++ {
		c := b.convert(s, s.file.Graph(names[i]), x, folder)
		for _, name := range c.Runs {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// convert makes YAML of a graph that loads.
func (b *bundle) convert(s *sheet, g *agentmap.Graph, x located, folder string) Converted {
	c := Converted{Graph: g.Name, File: yamlFile(g.Name)}
	o := b.csvOptions(filepath.Base(x.path))
	o.Child = func(graph string) string {
		c.Runs = append(c.Runs, graph)
		return "./" + yamlFile(graph)
	}
	t := s.file.Translate(g, o)
	root := valueOf(t.Root)
	moveReferences(root, filepath.Dir(x.path), folder)
	c.Text = printed(root)
	src := newSource(x.file, "")
	src.lines = s.lines
	src.tell(t.Faults, append(t.Warnings, s.file.Warnings...))
	c.Warnings = src.warnings.sorted()
	return c
}

func yamlFile(graph string) string { return agentmap.WorkflowName(graph) + ".yaml" }

// moveReferences makes references to other CSV files, which are relative to one folder, relative to another.
func moveReferences(root *value, from, to string) {
	abs, err := filepath.Abs(to)
	if err != nil || to == "" || abs == from {
		return
	}
	for _, n := range root.get("nodes").entries {
		ref := n.value.get(workflowKind)
		if ref == nil || IsName(ref.text) || !isCSV(ref.text) || path.IsAbs(ref.text) || filepath.IsAbs(ref.text) {
			continue
		}
		file, graph := cutGraph(ref.text)
		if moved, err := filepath.Rel(abs, filepath.Join(from, filepath.FromSlash(file))); err == nil {
			moved = filepath.ToSlash(moved)
			if !strings.Contains(moved, "/") {
				moved = "./" + moved
			}
			ref.text = withGraph(moved, graph)
		}
	}
}
