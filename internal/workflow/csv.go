package workflow

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/internal/workflow/agentmap"
)

// csvEnding is that of AgentMap's files, in lower case.
const csvEnding = ".csv"

// maxCSVBytes is the limit of an AgentMap file, which holds many graphs.
const maxCSVBytes = 16 << 20

// isCSV reports whether a file, or a graph of it, is one of AgentMap's.
func isCSV(name string) bool {
	file, graph := cutGraph(name)
	return graph != "" || strings.EqualFold(path.Ext(file), csvEnding)
}

// limitOf is how large a file may be, in bytes.
func limitOf(name string) int {
	if isCSV(name) {
		return maxCSVBytes
	}
	return maxBytes
}

// cutGraph takes FILE.csv::GRAPH apart; other names have no graph.
func cutGraph(name string) (file, graph string) {
	for i := 0; ; {
		at := strings.Index(name[i:], "::")
		if at < 0 {
			return name, ""
		}
		if i += at; strings.HasSuffix(strings.ToLower(name[:i]), csvEnding) {
			return name[:i], name[i+2:]
		}
		i += 2
	}
}

func withGraph(file, graph string) string {
	if graph == "" {
		return file
	}
	return file + "::" + graph
}

func fileOf(name string) string {
	file, _ := cutGraph(name)
	return file
}

// GraphError says why a file of several graphs leads to none.
type GraphError struct {
	File    string
	Graph   string // "": none was named
	Message string
	err     error
}

func (e *GraphError) Error() string { return e.Message }
func (e *GraphError) Unwrap() error { return e.err }

// sheet is an AgentMap file of a bundle.
type sheet struct {
	file     *agentmap.File
	text     string // as it is kept
	lines    []string
	faults   Faults
	warnings Faults
}

// read is the text of a file.
func (b *bundle) read(name string) (string, error) {
	if s := b.sheets[fileOf(name)]; s != nil {
		return s.text, nil
	}
	return b.source.read(name)
}

// whole names a graph where name is that of an AgentMap file alone, and reads the file.
func (b *bundle) whole(name string) (string, error) {
	if !isCSV(name) {
		return name, nil
	}
	file, graph := cutGraph(name)
	s, err := b.sheet(file)
	if err != nil {
		return "", err
	}
	known := s.file.Names()
	switch stem := strings.TrimSuffix(path.Base(filepath.ToSlash(file)), path.Ext(file)); {
	case len(known) == 0, graph == "" && len(s.faults) > 0:
		return file, nil // its faults are told
	case graph != "" && !slices.Contains(known, graph):
		hint := nearest.Hint(graph, known)
		if hint == "" {
			hint = "; it has " + strings.Join(known, ", ")
		}
		return "", &GraphError{b.source.show(file), graph, fmt.Sprintf("%s has no graph %q%s", b.source.show(file), graph, hint), fs.ErrNotExist}
	case graph != "":
		return name, nil
	case len(known) == 1:
		return withGraph(file, known[0]), nil
	case slices.Contains(known, stem):
		return withGraph(file, stem), nil
	}
	shown := b.source.show(file)
	return "", &GraphError{File: file, Message: fmt.Sprintf("%s holds %d graphs; name one of them: %s::%s", shown, len(known), shown, strings.Join(known, ", ::"))}
}

// sheet reads an AgentMap file, once.
func (b *bundle) sheet(file string) (*sheet, error) {
	if s := b.sheets[file]; s != nil {
		return s, nil
	}
	text, err := b.source.read(file)
	if err != nil {
		return nil, err
	}
	shown := b.source.show(file)
	s := &sheet{file: &agentmap.File{}, text: text}
	if b.sheets == nil {
		b.sheets = map[string]*sheet{}
	}
	b.sheets[file] = s
	if len(text) > maxCSVBytes {
		s.faults = Faults{{File: shown, Line: 1, Column: 1, Message: fmt.Sprintf("the file is larger than %d MiB", maxCSVBytes>>20)}}
		return s, nil
	}
	lines := strings.ReplaceAll(withoutReturns(text), "\r", "\n")
	src := newSource(shown, lines)
	s.file, s.lines = agentmap.Read(lines), src.lines
	src.tell(s.file.Faults, s.file.Warnings)
	s.faults, s.warnings = src.faults, src.warnings
	return s, nil
}

