package examples_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/examples"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// play is one way through a workflow: the answers, and where they lead.
type play struct {
	Workflow string                     `json:"workflow"`
	Needs    []string                   `json:"needs"` // programs
	Commits  []string                   `json:"commits"`
	Files    map[string]string          `json:"files"` // in the folder in which the thread starts, beside the examples
	Old      []string                   `json:"old"`   // of them, those that were last changed years ago
	Input    map[string]json.RawMessage `json:"input"`
	Script   []scripted                 `json:"script"`
	Status   string                     `json:"status"`
	Error    string                     `json:"error"`   // part of the failure's message
	Outputs  map[string]any             `json:"outputs"` // those listed
	Leaves   map[string]string          `json:"leaves"`  // files as they are afterwards
	Gone     []string                   `json:"gone"`    // files that are not there afterwards
	Hears    []string                   `json:"hears"`   // what programs say while they run, line by line, where it matters
	Path     []string                   `json:"path"`    // node runs in order, where it matters
}

type scripted struct {
	Q       string          `json:"q"`
	Action  string          `json:"action"`
	Data    json.RawMessage `json:"data"`
	Title   string          `json:"title"`   // what the question must be called
	Message string          `json:"message"` // what it must say
	Content string          `json:"content"` // the text it must show
	Open    []string        `json:"open"`    // every question that is open after it, in order
	Refused string          `json:"refused"` // part of the error; the answer must change nothing
}

func TestEveryAnswerOfEveryExample(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	played := map[string]map[string]bool{}
	var skipped []string // workflows of which a program is missing
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p play
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&p); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if played[p.Workflow] == nil {
			played[p.Workflow] = map[string]bool{}
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			defer func() {
				if t.Skipped() {
					skipped = append(skipped, p.Workflow)
				}
			}()
			p.run(t, played[p.Workflow])
		})
	}
	t.Run("complete", func(t *testing.T) { everyAnswerPlayed(t, played, skipped) })
}

// everyAnswerPlayed fails when a node that asks was asked in no play, or no play gives an answer that one of its
// questions allows.
func everyAnswerPlayed(t *testing.T, played map[string]map[string]bool, skipped []string) {
	folder := play{}.lay(t)
	files, err := fs.Glob(examples.Files, "*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name, ending, _ := strings.Cut(file, ".")
		if ending != "yaml" && !(ending == "csv" && workflow.HoldsGraphs(filepath.Join(folder, file))) {
			continue
		}
		loaded, err := workflow.Load(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(skipped, name) {
			continue
		}
		for _, node := range asking(loaded.Graph, "") {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(played[name])), func(answer string) bool {
				rest, ok := strings.CutPrefix(answer, node)
				return ok && strings.ContainsAny(rest[:1], " .")
			}) {
				t.Errorf("%s: %s asks in no play", name, node)
			}
		}
		for answer, done := range played[name] {
			if !done {
				t.Errorf("%s: %s is allowed but no play gives it", name, answer)
			}
		}
	}
}

// asking are the addresses of the nodes that may ask.
func asking(g *engine.Graph, around string) (all []string) {
	for _, n := range g.Nodes {
		switch {
		case n.Sub != nil:
			all = append(all, asking(n.Sub.Graph, around+n.Name+"/")...)
		case n.Map != nil:
			all = append(all, asking(n.Map.Body, around+n.Name+"/*/")...)
		case n.RerunOnResume || n.Kind == "human" || n.Kind == "questions":
			all = append(all, around+n.Name)
		}
	}
	return all
}

func (p play) run(t *testing.T, answered map[string]bool) {
	p.need(t)
	folder := p.lay(t)
	loaded, err := workflow.Library{Folders: []string{folder}}.Load(p.Workflow)
	if err != nil {
		t.Fatal(err)
	}
	input, err := loaded.CheckInput(p.Input)
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New(memory.Options{})
	var heard progress
	e := engine.New(store, engine.Options{Graphs: &workflow.Graphs{}, Observer: &heard})
	out, err := e.Start(t.Context(), engine.StartRequest{Thread: "example", Definition: loaded.Definition, Input: input, Workdir: folder, By: "starter"})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range p.Script {
		out = s.answer(t, e, out, i, answered)
	}
	e.Heard()
	p.check(t, out, folder)
	heard.check(t, p.Hears)
	var path []string
	for c, err := range store.History(t.Context(), "example", false) {
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range c.Runs {
			path = append(path, run.Path[strings.LastIndexByte(run.Path, '/')+1:])
		}
	}
	if p.Path != nil && !cmp.Equal(p.Path, path) {
		t.Errorf("ran %v, want %v", path, p.Path)
	}
}

