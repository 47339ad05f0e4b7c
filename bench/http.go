package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/server"
)

const (
	httpToken = "the-token-of-the-bench"
	crowdSize = 1000 // watchers
)

func httpRows() []row {
	const rounds, calls = 20, 20
	return []row{
		{name: "resume over HTTP", target: "< 1 ms more", ours: "POST /v1/threads/{id}/resume, until answered", peer: "the same answer given to the desk", rounds: rounds, calls: calls,
			setup: func(dir string) (*pair, error) {
				s, err := openStation(dir, 2*rounds*calls)
				if err != nil {
					return nil, err
				}
				return &pair{ours: s.post, peer: s.answer, close: s.close}, nil
			}},
		{name: fmt.Sprintf("%d watchers of events", crowdSize), ours: "a resume over HTTP, until all were told its end", peer: "with one watcher", rounds: 10, calls: 5,
			setup: func(dir string) (*pair, error) {
				first, second, err := twoFolders(dir)
				if err != nil {
					return nil, err
				}
				many, err := openWatched(first, 50, crowdSize)
				if err != nil {
					return nil, err
				}
				one, err := openWatched(second, 50, 1)
				if err != nil {
					return nil, errors.Join(err, many.close())
				}
				return &pair{ours: many.told, peer: one.told, close: closers(many.close, one.close)}, nil
			}},
	}
}

// station is a server with threads that wait.
type station struct {
	desk    *desk.Desk
	client  *http.Client
	url     string
	waiting []string
	closing []func() error // the last first

	watchers []*watcher
}

func openStation(dir string, threads int) (s *station, err error) {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "store.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	s = &station{client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}, closing: []func() error{store.Close}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	source := local.New(store, engine.Options{})
	s.closing = append(s.closing, func() error { return source.Close(ctx) })
	shown := desktop{threads: threads, topic: func(i int) any { return fmt.Sprintf("topic %d", i) }}
	if err := park(ctx, dir, source, shown); err != nil {
		return s, err
	}
	page, err := store.Threads(ctx, checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted}, Limit: threads})
	if err != nil {
		return s, err
	}
	for _, t := range page.Threads {
		s.waiting = append(s.waiting, t.Thread)
	}
	if s.desk, err = desk.New(source, desk.Options{StateDir: filepath.Join(dir, "state"), Reviewer: "bench"}); err != nil {
		return s, err
	}
	s.closing = append(s.closing, func() error { return s.desk.Close(ctx) })
	return s, s.serve(ctx)
}

func (s *station) serve(ctx context.Context) error {
	web, err := server.New(s.desk, server.Options{WriteToken: httpToken})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.url = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ctx, listener) }()
	s.closing = append(s.closing, func() error {
		stop()
		s.client.CloseIdleConnections()
		return <-ended
	})
	return nil
}

func (s *station) close() error {
	for _, w := range s.watchers {
		_ = w.body.Close() // it only listens
	}
	var errs []error
	for i := len(s.closing) - 1; i >= 0; i-- {
		errs = append(errs, s.closing[i]())
	}
	return errors.Join(errs...)
}

func (s *station) next() (string, error) {
	if len(s.waiting) == 0 {
		return "", errors.New("no thread waits any more")
	}
	thread := s.waiting[0]
	s.waiting = s.waiting[1:]
	return thread, nil
}

// post approves over HTTP.
func (s *station) post() error {
	thread, err := s.next()
	if err != nil {
		return err
	}
	r, err := s.request("POST", "/v1/threads/"+thread+"/resume", `{"action": "approve"}`)
	if err != nil {
		return err
	}
	defer r.Close()
	answer, err := io.ReadAll(r)
	if err == nil && !strings.Contains(string(answer), `"done"`) {
		err = fmt.Errorf("resume answered %s", answer)
	}
	return err
}

func (s *station) request(method, path, body string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+httpToken)
	r.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s %s: %s", method, path, resp.Status), resp.Body.Close())
	}
	return resp.Body, nil
}

// answer approves without HTTP.
func (s *station) answer() error {
	thread, err := s.next()
	if err != nil {
		return err
	}
	result, err := s.desk.Answer(context.Background(), []desk.Decision{{Thread: thread, Action: "approve"}}, false)
	if err == nil && result.Status != "done" {
		err = fmt.Errorf("the thread is %s", result.Status)
	}
	return err
}

// watcher reads the events of all threads.
type watcher struct {
	body  io.ReadCloser
	lines *bufio.Reader
}

func openWatched(dir string, threads, watchers int) (*station, error) {
	s, err := openStation(dir, threads)
	if err != nil {
		return nil, err
	}
	for range watchers {
		body, err := s.request("GET", "/v1/events", "")
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.watchers = append(s.watchers, &watcher{body, bufio.NewReader(body)})
	}
	return s, nil
}

// told answers a question and waits until every watcher has read that its thread is done.
func (s *station) told() error {
	failed := make([]error, len(s.watchers)+1)
	var all sync.WaitGroup
	for i, w := range s.watchers {
		all.Go(func() { failed[i] = w.await(`"status":"done"`) })
	}
	failed[len(s.watchers)] = s.post()
	all.Wait()
	return errors.Join(failed...)
}

// await reads until a line holds a text.
func (w *watcher) await(text string) error {
	for {
		line, err := w.lines.ReadString('\n')
		if err != nil || strings.Contains(line, text) {
			return err
		}
	}
}
