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

// Library is the folders in which workflows are found by name: the workflow child is child.yaml or child.yml in one of
// them. Folders that do not exist are left out. The zero value finds none, and knows no models.
type Library struct {
	Folders  []string
	Services Services // of the workflows that it reads
}

// NameError says why a name leads to no workflow. It wraps fs.ErrNotExist where nothing has the name.
type NameError struct {
	Name    string
	Message string // "is in none of the folders ...", "is the name of two files: ..."
	err     error
}

func (e *NameError) Error() string { return fmt.Sprintf("workflow %q %s", e.Name, e.Message) }
func (e *NameError) Unwrap() error { return e.err }

// endings are those of workflow files, in lower case.
func endings() []string { return []string{".yaml", ".yml"} }

// IsName reports whether a reference is the name of a workflow and no file: it has neither a folder nor the ending of a
// workflow file.
func IsName(ref string) bool {
	lower := strings.ToLower(ref)
	file := strings.Contains(lower, ".csv::") || slices.ContainsFunc(append(endings(), ".csv"), func(end string) bool { return strings.HasSuffix(lower, end) })
	return !file && !strings.ContainsRune(ref, '/') && !strings.ContainsRune(ref, filepath.Separator)
}

// Load reads FILE, or the workflow of a name, and whatever it names. A file of the present folder that is called like a
// name is that file. The error is Faults or a *NameError, or wraps fs.ErrNotExist and the like. FILE::GRAPH, a graph of an
// AgentMap CSV file, comes with a later version.
func (l Library) Load(ref string) (*Loaded, error) {
	file, graph, _ := strings.Cut(ref, "::")
	if graph != "" || strings.EqualFold(filepath.Ext(file), ".csv") {
		return nil, Faults{{File: file, Line: 1, Column: 1, Message: "AgentMap CSV files come with a later version: write the workflow in YAML"}}
	}
	name := ""
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) && IsName(file) {
		name = file
		if file, err = l.Find(name); err != nil {
			return nil, err
		}
	}
	if err == nil && info != nil && info.IsDir() {
		return nil, Faults{{File: file, Line: 1, Column: 1, Message: "this is a folder: name a workflow file in it"}}
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", file, err)
	}
	b := &bundle{source: &disk{first: abs, shown: file, library: l}, services: l.Services, fresh: true}
	loaded, err := b.root(filepath.Base(abs))
	if err != nil {
		return nil, err
	}
	if name != "" && loaded.Name != name {
		return nil, &NameError{Name: name, Message: misnamed(file, loaded.Name)}
	}
	loaded.Definition = checkpoint.Definition{Fingerprint: checkpoint.Fingerprint(b.files), Workflow: loaded.Name, Source: abs, Files: b.files}
	loaded.Graph.Fingerprint = loaded.Definition.Fingerprint
	return loaded, nil
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
			case !ok || entry.IsDir():
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
