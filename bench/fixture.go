package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// fixture is a large SQLite store, written as rows: by commits a million threads would take minutes. One thread of twenty
// waits for a person, one of those in three with a deadline, years ahead; the others are done.
type fixture struct {
	threads int
	steps   int // of each thread
	size    int // bytes of each step's state, which is stored whole
}

const (
	fixtureThreads = `INSERT INTO threads (id, thread, seq, step, revision, phase, due, waiting, created, updated, questions, answered, workflow,
		node, title, assignee, team, priority, error, base, base_size, chain_steps, chain_size, fingerprint, workdir, started_by)
		WITH RECURSIVE ids (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ids WHERE n < ?1)
		SELECT n, printf('0192f0c1-%012d', n), n * ?2, ?2 - 1, 1, CASE WHEN n % 20 THEN 'done' ELSE 'interrupted' END,
			CASE WHEN n % 60 THEN 9223372036854775807 ELSE ?3 + n * 1000 + 315532800000000 END,
			CASE WHEN n % 20 THEN 9223372036854775807 ELSE ?3 + n * 1000 END, ?3 + n * 1000, ?3 + n * 1000, n % 20 = 0, 0, 'bench',
			CASE WHEN n % 20 THEN '' ELSE 'review' END, 'Claim ' || n || ' of a colleague, a train ticket', '', '', '', '',
			?2 - 1, ?4, 0, 0, ?5, '/srv/bench', 'bench' FROM ids`
	fixtureSteps = `INSERT INTO checkpoints (id, thread, step, revision, base, ts, size, state_size, commit_id, source, ended, workflow,
		fingerprint, record, state)
		WITH RECURSIVE ids (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM ids WHERE n + 1 < ?1 * ?2)
		SELECT n + 1, printf('0192f0c1-%012d', n / ?2 + 1), n % ?2, 1, n % ?2, ?3 + n, ?4 + 2, ?4, 'c' || n, 'step', '', 'bench', ?5, '{}', ?6
		FROM ids`
)

// open makes the store and opens it.
func (f fixture) open(dir string) (checkpoint.Store, error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	if err := f.fill(filepath.Join(dir, "store.db")); err != nil {
		return nil, err
	}
	return openStore(dir)
}

func (f fixture) fill(file string) error {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	state := codec.EncodeOps([]checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: text(f.size)}})
	args := []any{f.threads, f.steps, int64(1_750_000_000_000_000), len(state), strings.Repeat("f", 64), state}
	for _, s := range []struct {
		text string
		args []any
	}{
		{"PRAGMA journal_mode = OFF", nil}, {"PRAGMA synchronous = OFF", nil}, {"PRAGMA cache_size = -200000", nil},
		{fixtureThreads, args[:5]}, {fixtureSteps, args}, {"PRAGMA journal_mode = WAL", nil},
	} {
		if _, err := db.ExecContext(context.Background(), s.text, s.args...); err != nil {
			return fmt.Errorf("fill a store: %.40q: %w", s.text, err)
		}
	}
	return nil
}

// second opens a store again, as another process does.
func second(dir string) (checkpoint.Store, error) {
	return sqlite.Open(context.Background(), filepath.Join(dir, "store.db"), sqlite.Options{})
}

// short names a number as people say it: 10k, 1M.
func short(n int) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return fmt.Sprint(float64(n)/1e6) + "M"
	case n >= 1000:
		return fmt.Sprint(float64(n)/1e3) + "k"
	default:
		return fmt.Sprint(n)
	}
}