func (s scripted) answer(t *testing.T, e *engine.Engine, out *engine.Outcome, i int, answered map[string]bool) *engine.Outcome {
	t.Helper()
	var question *engine.OpenQuestion
	for j := range out.Questions {
		q := &out.Questions[j]
		for action := range q.Leads {
			if name := anyItem(q.Address) + " " + string(action); !answered[name] {
				answered[name] = false
			}
		}
		if q.Address == s.Q || q.Key == s.Q {
			question = q
		}
	}
	if question == nil {
		t.Fatalf("answer %d: %s is not open: %s, %+v", i, s.Q, out.Status, out.Error)
	}
	s.shown(t, i, question)
	next, err := e.Resume(context.Background(), engine.ResumeRequest{
		Thread: out.Thread, By: "tester", Answers: []engine.Answer{{Interrupt: s.Q, Action: s.Action, Data: s.Data}},
	})
	if s.Refused != "" {
		if err == nil || !strings.Contains(err.Error(), s.Refused) {
			t.Fatalf("answer %d: error %v, want one with %q", i, err, s.Refused)
		}
		again, err := e.Open(context.Background(), out.Thread)
		if err != nil {
			t.Fatal(err)
		}
		if again.Version != out.Version {
			t.Fatalf("answer %d was refused and changed the thread from %v to %v", i, out.Version, again.Version)
		}
		s.checkOpen(t, i, again)
		return out
	}
	if err != nil {
		t.Fatalf("answer %d (%s %s): %v", i, s.Q, s.Action, err)
	}
	answered[anyItem(question.Address)+" "+s.Action] = true
	s.checkOpen(t, i, next)
	return next
}

// shown checks what the question shows to whoever answers.
func (s scripted) shown(t *testing.T, i int, q *engine.OpenQuestion) {
	t.Helper()
	var content string
	_ = json.Unmarshal(q.Question.Content, &content) // content that is no text is none that a script tells
	for _, x := range []struct{ what, want, got string }{
		{"title", s.Title, q.Question.Title}, {"message", s.Message, q.Question.Message}, {"content", s.Content, content},
	} {
		if x.want != "" && x.got != x.want {
			t.Errorf("answer %d: the %s is %q, want %q", i, x.what, x.got, x.want)
		}
	}
}

// checkOpen checks which questions are open after the answer, where the script says.
func (s scripted) checkOpen(t *testing.T, i int, out *engine.Outcome) {
	t.Helper()
	open := []string{}
	for _, q := range out.Questions {
		open = append(open, q.Address)
	}
	if s.Open != nil && !cmp.Equal(s.Open, open) {
		t.Errorf("answer %d: %v are open, want %v", i, open, s.Open)
	}
}

// anyItem is the address of a question without saying which item of a map asked it.
func anyItem(address string) string {
	return regexp.MustCompile(`/[0-9]+/`).ReplaceAllString(address, "/*/")
}

// progress keeps what programs said while they ran.
type progress struct {
	mu    sync.Mutex
	lines []string
}

// Observe implements engine.Observer.
func (p *progress) Observe(e engine.Event) {
	if e.Type == engine.NodeOutput {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lines = append(p.lines, strings.Split(strings.TrimRight(e.Text, "\n"), "\n")...)
	}
}

func (p *progress) check(t *testing.T, want []string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if diff := cmp.Diff(want, p.lines); want != nil && diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func (p play) check(t *testing.T, out *engine.Outcome, folder string) {
	t.Helper()
	if string(out.Status) != p.Status {
		t.Fatalf("status %s, want %s: %+v, %+v", out.Status, p.Status, out.Error, out.Questions)
	}
	if p.Error != "" && (out.Error == nil || !strings.Contains(out.Error.Message, p.Error)) {
		t.Errorf("error %+v, want one with %q", out.Error, p.Error)
	}
	var outputs map[string]any
	if len(out.Outputs) > 0 {
		if err := json.Unmarshal(out.Outputs, &outputs); err != nil {
			t.Fatal(err)
		}
	}
	for key, want := range p.Outputs {
		if diff := cmp.Diff(want, outputs[key]); diff != "" {
			t.Errorf("output %s (-want +got):\n%s", key, diff)
		}
	}
	for name, want := range p.Leaves {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("file %s (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range p.Gone {
		if _, err := os.Stat(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// need skips by name where a program is missing; CI has them all.
func (p play) need(t *testing.T) {
	for _, program := range p.Needs {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is missing, and CI skips nothing", program)
			}
			t.Skipf("%s is not installed", program)
		}
	}
}

// lay makes the folder in which the thread starts: a copy of the examples, and the files of the play.
func (p play) lay(t *testing.T) string {
	folder := t.TempDir()
	if err := os.CopyFS(folder, examples.Files); err != nil {
		t.Fatal(err)
	}
	for name, text := range p.Files {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range p.Old {
		then := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(folder, name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t",
			"GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if p.Commits != nil {
		git("init", "-q")
		git("commit", "-q", "--allow-empty", "-m", "start")
		git("tag", "v1.0")
		for _, subject := range p.Commits {
			git("commit", "-q", "--allow-empty", "-m", subject)
		}
	}
	return folder
}
