package workflow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// Library is the folders in which workflows are found by name: the workflow child is child.yaml, child.yml or child.csv in
// one of them. Folders that do not exist are left out. The zero value finds none, and knows no models.
type Library struct {
	Folders  []string
	Services Services // of the workflows that it reads

	// Piped is what the file Stdin means: the text of a workflow file, as if it lay in the present folder. Nil: that is no file.
	Piped *string
}

// Stdin is what command lines call the standard input, in place of a file; Stdin::GRAPH is a graph in it.
const Stdin = "-"

// NameError says why a name leads to no workflow. It wraps fs.ErrNotExist where nothing has the name.
type NameError struct {
	Name    string
	Message string // "is in none of the folders ...", "is the name of two files: ..."
	err     error
}

func (e *NameError) Error() string { return fmt.Sprintf("workflow %q %s", e.Name, e.Message) }
func (e *NameError) Unwrap() error { return e.err }

// endings are those of workflow files, in lower case.
func endings() []string { return []string{".yaml", ".yml", csvEnding} }

// IsName reports whether a reference is the name of a workflow and no file: it has neither a folder nor the ending of a
// workflow file.
func IsName(ref string) bool {
	lower := strings.ToLower(ref)
	file := strings.Contains(lower, csvEnding+"::") || slices.ContainsFunc(endings(), func(end string) bool { return strings.HasSuffix(lower, end) })
	return !file && !strings.ContainsRune(ref, '/') && !strings.ContainsRune(ref, filepath.Separator)
}

// Load reads FILE, or the workflow of a name, and whatever it names. A file of the present folder that is called like a
// name is that file. FILE.csv::GRAPH, or NAME::GRAPH, is one of the graphs of an AgentMap file; without GRAPH the only one,
// or the one that is called like the file. The error is Faults, a *NameError or a *GraphError, or wraps fs.ErrNotExist and
// the like.
func (l Library) Load(ref string) (*Loaded, error) {
	x, err := l.locate(ref)
	if err != nil {
		return nil, err
	}
	b := l.bundleOf(x)
	loaded, err := b.root(withGraph(filepath.Base(x.path), x.graph))
	if err != nil {
		return nil, err
	}
	if x.name != "" && loaded.Name != x.name && !isCSV(x.path) {
		return nil, &NameError{Name: x.name, Message: misnamed(x.file, loaded.Name)}
	}
	_, graph := cutGraph(b.files[0].Path)
	loaded.Definition = checkpoint.Definition{
		Fingerprint: checkpoint.Fingerprint(b.files), Workflow: loaded.Name, Graph: graph, Source: x.path, Files: b.files,
	}
	loaded.Graph.Fingerprint = loaded.Definition.Fingerprint
	return loaded, nil
}

// located is a workflow file that was found.
type located struct {
	file  string // as it was written, or as it was found
	path  string // absolute
	graph string // of a CSV file, "" where none is named
	name  string // by which it was found, "" for a path
}

func (l Library) bundleOf(x located) *bundle {
	d := &disk{first: x.path, shown: x.file, library: l}
	if x.file == Stdin {
		d.piped = l.Piped
	}
	return &bundle{source: d, services: l.Services, fresh: true}
}

// locate finds the file of a reference.
func (l Library) locate(ref string) (x located, err error) {
	x.file, x.graph, _ = strings.Cut(ref, "::")
	if x.file == Stdin && l.Piped != nil {
		x.path, err = filepath.Abs(pipedFile(*l.Piped))
		if x.graph != "" && !isCSV(x.path) {
			return x, Faults{{File: x.file, Line: 1, Column: 1, Message: "this is no CSV file: leave ::" + x.graph + " away, which names a graph of one"}}
		}
		return x, err
	}
	info, err := os.Stat(x.file)
	if errors.Is(err, fs.ErrNotExist) && IsName(x.file) {
		x.name = x.file
		if x.file, err = l.Find(x.name); err != nil {
			return x, err
		}
	}
	switch {
	case err == nil && info != nil && info.IsDir():
		return x, Faults{{File: x.file, Line: 1, Column: 1, Message: "this is a folder: name a workflow file in it"}}
	case err == nil && x.graph != "" && !isCSV(x.file):
		return x, Faults{{File: x.file, Line: 1, Column: 1, Message: "this file holds one workflow: leave ::" + x.graph + " away, which names a graph of a CSV file"}}
	}
	if x.path, err = filepath.Abs(x.file); err != nil {
		return x, fmt.Errorf("workflow %s: %w", x.file, err)
	}
	return x, nil
}

// pipedFile is what the text of the standard input would be called as a file: what begins as AgentMap's files do is one.
func pipedFile(text string) string {
	if beginsGraphs(text) {
		return "stdin" + csvEnding
	}
	return "stdin.yaml"
}

// misnamed continues the sentence "workflow NAME ..." for a file that calls itself otherwise: one name for two workflows
// would be the end of knowing what runs.
func misnamed(file, own string) string {
	return fmt.Sprintf("is the file %s, which calls itself %q: rename one of them", file, own)
}

// Find is the path of the file of a workflow. The error is a *NameError, or that of a folder that cannot be read.
func (l Library) Find(name string) (string, error) {
	var found []string
	var known []string
	for _, folder := range l.Folders {
		entries, err := os.ReadDir(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("the folder of workflows: %w", err)
		}
		for _, entry := range entries {
			stem, ok := stemOf(entry.Name())
			switch file := filepath.Join(folder, entry.Name()); {
			case !ok || entry.IsDir() || isCSV(file) && !HoldsGraphs(file):
			case stem != name:
				known = append(known, stem)
			case !slices.ContainsFunc(found, func(other string) bool { return sameFile(file, other) }):
				found = append(found, file)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", &NameError{Name: name, Message: "is the name of several files: " + strings.Join(found, ", ") + "; rename all but one, or name a file"}
	case len(l.Folders) == 0:
		return "", &NameError{name, fmt.Sprintf("is no file, and no folders of workflows are configured; write the path of the file, as in ./%s.yaml", name), fs.ErrNotExist}
	}
	slices.Sort(known)
	return "", &NameError{name, "is in none of the folders " + strings.Join(l.Folders, ", ") + nearest.Hint(name, known), fs.ErrNotExist}
}

// stemOf is the name of a workflow file without its ending; false for other files.
func stemOf(file string) (string, bool) {
	ext := filepath.Ext(file)
	stem := strings.TrimSuffix(file, ext)
	return stem, stem != "" && slices.Contains(endings(), strings.ToLower(ext))
}

// sameFile reports whether two paths lead to one file, which then has no second name.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}
