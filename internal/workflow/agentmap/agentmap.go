// Package agentmap reads the CSV files in which AgentMap keeps its graphs, and says each graph in the terms of a workflow
// file: a tree of the keys that its YAML has, every value with its place in the CSV. It knows columns, cells, routing and
// agents, and nothing of how a workflow file is compiled or run.
package agentmap

import "fmt"

// Place is where something stands in a file: line and column from 1, the column in characters.
type Place struct{ Line, Column int }

// Fault is one mistake, or with a file that is good all the same one thing to know about it.
type Fault struct {
	At      Place
	Message string
}

// File is what a CSV file holds: its graphs in the order of their first rows.
type File struct {
	Graphs   []*Graph
	Faults   []Fault // of the file, whichever graph of it is meant
	Warnings []Fault
}

// Graph is the rows of one graph.
type Graph struct {
	Name  string
	Nodes []*Node
}

// Node is one row: a node of a graph. A cell that the file does not have is empty.
type Node struct {
	Name  string
	At    Place
	cells [columnCount]cell
}

// Graph is the graph of a name, nil when there is none.
func (f *File) Graph(name string) *Graph {
	for _, g := range f.Graphs {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// Names are the names of the graphs.
func (f *File) Names() []string {
	names := make([]string, len(f.Graphs))
	for i, g := range f.Graphs {
		names[i] = g.Name
	}
	return names
}

// node is the node of a name, nil when there is none.
func (g *Graph) node(name string) *Node {
	for _, n := range g.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// Cell is the text of a column, without the blanks around it.
func (n *Node) Cell(c Column) string { return n.cells[c].trimmed().text }

// faults collects what is wrong.
type faults []Fault

func (f *faults) add(at Place, format string, args ...any) {
	*f = append(*f, Fault{at, fmt.Sprintf(format, args...)})
}
