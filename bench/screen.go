package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/redact"
	"github.com/hitl-tui/hitl-tui/internal/ui"
)

func screenRows() []row {
	return []row{
		{name: "key to frame, 10k waiting", target: "< 16 ms", ours: "j: Update and View, 160x50", rounds: 20, calls: 20,
			setup: func(dir string) (*pair, error) { return keyToFrame(dir, manyThreads()) }},
		{name: "key to frame, a payload of 1 MB", target: "p99 < 5 ms", ours: "j, page down, end, top: Update and View, 160x50", rounds: 20, calls: 50,
			setup: func(dir string) (*pair, error) { return keyToFrame(dir, largePayload()) }},
		{name: "key to frame, a tree of 1 MB of JSON", target: "p99 < 5 ms", ours: "the same, next match, fold and unfold all", rounds: 20, calls: 50,
			setup: func(dir string) (*pair, error) { return keyToFrame(dir, largeTree()) }},
		{name: "key to frame, 100k lines of text", target: "p99 < 5 ms", ours: "the same, next match", rounds: 20, calls: 50,
			setup: func(dir string) (*pair, error) { return keyToFrame(dir, manyLines()) }},
		{name: "key to frame, a diff of 100k lines", target: "p99 < 5 ms", ours: "the same, next match", rounds: 20, calls: 50,
			setup: func(dir string) (*pair, error) { return keyToFrame(dir, longDiff(1)) }},
		{name: "key to frame, the same side by side", target: "p99 < 5 ms", ours: "the same, next match", rounds: 20, calls: 50,
			setup: func(dir string) (*pair, error) { return keyToFrame(dir, longDiff(2)) }},
	}
}

// desktop is what is on the screen and which keys are pressed there, again and again.
type desktop struct {
	threads int
	kind    string          // of the content; "" for the draft of reviewFile
	topic   func(i int) any // what thread i is about: what stands in its draft, or its content
	open    []tea.KeyPressMsg
	drawn   string // what the screen says once these were pressed
	keys    []tea.KeyPressMsg
}

func manyThreads() desktop {
	return desktop{threads: waitingThreads, topic: func(i int) any { return fmt.Sprintf("topic %d", i) }, drawn: "Publish", keys: keys("j")}
}

// line is prose, for payloads.
const line = "The quick brown fox jumps over the lazy dog, again and again, until it is late.\n"

// largePayload is one question about a megabyte, read from end to end.
func largePayload() desktop {
	return desktop{threads: 1, topic: func(int) any { return strings.Repeat(line, 1<<20/len(line)) }, open: keys("enter"), drawn: "raw: over", keys: keys("j j pgdown pgdown k G g")}
}

// reading goes through a question from end to end, and from one of the texts that were looked for to the next.
func reading(more string) []tea.KeyPressMsg {
	return keys("j j pgdown pgdown ctrl+d k n n G N pgup g " + more)
}

// largeTree is a list of records with lists in them, unfolded.
func largeTree() desktop {
	record := map[string]any{"id": 17, "name": "Ana", "amount": 12.5, "note": "paid in full", "tags": []string{"a", "b"}}
	return desktop{threads: 1, kind: "json", topic: func(int) any { return slices.Repeat([]any{record}, 1<<20/82) }, open: keys("enter d / p a i d enter"), drawn: "] 2 items", keys: reading("- -")}
}

// manyLines is 100,000 of them.
func manyLines() desktop {
	return desktop{threads: 1, kind: "text", topic: func(int) any { return strings.Repeat("It is late.\n", 100_000) }, open: keys("enter / l a t e enter"), drawn: "/100000", keys: reading("")}
}

// longDiff is one of 100,000 lines, shown as what comes after so many presses of d.
func longDiff(presses int) desktop {
	diff := "--- a/notes.md\n+++ b/notes.md\n" + strings.Repeat("@@ -1,2 +1,3 @@\n it is\n-it is late\n+it is not late\n+yet\n", 20_000)
	return desktop{threads: 1, kind: "diff", topic: func(int) any { return diff }, open: keys("enter " + strings.Repeat("d ", presses) + "/ l a t e enter"), drawn: "1 ", keys: reading("")}
}

// keys are key presses by their names, with a space between.
func keys(names string) []tea.KeyPressMsg {
	special := map[string]tea.KeyPressMsg{"enter": {Code: tea.KeyEnter}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl}}
	var out []tea.KeyPressMsg
	for _, name := range strings.Fields(names) {
		key, ok := special[name]
		if !ok {
			key = tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
		}
		out = append(out, key)
	}
	return out
}

const waitingThreads = 10_000

