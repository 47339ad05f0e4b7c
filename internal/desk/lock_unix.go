//go:build unix

package desk

import (
	"errors"
	"os"
	"syscall"
)

var errLocked = errors.New("locked by another process")

// lock is an advisory lock on a file, which ends with the process.
type lock struct {
	name string
	file *os.File
}

func tryLock(name string) (*lock, error) {
	file, err := os.OpenFile(name, os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return &lock{name: name, file: file}, nil
}

func (l *lock) release() { l.file.Close() }

func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
