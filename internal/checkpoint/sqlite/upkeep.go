package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/prune"
)

// DeleteThread implements checkpoint.Store.
func (s *Store) DeleteThread(ctx context.Context, thread string) error {
	return s.write(ctx, func(t *tx) error {
		h, err := t.present(thread)
		if err != nil {
			return err
		}
		now := s.now()
		if h.lease.Live(now) {
			return &checkpoint.LeasedError{Thread: thread, Holder: h.lease.Holder, Until: h.lease.Until}
		}
		return t.deleteThread(h, now)
	})
}

// deleteThread deletes all of a thread and leaves its tombstone.
func (t *tx) deleteThread(h *head, now time.Time) error {
	stone := checkpoint.Tombstone{Thread: h.thread, DeletedAt: now, Decisions: h.chain.Count, DecisionHash: h.chain.Last}
	if err := t.insertTombstone(&stone); err != nil {
		return err
	}
	for _, table := range []string{"checkpoints", "results", "decisions", "threads"} {
		if err := t.exec("DELETE FROM "+table+" WHERE thread = ?", h.thread); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) insertTombstone(s *checkpoint.Tombstone) error {
	seq, err := t.next()
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO tombstones (thread, seq, deleted_at, decisions, decision_hash) VALUES (?, ?, ?, ?, ?)",
		s.Thread, seq, s.DeletedAt.UnixMicro(), s.Decisions, s.DecisionHash)
}

// Stats implements checkpoint.Store.
func (s *Store) Stats(ctx context.Context) (checkpoint.Stats, error) {
	var pages, free, size int64
	stats := checkpoint.Stats{Schema: schemaVersion, WALBytes: fileSize(s.walPath())}
	_, err := rowOf(ctx, s.readers, `SELECT (SELECT count(*) FROM checkpoints), (SELECT sum(n) FROM phases),
		(SELECT page_count FROM pragma_page_count), (SELECT freelist_count FROM pragma_freelist_count),
		(SELECT page_size FROM pragma_page_size)`, nil, &stats.Checkpoints, &stats.Threads, &pages, &free, &size)
	stats.Bytes, stats.FreeBytes = pages*size+stats.WALBytes, free*size
	return stats, classify(err)
}

// compactPages is how many pages are given back at once: about a millisecond's work.
const compactPages = 64

// Compact implements checkpoint.Store.
func (s *Store) Compact(ctx context.Context, progress func(done, total int64)) error {
	var total, size int64
	if _, err := rowOf(ctx, s.readers, `SELECT freelist_count, page_size FROM pragma_freelist_count, pragma_page_size`, nil, &total, &size); err != nil {
		return classify(err)
	}
	for free := total; ; {
		started := time.Now()
		before := free
		err := s.write(ctx, func(t *tx) error {
			if err := t.exec(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", compactPages)); err != nil {
				return err
			}
			_, err := t.row("PRAGMA freelist_count", nil, &free)
			return err
		})
		if err != nil {
			return err
		}
		if progress != nil {
			progress(max(0, total-free)*size, total*size)
		}
		if free == 0 || free >= before {
			return nil
		}
		if err := prune.Pause(ctx, prunePause*time.Since(started)); err != nil {
			return err
		}
	}
}

// Backup implements checkpoint.Store. The file must not exist; only its owner can read it.
func (s *Store) Backup(ctx context.Context, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, privateFile)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	err = f.Chmod(privateFile)
	if err == nil {
		_, err = s.aux.ExecContext(ctx, "VACUUM INTO ?", file)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		os.Remove(file)
		return fmt.Errorf("backup to %s: %w", file, classify(err))
	}
	return syncFolder(filepath.Dir(file))
}

// syncFolder makes the name of a new file durable.
func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
