package open

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// Backup opens the file of a backup, which stays as it is. One of an earlier schema is brought to the present one in a copy,
// which is there until the store is closed.
func Backup(ctx context.Context, file string) (checkpoint.Store, error) {
	s, err := sqlite.Open(ctx, file, sqlite.Options{ReadOnly: true})
	if err == nil {
		return s, nil
	}
	if !errors.Is(err, checkpoint.ErrOlderSchema) {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "hitl-tui-backup-*") // its owner's alone
	if err != nil {
		return nil, err
	}
	c := &copied{folder: folder}
	path := filepath.Join(folder, "copy.db")
	if err = copyFile(path, file); err == nil {
		c.Store, err = sqlite.Open(ctx, path, sqlite.Options{Synchronous: "NORMAL"})
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return c, nil
}

// copied is a store in a copy of a file.
type copied struct {
	*sqlite.Store
	folder string
}

// Close implements checkpoint.Store.
func (c *copied) Close() error { return errors.Join(c.Store.Close(), os.RemoveAll(c.folder)) }

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
