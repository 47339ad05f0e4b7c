package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// Backup implements checkpoint.Store: the file becomes a SQLite store. Each thread in it is as it was at one moment, but
// not all at the same one, and nobody holds a lease.
func (s *Store) Backup(ctx context.Context, file string) error {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("backup to %s: %w", file, errors.Join(err, fs.ErrExist))
	}
	err := s.backup(ctx, file)
	var left *checkpoint.LeftOutError
	if err == nil || errors.As(err, &left) {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(file + suffix)
	}
	return fmt.Errorf("backup to %s: %w", file, err)
}

func (s *Store) backup(ctx context.Context, file string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	threads, stones, definitions := slices.Sorted(maps.Keys(s.threads)), slices.Clone(s.tombstones), maps.Clone(s.definitions)
	s.mu.Unlock()
	to, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		return err
	}
	for _, d := range definitions {
		if err == nil {
			err = to.PutDefinition(ctx, d)
		}
	}
	var left []error
	for _, id := range threads {
		if err == nil {
			err = checkpoint.LeaveOut(&left, s.backupThread(ctx, to, id))
		}
	}
	for i := range stones {
		if err == nil {
			err = to.Bury(ctx, stones[i].Tombstone)
		}
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return checkpoint.LeftOut(left)
}

// backupThread copies a thread, unless it was deleted meanwhile.
func (s *Store) backupThread(ctx context.Context, to *sqlite.Store, id string) error {
	b, err := s.Export(ctx, id)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return to.Import(ctx, b, checkpoint.ImportOptions{})
}
