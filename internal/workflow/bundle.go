package workflow

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// bundle is a workflow file with every file it names, directly or over others, each read once. Files are named by their
// path relative to the folder of the first, so that the same files have one fingerprint wherever they are.
type bundle struct {
	files []checkpoint.File
	read  func(name string) (string, error)
	shown string // the first file on disk, as faults call it; "" for files that a thread keeps

	parsed map[string]*parsed
	open   []string // files that are being read, outermost first
}

// parsed is what became of one file.
type parsed struct {
	loaded *Loaded // nil when it has faults
	faults Faults
	asks   bool // a node of it may wait for a person
}

// onDisk is the bundle of the file at an absolute path.
func onDisk(abs, shown string) *bundle {
	folder := filepath.Dir(abs)
	return &bundle{shown: shown, read: func(name string) (string, error) {
		if !path.IsAbs(name) && !filepath.IsAbs(name) {
			name = filepath.Join(folder, filepath.FromSlash(name))
		}
		return readText(name)
	}}
}

// kept is the bundle of files that a thread keeps.
func kept(files []checkpoint.File) *bundle {
	return &bundle{read: func(name string) (string, error) {
		for _, f := range files {
			if f.Path == name {
				return f.Text, nil
			}
		}
		return "", fs.ErrNotExist
	}}
}

// root reads the first file. The error is that of reading it, or Faults: those of all files.
func (b *bundle) root(name string) (*Loaded, error) {
	p, err := b.load(name)
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", b.show(name), err)
	}
	if faults := b.all(); len(faults) > 0 {
		return nil, faults
	}
	return p.loaded, nil
}

// load reads a file of the bundle. The error says that it cannot be read.
func (b *bundle) load(name string) (*parsed, error) {
	if slices.Contains(b.open, name) {
		chain := append(slices.Clone(b.open[slices.Index(b.open, name):]), name)
		return nil, fmt.Errorf("contains itself: %s", strings.Join(chain, " -> "))
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
	p.loaded, p.asks, p.faults = b.parse(name, text)
	return p, nil
}

// show is how faults call a file.
func (b *bundle) show(name string) string {
	switch {
	case b.shown == "" || path.IsAbs(name):
		return name
	case name == filepath.Base(b.shown):
		return b.shown
	}
	return filepath.Join(filepath.Dir(b.shown), filepath.FromSlash(name))
}

// parse makes a workflow of a file's text.
func (b *bundle) parse(name, text string) (*Loaded, bool, Faults) {
	shown := b.show(name)
	if len(text) > maxBytes {
		return nil, false, Faults{{File: shown, Line: 1, Column: 1, Message: "the file is larger than 1 MiB"}}
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	src := newSource(shown, text)
	l, asks := src.load(text, b, name)
	if len(src.faults) > 0 {
		return nil, asks, src.faults
	}
	return l, asks, nil
}

// all is every fault of every file.
func (b *bundle) all() Faults {
	var all Faults
	for _, p := range b.parsed {
		all = append(all, p.faults...)
	}
	return all.sorted()
}

// child reads the workflow that a node names; nil when it cannot be used, which has been reported.
func (b *builder) childOf(n *nodeDef) *Loaded {
	v := n.child.v
	if v == nil {
		return nil
	}
	name := v.text
	if !path.IsAbs(name) && !filepath.IsAbs(name) {
		name = path.Join(path.Dir(b.name), filepath.ToSlash(name))
	}
	p, err := b.bundle.load(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.fault(v.at, "workflow %q: there is no such file", v.text)
	case err != nil && strings.HasPrefix(err.Error(), "contains itself"):
		b.fault(v.at, "%v", err)
	case err != nil:
		b.fault(v.at, "workflow %q: %v", v.text, err)
	default:
		n.child.asks = p.asks
		return p.loaded
	}
	return nil
}
