package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// disk is what the store asks of a file system: few operations, each of which a test can let fail, fill up or lose. None
// is durable before it says so. Errors match those of io/fs.
type disk interface {
	// Read gives a whole file.
	Read(name string) ([]byte, error)
	// ReadAt gives at most so many bytes from offset, all there are below 0, and the size of the file.
	ReadAt(name string, offset int64, most int) (data []byte, size int64, err error)
	// Write makes data the content of a file, which it creates if need be, and makes that durable, but not the name.
	Write(name string, data []byte) error
	// Append cuts a file, which it creates if need be, at offset and writes data there; with sync that is durable.
	Append(name string, offset int64, data []byte, sync bool) error
	// Rename gives a file or a folder another name, at which it takes the place of a file.
	Rename(from, to string) error
	// Remove deletes a file or an empty folder.
	Remove(name string) error
	// Mkdir creates a folder; that it is there already is no error.
	Mkdir(name string) error
	// Sync makes the names in a folder durable.
	Sync(folder string) error
	// List gives what is in a folder.
	List(folder string) ([]entry, error)
	// Lock locks a file, which it creates if need be, against other processes and other calls; it does not wait, but
	// fails with errBusy.
	Lock(name string, shared bool) (unlock func(), err error)
}

// entry is a name in a folder.
type entry struct {
	name   string
	size   int64
	folder bool
}

var errBusy = errors.New("the file is locked")

// exists reports whether a file is there.
func exists(d disk, name string) (bool, error) {
	_, _, err := d.ReadAt(name, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// removed is Remove for what may be gone already.
func removed(d disk, name string) error {
	if err := d.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeTree removes a folder with what is in it, if it is there.
func removeTree(d disk, name string) error {
	list, err := d.List(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range list {
		below := join(name, e.name)
		if e.folder {
			err = removeTree(d, below)
		} else {
			err = removed(d, below)
		}
		if err != nil {
			return err
		}
	}
	return removed(d, name)
}

// replace makes data the content of a file at once: there is no moment at which it is not whole. That is durable once the
// folder is synced.
func replace(d disk, name string, data []byte) error {
	if err := d.Write(name+temporary, data); err != nil {
		return err
	}
	return d.Rename(name+temporary, name)
}

const (
	privateFile   = 0o600
	privateFolder = 0o700
)

// osDisk is the file system of this machine.
type osDisk struct {
	readOnly bool
	sleep    func(time.Duration) // nil is time.Sleep
}

var _ disk = osDisk{}

func (osDisk) Read(name string) ([]byte, error) { return os.ReadFile(name) }

func (osDisk) ReadAt(name string, offset int64, most int) ([]byte, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	n := max(0, info.Size()-offset)
	if most >= 0 {
		n = min(n, int64(most))
	}
	data := make([]byte, n)
	if n == 0 {
		return data, info.Size(), nil
	}
	got, err := f.ReadAt(data, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:got], info.Size(), err
}

func (osDisk) Write(name string, data []byte) error {
	f, err := create(name, os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// create opens a file for writing, whose mode is its owner's alone whatever the umask.
func create(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|flag, privateFile)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() == 0 && info.Mode().Perm() != privateFile {
		err = f.Chmod(privateFile)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (osDisk) Append(name string, offset int64, data []byte, sync bool) error {
	f, err := create(name, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > offset {
		err = f.Truncate(offset)
	}
	if err == nil {
		_, err = f.WriteAt(data, offset)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (d osDisk) Rename(from, to string) error {
	sleep := d.sleep
	if sleep == nil {
		sleep = time.Sleep
	}
	return rename(from, to, sleep)
}

func (osDisk) Remove(name string) error { return os.Remove(name) }

func (osDisk) Mkdir(name string) error {
	err := os.Mkdir(name, privateFolder)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(name, privateFolder)
}

func (osDisk) Sync(folder string) error { return syncFolder(folder) }

func (osDisk) List(folder string) ([]entry, error) {
	names, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	list := make([]entry, 0, len(names))
	for _, n := range names {
		info, err := n.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, entry{name: n.Name(), size: info.Size(), folder: n.IsDir()})
	}
	return list, nil
}

// Lock locks a file. A read-only store makes none: where there is none yet nobody has written.
func (d osDisk) Lock(name string, shared bool) (func(), error) {
	flag := os.O_RDWR | os.O_CREATE
	if d.readOnly {
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(name, flag, privateFile)
	if d.readOnly && errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, shared); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
