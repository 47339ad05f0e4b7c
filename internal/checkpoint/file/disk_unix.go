//go:build unix

package file

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// rename has nobody to wait for.
func rename(from, to string, _ func(time.Duration)) error { return os.Rename(from, to) }

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// lockFile locks f until it is closed, also by the end of the process.
func lockFile(f *os.File, shared bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errBusy
		case err != nil:
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
		return nil
	}
}

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func isProtected(err error) bool { return errors.Is(err, syscall.EROFS) }

// modesUnknown is where a file's mode tells nothing of who may use it.
const modesUnknown = false
