package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

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
	}
}

// desktop is what is on the screen and which keys are pressed there, again and again.
type desktop struct {
	threads int
	topic   func(i int) string // what thread i is about, which stands in its draft
	open    []tea.KeyPressMsg  // pressed first
	keys    []tea.KeyPressMsg
}

func manyThreads() desktop {
	return desktop{threads: waitingThreads, topic: func(i int) string { return fmt.Sprintf("topic %d", i) }, keys: []tea.KeyPressMsg{{Code: 'j', Text: "j"}}}
}

// largePayload is one question about a megabyte, read from end to end.
func largePayload() desktop {
	const line = "The quick brown fox jumps over the lazy dog, again and again, until it is late.\n"
	return desktop{
		threads: 1, topic: func(int) string { return strings.Repeat(line, 1<<20/len(line)) },
		open: []tea.KeyPressMsg{{Code: tea.KeyEnter}},
		keys: []tea.KeyPressMsg{{Code: 'j', Text: "j"}, {Code: 'j', Text: "j"}, {Code: tea.KeyPgDown}, {Code: tea.KeyPgDown}, {Code: 'k', Text: "k"}, {Code: 'G', Text: "G"}, {Code: 'g', Text: "g"}},
	}
}

const waitingThreads = 10_000

const reviewFile = `workflow: review
input: {properties: {topic: {type: string}}, required: [topic]}
nodes:
  draft: {template: "# A draft\n\n{{.topic}}\n\nA draft of a few lines.\n\n- one\n- two\n- three\n", output: text, then: check}
  check: {human: approval, title: "Publish it?", message: "Is **this** good enough?", content: text, content_type: markdown, then: END}
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
	s := &screen{model: ui.New(ctx, d.Masked(redact.Rules{}), ui.Options{Env: []string{"TERM=xterm-256color"}})}
	s.do(s.model.Init())
	s.send(tea.WindowSizeMsg{Width: 160, Height: 50})
	if drawn := s.model.View().Content; !strings.Contains(drawn, "Publish") {
		cancel()
		return nil, fmt.Errorf("no question is drawn:\n%s", drawn)
	}
	for _, key := range shown.open {
		s.send(key)
	}
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
	if err := os.WriteFile(file, []byte(reviewFile), 0o600); err != nil {
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
	model   tea.Model
	pending []tea.Cmd
}

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
	case <-time.After(200 * time.Millisecond):
	}
}