// tell notes what the reader of AgentMap's files found.
func (s *source) tell(faults, warnings []agentmap.Fault) {
	for _, f := range faults {
		s.fault(position{f.At.Line, f.At.Column}, "%s", f.Message)
	}
	for _, f := range warnings {
		s.warn(position{f.At.Line, f.At.Column}, "%s", f.Message)
	}
}

// translated is a graph of an AgentMap file as the values of a workflow file; nil when it has faults.
func (s *source) translated(file *agentmap.File, graph string, o agentmap.Options) *value {
	g := file.Graph(graph)
	if g == nil {
		return nil // which the faults of the file say
	}
	t := file.Translate(g, o)
	s.tell(t.Faults, t.Warnings)
	if len(t.Faults) > 0 {
		return nil
	}
	return valueOf(t.Root)
}

// valueOf is a value of an AgentMap file as one of a workflow file. What is no number, true, false or null is written as
// texts are over several lines, so that nobody looks for a place within it.
func valueOf(v *agentmap.Value) *value {
	out := &value{text: v.Text, at: position{v.At.Line, v.At.Column}, style: foldedStyle, shape: scalarShape}
	switch v.Shape {
	case agentmap.Bare:
		out.style = plainStyle
	case agentmap.List:
		out.shape = listShape
		for _, item := range v.Items {
			out.list = append(out.list, valueOf(item))
		}
	case agentmap.Mapping:
		out.shape = mappingShape
		for _, e := range v.Entries {
			out.entries = append(out.entries, entry{valueOf(e.Key), valueOf(e.Value)})
		}
	}
	return out
}

// csvOptions say how a graph of a bundle's file names others, where its prompts are, and which models there are.
func (b *bundle) csvOptions(name string) agentmap.Options {
	base := path.Base(filepath.ToSlash(fileOf(name)))
	return agentmap.Options{
		Child: func(graph string) string { return "./" + withGraph(base, graph) },
		Model: b.services.firstModel,
		Kept:  func(ref string) (string, error) { return b.prompt(name, ref) },
	}
}

// firstModel is the first of some names under which a model is configured, else the default.
func (s *Services) firstModel(names []string) string {
	for _, name := range names {
		if _, ok := s.Models[name]; ok {
			return name
		}
	}
	return defaultModel
}

// HoldsGraphs reports whether a CSV file begins as AgentMap's do; others hold data.
func HoldsGraphs(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return false
	}
	return beginsGraphs(string(head))
}

// beginsGraphs reports whether a text begins as AgentMap's files do.
func beginsGraphs(text string) bool {
	text = text[:min(len(text), 4096)]
	line, _, _ := strings.Cut(strings.ReplaceAll(withoutReturns(text), "\r", "\n"), "\n")
	return agentmap.IsHeader(line)
}

// Graphs are the names of the graphs of an AgentMap file, in its order, none for a file of another kind. The error says
// that it cannot be read.
func (l Library) Graphs(ref string) ([]string, error) {
	x, err := l.locate(ref)
	if err != nil || !isCSV(x.path) {
		return nil, err
	}
	s, err := l.bundleOf(x).sheet(filepath.Base(x.path))
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", x.file, err)
	}
	return s.file.Names(), nil
}

// LoadAll reads what Load does, and of an AgentMap file of which no graph is named all graphs, with the faults of all.
func (l Library) LoadAll(ref string) ([]*Loaded, error) {
	x, err := l.locate(ref)
	if err != nil {
		return nil, err
	}
	if !isCSV(x.path) || x.graph != "" {
		loaded, err := l.Load(ref)
		return []*Loaded{loaded}, err
	}
	b, base := l.bundleOf(x), filepath.Base(x.path)
	s, err := b.sheet(base)
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", x.file, err)
	}
	var all []*Loaded
	if len(s.file.Graphs) == 0 {
		return nil, s.faults.sorted()
	}
	for _, graph := range s.file.Names() {
		p, err := b.load(withGraph(base, graph))
		if err != nil {
			return nil, fmt.Errorf("workflow %s: %w", withGraph(x.file, graph), err)
		}
		all = append(all, p.loaded)
	}
	if faults := b.all(); len(faults) > 0 {
		return nil, faults
	}
	if len(all) > 0 {
		all[0].Warnings = b.warnings()
	}
	return all, nil
}
