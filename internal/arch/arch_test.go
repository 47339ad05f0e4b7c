// Package arch holds the test that walks the import graph: who may import whom is part of the design.
package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/hitl-tui/hitl-tui/"

// rule forbids imports to the packages below some folders. Folders are relative to the module; other names are
// import paths as they stand. Test files are exempt: a test may bring a real store.
type rule struct {
	from   string
	forbid []string
	except []string
	why    string
}

var backends = []string{
	"internal/checkpoint/sqlite", "internal/checkpoint/memory", "internal/checkpoint/file",
	"internal/checkpoint/redis", "internal/checkpoint/postgres", "internal/checkpoint/open",
}

var terminal = []string{"internal/ui", "charm.land/bubbletea/v2", "charm.land/bubbles/v2", "charm.land/lipgloss/v2"}

func rules() []rule {
	with := func(lists ...[]string) []string {
		var all []string
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	return []rule{
		{from: "internal/ui", forbid: with([]string{"internal/checkpoint", "internal/engine", "internal/workflow", "database/sql"}),
			why: "the screen knows the desk only, so that any source of threads can stand behind it"},
		{from: "internal/server", forbid: terminal, why: "HTTP has no screen"},
		{from: "internal/desk", forbid: with(terminal, backends, []string{"internal/server", "database/sql"}),
			why: "the use cases are the same for every face and every store"},
		{from: "internal/desk", forbid: []string{"internal/checkpoint", "internal/engine", "internal/workflow"},
			except: []string{"internal/desk/local"}, why: "the desk sees threads through its Source; only the local source knows our engine"},
		{from: "internal/question", forbid: with(terminal, []string{"internal/checkpoint", "internal/engine", "database/sql"}),
			why: "a payload is understood without screen or store"},
		{from: "internal/workflow", forbid: with(terminal, backends, []string{"internal/desk", "database/sql"}),
			why: "files become graphs, nothing runs or is stored here"},
		{from: "internal/engine", forbid: with(terminal, backends, []string{"internal/workflow", "internal/desk", "internal/server", "database/sql"}),
			why: "the engine runs graphs over any store"},
		{from: "internal/checkpoint", forbid: with(terminal, []string{"internal/engine", "internal/workflow", "internal/desk"}),
			why: "a store does not know who uses it"},
		{from: "internal/llm", forbid: with(terminal, []string{"internal/engine", "internal/workflow", "internal/config", "internal/desk", "internal/checkpoint"}),
			why: "a model is asked the same whoever asks"},
		{from: "internal/workflow", forbid: []string{"internal/config"}, why: "models come in as values, not from a file"},
		{from: "internal/actions", forbid: []string{"internal/"}, except: nil, why: "actions stand on the standard library and JSON Schema alone"},
	}
}

// leaves may be imported from anywhere: they import nothing of this module themselves.
var leaves = []string{"internal/nearest", "internal/schema"}

func TestImportArrows(t *testing.T) {
	root := moduleRoot(t)
	imports := readImports(t, root)
	if len(imports) < 5 {
		t.Fatalf("only %d packages found below %s: the walk is broken", len(imports), root)
	}
	for _, r := range rules() {
		for pkg, files := range imports {
			if !below(pkg, r.from) || anyBelow(pkg, r.except) {
				continue
			}
			for file, paths := range files {
				for _, imported := range paths {
					if forbidden(imported, r) {
						t.Errorf("%s imports %s: %s", file, imported, r.why)
					}
				}
			}
		}
	}
}

func TestLeavesImportNothingOfOurs(t *testing.T) {
	for pkg, files := range readImports(t, moduleRoot(t)) {
		if !anyBelow(pkg, leaves) {
			continue
		}
		for file, paths := range files {
			for _, imported := range paths {
				if strings.HasPrefix(imported, module) {
					t.Errorf("%s imports %s, but a leaf stands alone", file, imported)
				}
			}
		}
	}
}

// TestOnlyActionsDependencies keeps internal/actions to the standard library and one JSON Schema library.
func TestOnlyActionsDependencies(t *testing.T) {
	for file, paths := range readImports(t, moduleRoot(t))["internal/actions"] {
		for _, imported := range paths {
			first, _, _ := strings.Cut(imported, "/")
			outside := strings.Contains(first, ".") && !strings.HasPrefix(imported, module)
			if outside && !strings.HasPrefix(imported, "github.com/santhosh-tekuri/jsonschema/") && !strings.HasPrefix(imported, "golang.org/x/text/") {
				t.Errorf("%s imports %s", file, imported)
			}
		}
	}
}

func forbidden(imported string, r rule) bool {
	own, ours := strings.CutPrefix(imported, module)
	if ours && anyBelow(own, leaves) {
		return false
	}
	for _, f := range r.forbid {
		switch {
		case ours && strings.HasSuffix(f, "/") && strings.HasPrefix(own, f) && !below(own, r.from):
			return true
		case ours && below(own, f):
			return true
		case !ours && below(imported, f):
			return true
		}
	}
	return false
}

func below(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

func anyBelow(pkg string, folders []string) bool {
	for _, f := range folders {
		if below(pkg, f) {
			return true
		}
	}
	return false
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// readImports gives package folder -> file -> import paths, test files left out.
func readImports(t *testing.T, root string) map[string]map[string][]string {
	t.Helper()
	found := map[string]map[string][]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && file != root || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		pkg := path.Dir(rel)
		if found[pkg] == nil {
			found[pkg] = map[string][]string{}
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[pkg][rel] = append(found[pkg][rel], imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
