package workflow_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

const (
	byName = "workflow: top\nnodes:\n  x: {workflow: child, output: got, then: y}\n  y: {map: \"['a', 'b']\", workflow: child, output: many}\n"
	named  = "workflow: child\noutput: {said: said}\nnodes:\n  n: {workflow: ../parts/other.yaml, output: {said: output.said}}\n"
	part   = "workflow: other\nnodes:\n  n: {set: {said: \"'other'\"}, then: ask}\n  ask: {human: approval, message: Fine?}\n"
)

// shelf is a folder with a file that names a workflow, and a library beside it.
func shelf(t *testing.T, files ...string) (top string, library workflow.Library) {
	t.Helper()
	top = write(t, append([]string{"top.yaml"}, files...)...)
	folder := filepath.Dir(top)
	return top, workflow.Library{Folders: []string{filepath.Join(folder, "missing"), filepath.Join(folder, "one"), filepath.Join(folder, "two")}}
}

// TestNamedWorkflows: a workflow found by name is kept with what it names, wherever the folders were.
func TestNamedWorkflows(t *testing.T) {
	load := func(part string) (string, *workflow.Loaded) {
		top, library := shelf(t, byName, "two/child.yml", named, "parts/other.yaml", part, "one/unread.yaml", "no: {workflow")
		l, err := library.Load(top)
		if err != nil {
			t.Fatal(err)
		}
		return top, l
	}
	top, l := load(part)
	var names []string
	for _, f := range l.Definition.Files {
		names = append(names, f.Path)
	}
	if diff := cmp.Diff([]string{"top.yaml", "child//child.yml", "child//../parts/other.yaml"}, names); diff != "" {
		t.Fatalf("bundle -want +got\n%s", diff)
	}
	if _, again := load(part); again.Definition.Fingerprint != l.Definition.Fingerprint {
		t.Error("the same files elsewhere have another fingerprint")
	}
	if _, changed := load(part + "# changed\n"); changed.Definition.Fingerprint == l.Definition.Fingerprint {
		t.Error("another file has the same fingerprint")
	}
	if err := os.RemoveAll(filepath.Dir(top)); err != nil { // a thread keeps what it began with
		t.Fatal(err)
	}
	again, err := workflow.FromDefinition(l.Definition)
	if err != nil {
		t.Fatal(err)
	}
	d, out := begin(t, again, t.TempDir(), nil)
	for _, q := range []string{"x/n/ask", "y/1/n/ask", "y/0/n/ask"} {
		if out, err = d.answer(q, "approve", ""); err != nil {
			t.Fatal(err)
		}
	}
	var got struct {
		Got  struct{ Said string }
		Many []struct{ Said string }
	}
	if err := json.Unmarshal(out.Outputs, &got); err != nil || out.Status != checkpoint.Done || got.Got.Said != "other" || len(got.Many) != 2 {
		t.Errorf("%s %s, %v", out.Status, out.Outputs, err)
	}
}

