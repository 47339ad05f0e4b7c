package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/exposed"
)

// applicationID marks a SQLite file as ours: "HITL".
const applicationID = 0x4849544c

// schemaVersion is the newest schema this program knows, the number of its last migration.
const schemaVersion = 2

// Where the header of a SQLite file keeps what is checked before SQLite itself opens, and thereby touches, the file.
const (
	headerSize    = 100
	headerMagic   = "SQLite format 3\x00"
	headerUser    = 60
	headerAppID   = 68
	headerPages   = 28
	privateFile   = 0o600
	privateFolder = 0o700
)

// prepareFile makes sure that path can hold a store: it creates file and folder, for their owner alone, or checks what
// is there without changing it.
func prepareFile(path string, readOnly bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder; name a file in it, such as " + filepath.Join(path, "store.db"))
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case err == nil:
		return checkHeader(path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case readOnly:
		return fmt.Errorf("there is no store, and read-only creates none: %w", checkpoint.ErrNotFound)
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, privateFile)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(privateFile), f.Close())
}

// makeFolder creates folder and what is missing above it, whatever the umask, and leaves what exists as it is.
func makeFolder(folder string) error {
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	if err := os.MkdirAll(folder, privateFolder); err != nil {
		return err
	}
	return os.Chmod(folder, privateFolder)
}

// checkHeader refuses what is no store of ours, or one of a newer version, from the header alone.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	header := make([]byte, headerSize)
	switch n, err := io.ReadFull(f, header); {
	case n == 0 && errors.Is(err, io.EOF):
		return nil // just created
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case err != nil || string(header[:len(headerMagic)]) != headerMagic:
		return fmt.Errorf("%w: not a SQLite file", checkpoint.ErrForeign)
	}
	return checkIdentity(int64(binary.BigEndian.Uint32(header[headerAppID:])), int64(binary.BigEndian.Uint32(header[headerUser:])),
		binary.BigEndian.Uint32(header[headerPages:]) <= 1)
}

// checkIdentity judges by the two numbers that a SQLite file carries for its owner.
func checkIdentity(app, schema int64, empty bool) error {
	switch {
	case app == 0 && schema == 0 && empty:
		return nil
	case app != applicationID:
		return fmt.Errorf("%w: it is another program's SQLite file (application id %#x)", checkpoint.ErrForeign, app)
	case schema > schemaVersion:
		return fmt.Errorf("%w: its schema is %d, this program knows %d; use the newer program", checkpoint.ErrNewerSchema, schema, schemaVersion)
	default:
		return nil
	}
}

// looseModes tells which of the store's files others may read or write.
func looseModes(path string) []string {
	return exposed.Warnings(filepath.Dir(path), path, path+"-wal", path+"-shm")
}

// immutableNeeded reports whether a read-only open has to take the file as unchanging: SQLite otherwise writes an index
// of the log beside it, which a folder that cannot be written does not allow.
func immutableNeeded(path string) bool {
	if fileSize(path+"-wal") > 0 {
		return false
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".hitl-tui-*")
	if err != nil {
		return true
	}
	f.Close()
	os.Remove(f.Name())
	return false
}
