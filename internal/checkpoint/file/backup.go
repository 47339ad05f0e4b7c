package file

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// Backup implements checkpoint.Store: the file becomes a SQLite store, which this program opens like any other, as it does
// for every backend with a server. Each thread in it is as it was at one moment, but not all at the same one.
func (s *Store) Backup(ctx context.Context, file string) error {
	b := backup{s: s, taken: make(map[string]bool), hurt: make(map[string]bool), aside: make(map[string]*spool)}
	err := b.open(filepath.Dir(file))
	defer b.close()
	if err == nil {
		err = b.threads(ctx)
	}
	if err == nil {
		err = sqlite.Fill(ctx, file, b.rows)
	}
	if err != nil {
		return fmt.Errorf("backup to %s: %w", file, classify(err))
	}
	return checkpoint.LeftOut(b.left)
}

// backup copies a store. A SQLite store is filled one table after the other, but a thread is read as a whole, and before
// the definitions, so that its own is among them: the rows wait in spools.
type backup struct {
	s     *Store
	aside map[string]*spool // by table
	taken map[string]bool   // threads copied
	hurt  map[string]bool   // threads left out, of which rows may be in the spools
	left  []error           // what was left out
}

// values is a row by its columns.
type values map[string]any

func (b *backup) open(folder string) error {
	for _, table := range []string{"threads", "checkpoints", "results", "decisions"} {
		f, err := os.CreateTemp(folder, ".hitl-tui-backup-*") // its owner's alone
		if err != nil {
			return err
		}
		b.aside[table] = &spool{f: f, e: gob.NewEncoder(f)}
	}
	return nil
}

func (b *backup) close() {
	for _, s := range b.aside {
		s.f.Close()
		os.Remove(s.f.Name())
	}
}

// spool keeps rows in a file until they are wanted.
type spool struct {
	f *os.File
	e *gob.Encoder
}

// bundle carries values through gob, which knows the types that these have.
type bundle struct{ Values values }

func (s *spool) rows() iter.Seq2[values, error] {
	return func(yield func(values, error) bool) {
		_, err := s.f.Seek(0, io.SeekStart)
		for d := gob.NewDecoder(s.f); err == nil; {
			var r bundle
			if err = d.Decode(&r); err == nil && !yield(r.Values, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	}
}

// rows yields the rows of a table, see sqlite.Fill.
func (b *backup) rows(ctx context.Context, table string, columns []string) iter.Seq2[[]any, error] {
	source := map[string]func(context.Context) iter.Seq2[values, error]{
		"definitions": b.definitions, "tombstones": b.tombstones,
	}[table]
	return func(yield func([]any, error) bool) {
		all := func(yield func(values, error) bool) { yield(nil, fmt.Errorf("nothing is known of a table %s", table)) }
		switch {
		case source != nil:
			all = source(ctx)
		case b.aside[table] != nil:
			all = b.aside[table].rows()
		}
		for v, err := range all {
			if thread, _ := v["thread"].(string); err == nil && b.hurt[thread] {
				continue
			}
			list := make([]any, len(columns))
			for i, name := range columns {
				value, known := v[name]
				if list[i] = value; !known && err == nil {
					err = fmt.Errorf("no value for the column %s", name)
				}
			}
			if !yield(list, err) || err != nil {
				return
			}
		}
	}
}