func TestFaultsOfNames(t *testing.T) {
	const leaf = "workflow: child\nnodes:\n  n: {template: x}\n"
	const top = "workflow: top\nnodes:\n  x: {workflow: child}\n"
	for name, test := range map[string]struct {
		files []string
		want  string // DIR is the folder
	}{
		"unknown":           {[]string{top, "one/chidl.yaml", leaf, "two/else.yaml", leaf}, `top.yaml:3:17: workflow "child" is in none of the folders DIR/missing, DIR/one, DIR/two; did you mean "chidl"?`},
		"no workflow file":  {[]string{top, "one/child.txt", leaf, "two/child.yaml/x", leaf}, `top.yaml:3:17: workflow "child" is in none of the folders DIR/missing, DIR/one, DIR/two`},
		"two folders":       {[]string{top, "one/child.yaml", leaf, "two/child.yaml", leaf}, `top.yaml:3:17: workflow "child" is the name of several files: DIR/one/child.yaml, DIR/two/child.yaml; rename all but one, or name a file`},
		"two endings":       {[]string{top, "one/child.yaml", leaf, "one/child.yml", leaf}, `top.yaml:3:17: workflow "child" is the name of several files: DIR/one/child.yaml, DIR/one/child.yml; rename all but one, or name a file`},
		"called otherwise":  {[]string{top, "one/child.yaml", strings.Replace(leaf, "child", "kid", 1)}, `top.yaml:3:17: workflow "child" is the file DIR/one/child.yaml, which calls itself "kid": rename one of them`},
		"faults of its own": {[]string{top, "one/child.yaml", strings.Replace(leaf, "template", "tmplate", 1)}, `one/child.yaml:3:7: unknown key "tmplate" in node "n"; did you mean "template"?`},
		"itself":            {[]string{top, "one/child.yaml", strings.Replace(leaf, "template: x", "workflow: child", 1)}, `one/child.yaml:3:17: contains itself: child -> child`},
		"itself across folders": {[]string{top, "one/child.yaml", strings.Replace(leaf, "template: x", "workflow: ../parts/p.yaml", 1),
			"parts/p.yaml", strings.Replace(leaf, "template: x", "workflow: other", 1),
			"two/other.yaml", "workflow: other\nnodes:\n  n: {map: \"[1]\", workflow: child}\n"},
			`two/other.yaml:3:29: contains itself: child -> child//../parts/p.yaml -> other -> child`},
	} {
		t.Run(name, func(t *testing.T) {
			file, library := shelf(t, test.files...)
			_, err := library.Load(file)
			var faults workflow.Faults
			if !errors.As(err, &faults) || len(faults) != 1 {
				t.Fatalf("not one fault: %v", err)
			}
			fault := faults[0]
			fault.Excerpt = ""
			got := strings.TrimPrefix(fault.String(), filepath.Dir(file)+"/")
			if got = strings.ReplaceAll(got, filepath.Dir(file), "DIR"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestTheFirstFileByItsName: a file in one of the folders is the one that its name finds.
func TestTheFirstFileByItsName(t *testing.T) {
	file, library := shelf(t, "workflow: top\nnodes:\n  x: {workflow: child}\n", "one/child.yaml", "workflow: child\nnodes:\n  x: {workflow: top}\n")
	library.Folders = append(library.Folders, filepath.Dir(file))
	_, err := library.Load(file)
	if err == nil || !strings.Contains(err.Error(), "contains itself: top.yaml -> child -> top.yaml") {
		t.Errorf("got %v", err)
	}
}

// TestLoadByName: what is started may be a name, too; a file comes first.
func TestLoadByName(t *testing.T) {
	file, library := shelf(t, "workflow: top\nnodes:\n  x: {template: x}\n", "one/top.yaml", "workflow: top\nnodes:\n  y: {template: y}\n", "two/other.yaml", "workflow: another\nnodes:\n  y: {template: y}\n")
	folder := filepath.Dir(file)
	l, err := library.Load("top")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(folder, "one", "top.yaml"); l.Definition.Source != want {
		t.Errorf("source %s, want %s", l.Definition.Source, want)
	}
	for name, want := range map[string]string{"topp": `did you mean "top"?`, "other": `which calls itself "another"`} {
		if _, err := library.Load(name); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, fs.ErrNotExist) != (name == "topp") {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Chdir(folder)
	if err := os.Rename("top.yaml", "top"); err != nil {
		t.Fatal(err)
	}
	if l, err := library.Load("top"); err != nil || l.Definition.Source != filepath.Join(folder, "top") {
		t.Errorf("a file of the present folder: %+v, %v", l, err)
	}
	if _, err := (workflow.Library{}).Load("nothing"); err == nil || !strings.Contains(err.Error(), "./nothing.yaml") {
		t.Errorf("without folders: %v", err)
	}
}
