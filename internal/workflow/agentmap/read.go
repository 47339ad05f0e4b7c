package agentmap

import (
	"strings"
	"unicode/utf8"
)

// emptyFile is what to write into a file that holds nothing.
const emptyFile = "a graph begins with a line of column names, such as GraphName,Node,AgentType,Edge,Input_Fields,Output_Field,Prompt, and has a row for each node"

// Read reads a file. Lines end in a line feed. What is wrong with the file is in its Faults; what could be read is there
// all the same.
func Read(text string) *File {
	f := &File{}
	if at, bad := notText(text); bad != "" {
		f.fault(at, "%s", bad)
		return f
	}
	rows, broken, odd := scan(text, separator(text))
	f.Faults, f.Warnings = broken, odd
	if len(rows) == 0 {
		f.fault(Place{1, 1}, "the file is empty: %s", emptyFile)
		return f
	}
	before := len(f.Faults)
	h := readHeader(rows[0].cells, f)
	if len(rows) == 1 {
		f.fault(rows[0].cells[0].at, "the file holds no node below its header")
	}
	if len(f.Faults) > before && !h.usable() {
		return f
	}
	b := &reading{file: f, header: h, graphs: map[string]*Graph{}, nodes: map[nodeKey]*Node{}}
	for _, row := range rows[1:] {
		b.row(row)
	}
	if len(f.Graphs) == 0 && len(f.Faults) == 0 {
		f.fault(rows[0].cells[0].at, "the file holds no node below its header")
	}
	return f
}

// notText says why a text is none.
func notText(text string) (Place, string) {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return Place{1, 1}, "this is UTF-16: save the file as UTF-8"
	}
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return Place{}, ""
	}
	at := Place{1, 1}
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			return at, "this is not UTF-8: save the file as UTF-8"
		case r == 0:
			return at, "a NUL character is not allowed"
		}
		if at.Column++; r == '\n' {
			at = Place{at.Line + 1, 1}
		}
	}
	return at, ""
}

// usable reports whether rows can be read by the header.
func (h header) usable() bool {
	var graph, node bool
	for _, c := range h.columns {
		graph, node = graph || c == GraphName, node || c == NodeName
	}
	return graph && node
}

// reading makes graphs of rows.
type reading struct {
	file   *File
	header header
	graphs map[string]*Graph
	nodes  map[nodeKey]*Node
}

type nodeKey struct{ graph, node string }

func (b *reading) row(row scannedRow) {
	f, cells := b.file, row.cells
	first := cells[0].trimmed()
	n := &Node{At: first.at}
	b.tooLong(row)
	for i, c := range cells {
		if i < len(b.header.columns) && b.header.columns[i] != columnCount {
			n.cells[b.header.columns[i]] = c
		}
	}
	graph := n.cells[GraphName].trimmed()
	name := n.cells[NodeName].trimmed()
	if !first.quoted && strings.HasPrefix(first.text, "#") && !cells[0].quoted && (name.text == "" || strings.HasPrefix(first.text, "# ")) {
		return // a remark
	}
	for i := range b.header.lost {
		x := &b.header.lost[i]
		if !x.told && x.index < len(cells) && strings.TrimSpace(cells[x.index].text) != "" {
			x.told = true
			f.fault(cells[x.index].trimmed().at, "the column %q is none of AgentMap's: %s", x.name, x.why)
		}
	}
	switch {
	case row.broken && (graph.text == "" || name.text == ""):
		return
	case graph.text == "":
		f.fault(first.at, "this row names no graph: every row does, also where it is that of the row above; a remark begins with #")
		return
	case name.text == "":
		f.fault(first.at, "this row of the graph %q names no node: AgentMap would leave it out; a remark begins with #", graph.text)
		return
	}
	n.Name, n.At = oneLine(name.text), name.at
	key := nodeKey{oneLine(graph.text), n.Name}
	if before := b.nodes[key]; before != nil {
		f.fault(n.At, "the graph %q has a node %q already, in line %d: AgentMap would leave this row out; rename or remove one", key.graph, n.Name, before.At.Line)
		return
	}
	b.nodes[key] = n
	g := b.graphs[key.graph]
	if g == nil {
		g = &Graph{Name: key.graph}
		b.graphs[key.graph] = g
		f.Graphs = append(f.Graphs, g)
	}
	g.Nodes = append(g.Nodes, n)
}

// oneLine is a name with every run of blanks and line breaks as one blank.
func oneLine(name string) string {
	if !strings.ContainsAny(name, "\n\t ") {
		return name
	}
	return strings.Join(strings.Fields(name), " ")
}

// tooLong reports a row that has more cells than the header, where one of them holds something.
func (b *reading) tooLong(row scannedRow) {
	if row.broken || len(row.cells) <= len(b.header.columns) || strings.HasPrefix(row.cells[0].text, "#") {
		return
	}
	for _, c := range row.cells[len(b.header.columns):] {
		if text := c.trimmed(); text.text != "" {
			b.file.fault(text.at, "this row has %d cells and the header %d, so that it is not known which belongs where: take out a comma, or put quotes around a cell that holds one (%q is one too many)",
				len(row.cells), len(b.header.columns), short(text.text))
			return
		}
	}
}

// short is a text for a message.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return text
}