const reviewFile = `workflow: review
input: {properties: {topic: {type: string}}, required: [topic]}
nodes:
  draft: {template: "# A draft\n\n{{.topic}}\n\nA draft of a few lines.\n\n- one\n- two\n- three\n", output: text, then: check}
  check: {human: approval, title: "Publish it?", message: "Is **this** good enough?", content: text, content_type: markdown, then: END}
`

// contentFile asks about what is given to it.
const contentFile = `workflow: review
input: {properties: {topic: {}}, required: [topic]}
nodes:
  check: {human: approval, title: "Publish it?", message: "Is **this** good enough?", content: topic, content_type: %s, then: END}
`

// keyToFrame measures the whole desk but for the terminal: a real store with threads that really wait, the root model,
// every command it returns carried out before the next key.
func keyToFrame(dir string, shown desktop) (*pair, error) {
	ctx, cancel := context.WithCancel(context.Background())
	store, err := sqlite.Open(ctx, filepath.Join(dir, "desk.db"), sqlite.Options{})
	if err != nil {
		cancel()
		return nil, err
	}
	source := local.New(store, engine.Options{})
	if err := park(ctx, dir, source, shown); err != nil {
		cancel()
		return nil, errors.Join(err, store.Close())
	}
	d, err := desk.New(source, desk.Options{StateDir: filepath.Join(dir, "state"), Reviewer: "bench"})
	if err != nil {
		cancel()
		return nil, errors.Join(err, store.Close())
	}
	s := &screen{model: ui.New(ctx, d.Masked(redact.Rules{}), ui.Options{Env: []string{"TERM=xterm-256color"}}), patience: 2 * time.Second} // what is large is read and laid out for a while
	s.do(s.model.Init())
	s.send(tea.WindowSizeMsg{Width: 160, Height: 50})
	for _, key := range shown.open {
		_ = s.model.View()
		s.send(key)
	}
	if drawn := ansi.Strip(s.model.View().Content); !strings.Contains(drawn, "Publish") || !strings.Contains(drawn, shown.drawn) {
		cancel()
		return nil, fmt.Errorf("%q is not drawn:\n%s", shown.drawn, drawn)
	}
	s.patience = patience
	pressed := 0
	press := func() error {
		s.frame(shown.keys[pressed%len(shown.keys)])
		pressed++
		return nil
	}
	return &pair{ours: press, between: s.settle, close: func() error {
		cancel()
		return errors.Join(d.Close(context.Background()), source.Close(context.Background()), store.Close())
	}}, nil
}

// park starts the threads, many at once so that the store commits them in groups.
func park(ctx context.Context, dir string, source *local.Source, shown desktop) error {
	file := filepath.Join(dir, "review.yaml")
	text := reviewFile
	if shown.kind != "" {
		text = fmt.Sprintf(contentFile, shown.kind)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	topics := make(chan int)
	failed := make(chan error, 64)
	var all sync.WaitGroup
	for range cap(failed) {
		all.Go(func() {
			for i := range topics {
				topic, err := json.Marshal(shown.topic(i))
				if err != nil {
					failed <- err
					return
				}
				input := map[string]json.RawMessage{"topic": topic}
				request := desk.StartRequest{File: file, Input: input, Workdir: dir}
				if _, err := source.Start(ctx, request, "bench", nil); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	var err error
	for i := range shown.threads {
		select {
		case topics <- i:
		case err = <-failed:
		}
		if err != nil {
			break
		}
	}
	close(topics)
	all.Wait()
	return err
}

// screen drives a model as the program would, one message after the other.
type screen struct {
	model    tea.Model
	pending  []tea.Cmd
	patience time.Duration // how long a command may take before it counts as one that waits
}

const patience = 200 * time.Millisecond

func (s *screen) frame(msg tea.Msg) {
	next, cmd := s.model.Update(msg)
	s.model = next
	s.pending = append(s.pending, cmd)
	_ = s.model.View()
}

func (s *screen) send(msg tea.Msg) {
	next, cmd := s.model.Update(msg)
	s.model = next
	s.do(cmd)
}

// settle carries out what the last frames asked for.
func (s *screen) settle() error {
	pending := s.pending
	s.pending = nil
	for _, cmd := range pending {
		s.do(cmd)
	}
	return nil
}

// do carries out a command and what follows from it. What waits for something to happen, such as a tick or the next
// event of the desk, is left waiting.
func (s *screen) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	result := make(chan tea.Msg, 1)
	go func() { result <- cmd() }()
	select {
	case msg := <-result:
		switch msg := msg.(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				s.do(c)
			}
		default:
			s.send(msg)
		}
	case <-time.After(s.patience):
	}
}
