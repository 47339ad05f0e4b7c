package agentmap

import (
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// Column is one of the columns that AgentMap knows.
type Column int

// The columns.
const (
	GraphName Column = iota
	NodeName
	AgentType
	Prompt
	Description
	Context
	InputFields
	OutputField
	Edge
	SuccessNext
	FailureNext
	ToolSource
	AvailableTools
	columnCount
)

// ColumnInfo describes a column.
type ColumnInfo struct {
	Column  Column
	Name    string
	Aliases []string // matched without regard to case, as the name is
	Doc     string
}

// Columns describes all columns.
func Columns() []ColumnInfo {
	return []ColumnInfo{
		{GraphName, "GraphName", []string{"graph_name", "Graph", "WorkflowName", "workflow_name", "workflow"}, "graph that the row belongs to; required"},
		{NodeName, "Node", []string{"node_name", "NodeName", "Step", "StepName", "name"}, "name of the node, once in a graph; required. The first row of a graph is its start"},
		{AgentType, "AgentType", []string{"agent_type", "Agent", "Type"}, "what the node does, in any case (default)"},
		{Prompt, "Prompt", []string{"Instructions", "Template", "prompt_template"}, "text; `{field}` is the value of an input field"},
		{Description, "Description", []string{"desc", "Details"}, "a text for people; the orchestrator reads it"},
		{Context, "Context", []string{"Config", "Configuration"}, "JSON object, or Python's way to write one, with the settings of the agent; any other text is a remark"},
		{InputFields, "Input_Fields", []string{"Inputs", "InputFields"}, "fields of the state that the agent is given, with `|` between them; `a:b` gives a under the name b, in a sub-graph `child=parent`"},
		{OutputField, "Output_Field", []string{"Output", "OutputField"}, "field of the state that takes the result; `a|b` takes two fields of it, in a sub-graph `parent=child` one of the child's"},
		{Edge, "Edge", []string{"next_node", "NextNode", "Target", "next"}, "node that comes next; `A|B` runs both side by side"},
		{SuccessNext, "Success_Next", []string{"next_on_success", "SuccessTarget", "on_success"}, "the same, where the agent succeeded"},
		{FailureNext, "Failure_Next", []string{"next_on_failure", "FailureTarget", "on_failure"}, "the same, where it failed, or its question was rejected or cancelled"},
		{ToolSource, "Tool_Source", []string{"ToolSource", "ToolFile", "ToolModule"}, "Python tools; not supported"},
		{AvailableTools, "Available_Tools", []string{"AvailableTools", "Tools", "ToolList"}, "the same"},
	}
}

// String is the column's own name.
func (c Column) String() string { return Columns()[c].Name }

// called are all names of a column in lower case.
func (c ColumnInfo) called() []string {
	names := []string{strings.ToLower(c.Name)}
	for _, a := range c.Aliases {
		names = append(names, strings.ToLower(a))
	}
	return names
}

// header is which cell of a row belongs to which column.
type header struct {
	columns []Column // by cell; columnCount where it belongs to none
	lost    []lostColumn
}

// lostColumn is a column that AgentMap does not know, and that says where a node leads: to leave it alone would lose it.
type lostColumn struct {
	index int
	name  string
	why   string
	told  bool
}

// misread are columns that say where a node leads, as some files have them, and how it is written.
func misread() map[string]string {
	return map[string]string{
		"edges":   "what comes next is written in the row of the node before, in Edge, Success_Next or Failure_Next; this column, which names the node before, would be lost",
		"routing": "where a node leads is written in Edge, Success_Next or Failure_Next; this column would be lost",
	}
}

// readHeader finds the columns. Blanks around names do not matter.
func readHeader(cells []cell, f *File) header {
	h := header{}
	first := map[Column]cell{}
	all := Columns()
	for i, c := range cells {
		c = c.trimmed()
		lower := strings.ToLower(c.text)
		at := slices.IndexFunc(all, func(x ColumnInfo) bool { return slices.Contains(x.called(), lower) })
		h.columns = append(h.columns, columnCount)
		if at < 0 {
			if why, ok := misread()[lower]; ok {
				h.lost = append(h.lost, lostColumn{index: i, name: c.text, why: why})
			} else if c.text != "" {
				f.warn(c.at, "the column %q is none of AgentMap's and is left alone%s", c.text, nearest.Hint(c.text, columnNames()))
			}
			continue
		}
		column := all[at].Column
		if before, twice := first[column]; twice {
			f.fault(c.at, "the columns %q and %q both mean %s: remove one, or give it a name that means what is in it", before.text, c.text, column)
			continue
		}
		first[column] = c
		h.columns[i] = column
	}
	for _, required := range []Column{GraphName, NodeName} {
		if _, ok := first[required]; !ok {
			x := all[required]
			f.fault(cells[0].at, "no column says the %s: its name is %s or one of %s", map[Column]string{GraphName: "graph", NodeName: "node"}[required],
				x.Name, strings.Join(x.Aliases, ", "))
		}
	}
	return h
}

// IsHeader reports whether a line, with the separators that a file may have, names the two columns that every graph has.
func IsHeader(line string) bool {
	rows, _, _ := scan(line, separator(line))
	return len(rows) == 1 && readHeader(rows[0].cells, &File{}).usable()
}

func columnNames() []string {
	var names []string
	for _, c := range Columns() {
		names = append(append(names, c.Name), c.Aliases...)
	}
	return names
}

// separator is what stands between cells: a comma, else what the first line has in its place.
func separator(text string) byte {
	line, _, _ := strings.Cut(text, "\n")
	if strings.Contains(line, ",") {
		return ','
	}
	for _, other := range []byte{';', '\t'} {
		if strings.IndexByte(line, other) >= 0 {
			return other
		}
	}
	return ','
}

func (f *File) fault(at Place, format string, args ...any) {
	(*faults)(&f.Faults).add(at, format, args...)
}

func (f *File) warn(at Place, format string, args ...any) {
	(*faults)(&f.Warnings).add(at, format, args...)
}
