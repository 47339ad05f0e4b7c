package file

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// rename writes through, as a folder cannot be synced, and waits for those who have the file at the new name open: a
// reader closes it within moments.
func rename(from, to string, sleep func(time.Duration)) error {
	const tries, pause = 100, 5 * time.Millisecond
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	next, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	for range tries {
		err = windows.MoveFileEx(old, next, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			break
		}
		sleep(pause)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// syncFolder does nothing: NTFS keeps names in its journal, and rename writes through.
func syncFolder(string) error { return nil }

// lockFile locks f until it is closed, also by the end of the process.
func lockFile(f *os.File, shared bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING):
		return errBusy
	case err != nil:
		return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil
}

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isProtected(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// modesUnknown is where a file's mode tells nothing of who may use it.
const modesUnknown = true
