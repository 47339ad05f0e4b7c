package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/exposed"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// What a file holds of strings and of JSON from outside comes back to the byte.
type (
	text    = verbatim.Text
	foreign = verbatim.JSON
)

// formatVersion is the newest layout this program knows.
const formatVersion = 1

// format is format.json.
type format struct {
	Store   string `json:"store"`
	Version int    `json:"version"`
}

const storeMark = "hitl-tui"

// prepare makes sure that the folder can hold the store: it creates what is missing, or checks what is there without
// changing it.
func (s *Store) prepare() error {
	f, err := s.readFormat()
	if errors.Is(err, fs.ErrNotExist) {
		if s.o.ReadOnly {
			return fmt.Errorf("there is no store, and read-only creates none: %w", checkpoint.ErrNotFound)
		}
		f, err = s.create()
	}
	switch {
	case err != nil:
		return err
	case f.Store != storeMark:
		return fmt.Errorf("%w: its format.json is another program's", checkpoint.ErrForeign)
	case f.Version > formatVersion:
		return fmt.Errorf("%w: its format is %d, this program knows %d; use the newer program", checkpoint.ErrNewerSchema, f.Version, formatVersion)
	}
	if !s.o.ReadOnly {
		if err := s.makeFolders(); err != nil {
			return err
		}
		if err := s.probeLocks(); err != nil {
			return err
		}
	}
	s.warnings = append(s.looseModes(), s.networkWarning()...)
	return nil
}

func (s *Store) readFormat() (format, error) {
	b, err := s.disk.Read(s.formatFile())
	if err != nil {
		return format{}, err
	}
	var f format
	if err := verbatim.Open(b, verbatim.PageSeal, &f); err != nil {
		if !strings.Contains(string(b), storeMark) {
			return f, fmt.Errorf("%w: its format.json is another program's", checkpoint.ErrForeign)
		}
		return f, fmt.Errorf("%w: format.json: %w", checkpoint.ErrCorrupt, err)
	}
	return f, nil
}

// create marks an empty folder as a store, before anything else is written to it. Several processes may.
func (s *Store) create() (format, error) {
	f := format{storeMark, formatVersion}
	if err := s.makeRoot(); err != nil {
		return f, err
	}
	list, err := s.disk.List(s.root)
	if err != nil {
		return f, err
	}
	for _, e := range list {
		switch {
		case e.name == filepath.Base(s.formatFile()): // another process was faster
			return s.readFormat()
		case !strings.HasPrefix(e.name, filepath.Base(s.formatFile())+"."):
			// What another process made came after its mark, which a list that was begun earlier does not show.
			made, err := s.readFormat()
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%w: the folder holds %s and no format.json; name an empty folder or one that is not there", checkpoint.ErrForeign, e.name)
			}
			return made, err
		}
	}
	page, err := verbatim.PageOf(f)
	if err != nil {
		return f, err
	}
	// Each writes a file of its own: what it renames is whole. A process id would not tell containers apart.
	file := s.formatFile() + "." + rand.Text() + temporary
	if err := s.disk.Write(file, page.Seal()); err != nil {
		return f, err
	}
	if err := s.disk.Rename(file, s.formatFile()); err != nil {
		return f, err
	}
	return f, s.disk.Sync(s.root)
}

// makeRoot creates the folder of the store and what is missing above it.
func (s *Store) makeRoot() error {
	var missing []string
	for folder := s.root; ; folder = filepath.Dir(folder) {
		_, err := s.disk.List(folder)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if filepath.Dir(folder) == folder {
			break
		}
		missing = append(missing, folder)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := s.disk.Mkdir(missing[i]); err != nil {
			return err
		}
		if err := s.disk.Sync(filepath.Dir(missing[i])); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) makeFolders() error {
	list, err := s.disk.List(s.root)
	if err != nil {
		return err
	}
	have := make(map[string]bool)
	for _, e := range list {
		have[e.name] = true
	}
	made := false
	for _, folder := range []string{s.locks(), s.threads(), s.definitions(), s.tombstones()} {
		if have[filepath.Base(folder)] {
			continue
		}
		if err := s.disk.Mkdir(folder); err != nil {
			return err
		}
		made = true
	}
	if !made {
		return nil
	}
	return s.disk.Sync(s.root)
}

// probeLocks refuses a file system on which a locked file can be locked again.
func (s *Store) probeLocks() error {
	name := join(s.locks(), fmt.Sprintf("probe.%d", os.Getpid()))
	unlock, err := s.disk.Lock(name, false)
	if err == nil {
		var again func()
		if again, err = s.disk.Lock(name, false); err == nil {
			again()
			err = fmt.Errorf("the file system does not lock files: %w; use a folder on a local disk", errors.ErrUnsupported)
		} else if errors.Is(err, errBusy) {
			err = nil
		}
		unlock()
	}
	if errors.Is(err, errBusy) { // another store of this process probes: then locks exclude
		return nil
	}
	return errors.Join(err, removed(s.disk, name))
}

// looseModes tells which of the store's folders and files others than its owner may use.
func (s *Store) looseModes() []string {
	return exposed.Warnings(s.root, s.formatFile(), s.journalFile(), s.threads(), s.definitions(), s.tombstones(), s.locks())
}

func (s *Store) networkWarning() []string {
	kind := networkOf(s.root)
	if kind == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s is on %s: only one host may use this store, as the caches of several would not agree; "+
		"several hosts need postgres: or redis:", s.root, kind)}
}

// classify gives an error of the file system the sentinel a caller can act on.
func classify(err error) error {
	for sentinel, is := range map[error]bool{
		checkpoint.ErrFull:     isFull(err),
		checkpoint.ErrReadOnly: isProtected(err) || errors.Is(err, fs.ErrPermission),
	} {
		if is && !errors.Is(err, sentinel) {
			return fmt.Errorf("%w: %w", sentinel, err)
		}
	}
	return err
}
