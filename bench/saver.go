package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// saverFiles is the program that LangGraph's SqliteSaver is measured with, and what it needs.
//
//go:embed saver
var saverFiles embed.FS

// saverRows set a step of ours beside a step of LangGraph JS's SqliteSaver: put, then putWrites. Both wait for the disk alike
// and both are given values, not bytes: LangGraph writes the whole state as JSON, and again what the node returned; ours
// writes what the node returned.
func saverRows() []row {
	const ours = "what a node returned to JSON, Commit"
	saver := func(name, target, synchronous, shape string, rounds, calls int) row {
		return row{name: "LangGraph JS, " + name, target: target, ours: ours + ", " + synchronous, whole: func(dir string) (*turns, error) {
			return commitAgainstSaver(dir, synchronous, shape, rounds, calls)
		}}
	}
	return []row{
		saver("1 KB", "ratio <= 0.5", "FULL", "text", 20, 50),
		saver("1 KB, not waiting for the disk", "", "NORMAL", "text", 20, 50),
		saver("256 KB, 1 KB of it new", "ratio <= 0.25", "FULL", "list", 10, 20),
		saver("256 KB, all of it new", "", "FULL", "whole", 10, 10),
	}
}

// shapes are the states of the saver program in Go: what each step returns, and how it changes the state.
var shapes = map[string]struct {
	kind checkpoint.OpKind
	step func() any
}{
	"text":  {checkpoint.OpSet, func() any { return kilobyte }},
	"list":  {checkpoint.OpAppend, func() any { return []string{kilobyte} }},
	"whole": {checkpoint.OpSet, func() any { return kilobytes() }},
}

var kilobyte = strings.Repeat("x", 1022)

func kilobytes() []string {
	list := make([]string, 256)
	for i := range list {
		list[i] = kilobyte
	}
	return list
}

func commitAgainstSaver(dir, synchronous, shape string, rounds, calls int) (*turns, error) {
	peer, err := startSaver(filepath.Join(dir, "saver.db"), synchronous, shape)
	if err != nil {
		return nil, err
	}
	t, err := alternate(dir, synchronous, shape, rounds, calls, peer)
	return t, errors.Join(err, peer.end())
}

func alternate(dir, synchronous, shape string, rounds, calls int, peer *saver) (t *turns, err error) {
	store, err := sqlite.Open(context.Background(), filepath.Join(dir, "store.db"), sqlite.Options{Synchronous: synchronous})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	first := any(kilobytes())
	if shape == "text" {
		first = kilobyte
	}
	value, err := json.Marshal(first)
	if err != nil {
		return nil, err
	}
	ops := []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: value}}
	run, err := newRunner(store, "t", ops)
	if err != nil {
		return nil, err
	}
	t = &turns{against: peer.versions}
	for range rounds {
		for range calls {
			returned := shapes[shape].step()
			start := time.Now()
			value, err := json.Marshal(returned)
			if err != nil {
				return nil, err
			}
			if err := run.step([]checkpoint.Op{{Kind: shapes[shape].kind, Channel: "state", Value: value}}); err != nil {
				return nil, err
			}
			t.ours = append(t.ours, time.Since(start))
		}
		if err := peer.take(&t.peer, calls); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// saver is the saver program, which takes steps when it is told to.
type saver struct {
	versions string
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Scanner
}

func startSaver(file, synchronous, shape string) (*saver, error) {
	folder, err := installSaver()
	if err != nil {
		return nil, err
	}
	s := &saver{cmd: exec.Command("node", "saver.mjs", file, synchronous, shape)}
	s.cmd.Dir, s.cmd.Stderr = folder, os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.out = bufio.NewScanner(out)
	s.out.Buffer(nil, 1<<20)
	if !s.out.Scan() {
		return nil, fmt.Errorf("the SqliteSaver does not begin: %w", s.end())
	}
	s.versions = s.out.Text()
	return s, nil
}

func (s *saver) take(t *times, calls int) error {
	if _, err := fmt.Fprintln(s.in, calls); err != nil {
		return err
	}
	if !s.out.Scan() {
		return fmt.Errorf("the SqliteSaver ended: %w", s.out.Err())
	}
	var took times
	err := json.Unmarshal(s.out.Bytes(), &took)
	*t = append(*t, took...)
	return err
}

func (s *saver) end() error { return errors.Join(s.in.Close(), s.cmd.Wait()) }

// installSaver puts the program and what it needs from npm into the user's cache, where the next run finds them.
func installSaver() (folder string, err error) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", notMeasured(program + " missing")
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(cache, "hitl-tui-bench", "saver")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	before, _ := os.ReadFile(filepath.Join(folder, "package.json")) // none is another one
	wanted, err := saverFiles.ReadFile("saver/package.json")
	if err != nil {
		return "", err
	}
	program, err := saverFiles.ReadFile("saver/saver.mjs")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "saver.mjs"), program, 0o600); err != nil {
		return "", err
	}
	if string(before) == string(wanted) {
		return folder, nil
	}
	return folder, npmInstall(folder, wanted)
}

// npmInstall leaves the list of what is needed only once that is there.
func npmInstall(folder string, wanted []byte) error {
	list := filepath.Join(folder, "package.json")
	if err := os.WriteFile(list, wanted, 0o600); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "installing LangGraph's SqliteSaver from npm into", folder)
	install := exec.Command("npm", "install", "--no-audit", "--no-fund")
	install.Dir, install.Stdout, install.Stderr = folder, os.Stderr, os.Stderr
	if err := install.Run(); err != nil {
		return errors.Join(notMeasured("npm install failed"), os.Remove(list))
	}
	return nil
}
