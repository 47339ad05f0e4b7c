package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/inspect"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Backup copies all threads into a new file. It grows under another name, beside the one it is to have, and gets that once
// it is whole and was looked through: a file of that name is never a half one. What is hurt is told: it is left out, or in
// the file as it is.
func (s *Source) Backup(ctx context.Context, file string, progress func(done, total int64)) (*desk.BackedUp, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(file); err == nil {
		return nil, exists(file)
	}
	stats, err := store.Stats(ctx)
	if err != nil {
		return nil, stored(err)
	}
	partial := file + ".partial-" + uuid.NewString()[:8]
	stop := follow(partial, stats.Bytes, progress)
	err = store.Backup(ctx, partial)
	stop()
	b := &desk.BackedUp{File: file, Threads: stats.Threads}
	var left *checkpoint.LeftOutError
	if errors.As(err, &left) {
		for _, hurt := range left.Left {
			b.LeftOut = append(b.LeftOut, hurt.Error())
		}
		err = nil
	}
	if err == nil {
		err = s.lookThrough(ctx, partial, b)
	}
	if err == nil {
		err = install(partial, file)
	}
	if err != nil {
		_ = os.Remove(partial)
		if errors.Is(err, fs.ErrExist) {
			return nil, exists(file)
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, stored(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, stored(err)
	}
	if progress != nil {
		progress(info.Size(), info.Size())
	}
	b.Bytes = info.Size()
	return b, nil
}

// lookThrough inspects a backup, and notes in b what it holds and what of it is hurt.
func (s *Source) lookThrough(ctx context.Context, file string, b *desk.BackedUp) error {
	if s.OpenBackup == nil {
		return nil
	}
	backup, err := s.OpenBackup(ctx, file)
	if err != nil {
		return err
	}
	r, err := inspect.Run(ctx, backup, inspect.Options{States: true})
	err = errors.Join(err, backup.Close())
	for _, beside := range []string{"-wal", "-shm"} { // which whoever only reads makes and leaves
		_ = os.Remove(file + beside)
	}
	if err != nil {
		return err
	}
	b.Threads = r.Threads
	for _, f := range r.Faults {
		b.Hurt = append(b.Hurt, strings.ReplaceAll(f.Text, file, b.File))
	}
	return nil
}

func exists(file string) error {
	return &desk.Error{Code: desk.CodeUsage, Message: file + " exists already", Remedy: "name a new file"}
}

// install gives a file its name, at which nothing may be.
func install(partial, file string) error {
	err := os.Link(partial, file)
	switch {
	case err == nil:
		return os.Remove(partial)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// A file system without links.
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s: %w", file, fs.ErrExist)
	}
	return os.Rename(partial, file)
}

// follow reports how a file grows.
func follow(file string, total int64, progress func(done, total int64)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		every := time.NewTicker(250 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-done:
				return
			case <-every.C:
				if info, err := os.Stat(file); err == nil && info.Size() > 0 {
					progress(info.Size(), max(total, info.Size()+1))
				}
			}
		}
	})
	return func() {
		close(done)
		watcher.Wait()
	}
}
