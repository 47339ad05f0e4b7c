package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// bundle is a workflow file with every file it names, directly or over others, each read once. What a file is called in it
// does not say where it is, so that the same files have one fingerprint wherever they are: files are named by their
// path relative to the folder of the first; the file of a workflow that is found by its name, and what that file names,
// by the name, two slashes, and the path relative to its folder, as in child//child.yaml.
type bundle struct {
	source   files
	files    []checkpoint.File
	services Services

	// fresh is that it is read to be started: what is not there to run it is a fault then, and so is what most likely means
	// something else than it says. A thread that has begun with it goes on.
	fresh bool

	parsed map[string]*parsed
	sheets map[string]*sheet // of AgentMap's files, by their names without graph
	open   []string          // files that are being read, outermost first

	prompts map[string]string // texts of files of prompts, by their names
}

// files is where the files of a bundle are.
type files interface {
	read(name string) (string, error)
	find(workflow string) (name string, err error) // the file of a workflow that is found by its name
	show(name string) string                       // how faults call a file
	beside(name string) []string                   // the workflow files in the folder of a file
}

// parsed is what became of one file.
type parsed struct {
	loaded   *Loaded // nil when it has faults
	faults   Faults
	warnings Faults
	asks     bool // a node of it may wait for a person
}

// disk is the files of a bundle as they are now.
type disk struct {
	first   string  // absolute path of the first file
	piped   *string // its text, where it is no file but was given
	shown   string  // how faults call it
	library Library
	folders map[string]string // of workflows found by their names
}

func (d *disk) path(name string) string {
	name, _ = cutGraph(name)
	if path.IsAbs(name) || filepath.IsAbs(name) {
		return name
	}
	found, inner := apart(name)
	folder := filepath.Dir(d.first)
	if found != "" {
		folder = d.folders[found]
	}
	return filepath.Join(folder, filepath.FromSlash(inner))
}

func (d *disk) read(name string) (string, error) {
	if file := d.path(name); d.piped == nil || file != d.first {
		return readText(file)
	}
	return *d.piped, nil
}

func (d *disk) find(workflow string) (string, error) {
	file, err := d.library.Find(workflow)
	switch {
	case err != nil:
		return "", err
	case sameFile(file, d.first):
		return filepath.Base(d.first), nil
	}
	if d.folders == nil {
		d.folders = map[string]string{}
	}
	d.folders[workflow] = filepath.Dir(file)
	return workflow + "//" + filepath.Base(file), nil
}

func (d *disk) show(name string) string {
	name, _ = cutGraph(name)
	found, inner := apart(name)
	switch {
	case found != "" || path.IsAbs(name) || filepath.IsAbs(name):
		return d.path(name)
	case name == filepath.Base(d.first):
		return d.shown
	}
	return filepath.Join(filepath.Dir(d.shown), filepath.FromSlash(inner))
}

func (d *disk) beside(name string) []string {
	entries, err := os.ReadDir(filepath.Dir(d.path(name)))
	if err != nil {
		return nil // nothing to suggest
	}
	var list []string
	for _, e := range entries {
		if _, ok := stemOf(e.Name()); ok && !e.IsDir() {
			list = append(list, e.Name())
		}
	}
	return list
}

// kept is the files of a bundle that a thread keeps.
type kept []checkpoint.File

func (k kept) read(name string) (string, error) {
	for _, f := range k {
		if file, graph := cutGraph(f.Path); f.Path == name || graph != "" && file == name {
			return f.Text, nil
		}
	}
	return "", fs.ErrNotExist
}

func (k kept) find(workflow string) (string, error) {
	for _, f := range k {
		if called(f.Path) == workflow {
			file, _ := cutGraph(f.Path)
			return file, nil
		}
	}
	return "", &NameError{workflow, "is not among the files that the thread keeps", fs.ErrNotExist}
}

func (k kept) show(name string) string { return name }

func (k kept) beside(name string) []string {
	var list []string
	for _, f := range k {
		if path.Dir(f.Path) == path.Dir(name) {
			list = append(list, path.Base(f.Path))
		}
	}
	return list
}

// apart splits what a bundle calls a file into the name of the workflow by which it was found, "" for none, and the path.
func apart(name string) (workflow, inner string) {
	if i := strings.Index(name, "//"); i > 0 {
		return name[:i], name[i+2:]
	}
	return "", name
}

// called is the name by which this very file was found, "" where it was found by its path.
func called(name string) string {
	name, _ = cutGraph(name)
	workflow, inner := apart(name)
	if stem, _ := stemOf(inner); workflow == stem {
		return workflow
	}
	return ""
}

// beside is what the bundle calls the file that another one names by a path.
func beside(name, ref string) string {
	ref, graph := cutGraph(ref)
	name, _ = cutGraph(name)
	return withGraph(besideFile(name, ref), graph)
}

func besideFile(name, ref string) string {
	if filepath.IsAbs(ref) {
		return filepath.Clean(ref)
	}
	workflow, inner := apart(name)
	if path.IsAbs(ref) {
		return path.Clean(ref)
	}
	inner = path.Join(path.Dir(inner), filepath.ToSlash(ref))
	if workflow != "" {
		return workflow + "//" + inner
	}
	return inner
}

