//go:build !unix

package desk

import (
	"errors"
	"os"
)

var errLocked = errors.New("locked by another process")

// lock holds a file open: where an open file cannot be renamed that keeps others from taking it.
type lock struct {
	name string
	file *os.File
}

func tryLock(name string) (*lock, error) {
	probe := name + ".free"
	if err := os.Rename(name, probe); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		return nil, errLocked
	}
	if err := os.Rename(probe, name); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &lock{name: name, file: file}, nil
}

func (l *lock) release() { l.file.Close() }

// syncDir does nothing: a folder cannot be synced here.
func syncDir(string) error { return nil }