// root reads the first file. The error is that of reading it, or Faults: those of all files.
func (b *bundle) root(name string) (*Loaded, error) {
	p, err := b.load(name)
	if errors.As(err, new(*GraphError)) {
		return nil, err // it names the file
	}
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", b.source.show(name), err)
	}
	if faults := b.all(); len(faults) > 0 {
		return nil, faults
	}
	p.loaded.Warnings = b.warnings()
	return p.loaded, nil
}

// load reads a file of the bundle. The error says that it cannot be read.
func (b *bundle) load(name string) (*parsed, error) {
	name, err := b.whole(name)
	if err != nil {
		return nil, err
	}
	if slices.Contains(b.open, name) {
		var chain []string
		for _, file := range append(b.open[slices.Index(b.open, name):len(b.open):len(b.open)], name) {
			chain = append(chain, cmp.Or(called(file), file))
		}
		return nil, &itselfError{chain}
	}
	if p := b.parsed[name]; p != nil {
		return p, nil
	}
	text, err := b.read(name)
	if err != nil {
		return nil, err
	}
	b.open = append(b.open, name)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	b.files = append(b.files, checkpoint.File{Path: name, Text: text})
	p := &parsed{}
	if b.parsed == nil {
		b.parsed = map[string]*parsed{}
	}
	b.parsed[name] = p
	b.parse(p, name, text)
	return p, nil
}

// parse makes a workflow of a file's text.
func (b *bundle) parse(p *parsed, name, text string) {
	var src *source
	switch _, graph := cutGraph(name); {
	case isCSV(name) && graph == "":
		return // a file with faults, and no graph
	case graph != "":
		sheet := b.sheets[fileOf(name)]
		src = newSource(b.source.show(name), "")
		src.lines = sheet.lines
		p.loaded, p.asks = src.load(src.translated(sheet.file, graph, b.csvOptions(name)), b, name)
	case len(text) > limitOf(name):
		p.faults = Faults{{File: b.source.show(name), Line: 1, Column: 1, Message: fmt.Sprintf("the file is larger than %d MiB", limitOf(name)>>20)}}
		return
	default:
		text = withoutReturns(text)
		src = newSource(b.source.show(name), text)
		p.loaded, p.asks = src.load(parseYAML(src, text), b, name)
	}
	p.warnings = src.warnings
	if len(src.faults) > 0 {
		p.loaded, p.faults = nil, src.faults
	}
}

// withoutReturns is a text without what some systems write at its beginning and at the ends of its lines.
func withoutReturns(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
}

// all is every fault of every file.
func (b *bundle) all() Faults {
	var all Faults
	for _, p := range b.parsed {
		all = append(all, p.faults...)
	}
	for _, s := range b.sheets {
		all = append(all, s.faults...)
	}
	return all.sorted()
}

// warnings are what is to be known about all files.
func (b *bundle) warnings() Faults {
	var all Faults
	for _, p := range b.parsed {
		all = append(all, p.warnings...)
	}
	for _, s := range b.sheets {
		all = append(all, s.warnings...)
	}
	return all.sorted()
}

// itselfError says that a workflow contains itself, over the files of chain.
type itselfError struct{ chain []string }

func (e *itselfError) Error() string { return "contains itself: " + strings.Join(e.chain, " -> ") }

// childOf reads the workflow that a node names; nil when it cannot be used, which has been reported.
func (b *builder) childOf(n *nodeDef) *Loaded {
	v := n.child.v
	if v == nil {
		return nil
	}
	p, err := b.child(v.text)
	n.child.asks = true // for all one knows of a file that cannot be read
	var unknown *NameError
	var itself *itselfError
	switch {
	case errors.As(err, &unknown) || errors.As(err, &itself):
		b.fault(v.at, "%v", err)
	case errors.As(err, new(*GraphError)):
		b.fault(v.at, "workflow %q: %v", v.text, err)
	case errors.Is(err, fs.ErrNotExist):
		b.fault(v.at, "workflow %q: there is no such file%s", v.text, nearest.Hint(path.Base(filepath.ToSlash(v.text)), b.bundle.source.beside(beside(b.name, v.text))))
	case err != nil:
		b.fault(v.at, "workflow %q: %v", v.text, err)
	default:
		n.child.asks = p.asks
		if p.loaded != nil && b.bundle.fresh {
			n.child.outputs = p.loaded.outputs
		}
		return p.loaded
	}
	return nil
}

func (b *builder) child(ref string) (*parsed, error) {
	if !IsName(ref) {
		return b.bundle.load(beside(b.name, ref))
	}
	ref, graph, _ := strings.Cut(ref, "::")
	name, err := b.bundle.source.find(ref)
	if err != nil {
		return nil, err
	}
	p, err := b.bundle.load(withGraph(name, graph))
	if err == nil && p.loaded != nil && p.loaded.Name != ref && !isCSV(name) {
		err = &NameError{Name: ref, Message: misnamed(b.bundle.source.show(name), p.loaded.Name)}
	}
	return p, err
}
