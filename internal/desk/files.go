package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// files keeps what must survive the process: drafts, and what is unsent in the outbox. The zero value keeps nothing.
//
// Each process writes an outbox file of its own beside a locked file. An outbox whose lock is free was left by a
// process that died.
type files struct {
	dir  string // "" keeps nothing
	name string // of this process's outbox, "" until first written
	lock *lock
}

func newFiles(stateDir, url string) *files {
	sum := sha256.Sum256([]byte(url))
	return &files{dir: filepath.Join(stateDir, hex.EncodeToString(sum[:8]))}
}

// saved is one unsent entry on disk.
type saved struct {
	ID       string   `json:"id"`
	Decision Decision `json:"decision"`
	Draft    Draft    `json:"draft"`
}

// writeOutbox replaces what is unsent; with nothing unsent the file goes.
func (f *files) writeOutbox(entries []saved) error {
	if f.dir == "" || f.name == "" && len(entries) == 0 {
		return nil
	}
	if len(entries) == 0 {
		return removeFile(f.name)
	}
	if f.name == "" {
		if err := f.claimOutbox(); err != nil {
			return err
		}
	}
	return writeJSON(f.name, entries)
}

func (f *files) claimOutbox() error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("keep the outbox: %w", err)
	}
	for range 100 {
		file, err := os.CreateTemp(f.dir, "outbox-*.lock")
		if err != nil {
			return fmt.Errorf("keep the outbox: %w", err)
		}
		file.Close()
		held, err := tryLock(file.Name())
		if errors.Is(err, errLocked) || errors.Is(err, fs.ErrNotExist) {
			continue // a starting desk took it for abandoned
		}
		if err != nil {
			return fmt.Errorf("keep the outbox: %w", err)
		}
		if !held.inPlace() {
			held.release()
			continue
		}
		f.lock, f.name = held, strings.TrimSuffix(file.Name(), ".lock")+".json"
		return nil
	}
	return errors.New("keep the outbox: its lock is taken away again and again")
}

// abandoned reads the outboxes of processes that are gone, hands each entry to keep, and removes them once all are
// kept.
func (f *files) abandoned(keep func(saved) error) error {
	if f.dir == "" {
		return nil
	}
	locks, err := filepath.Glob(filepath.Join(f.dir, "outbox-*.lock"))
	if err != nil {
		return err
	}
	for _, name := range locks {
		held, err := tryLock(name)
		if errors.Is(err, errLocked) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("recover an outbox: %w", err)
		}
		err = recoverOutbox(strings.TrimSuffix(name, ".lock")+".json", keep)
		if err == nil {
			err = removeFile(name)
		}
		held.release()
		if err != nil {
			return err
		}
	}
	return nil
}

func recoverOutbox(name string, keep func(saved) error) error {
	var entries []saved
	switch err := readJSON(name, &entries); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		// What cannot be read is put aside, not destroyed: somebody's words may be in it.
		return os.Rename(name, name+".broken")
	}
	for _, e := range entries {
		if err := keep(e); err != nil {
			return err
		}
	}
	return removeFile(name)
}

// inPlace reports whether the locked file is still the one of that name.
func (l *lock) inPlace() bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.name)
	return err == nil && os.SameFile(mine, there)
}

// close gives the lock back. An outbox that still holds something is left for the next desk.
func (f *files) close() error {
	if f.lock == nil {
		return nil
	}
	var err error
	if _, statErr := os.Stat(f.name); errors.Is(statErr, fs.ErrNotExist) {
		err = removeFile(f.lock.name)
	}
	f.lock.release()
	f.lock, f.name = nil, ""
	return err
}

// leftFile lists the questions that rules leave to people.
const leftFile = "left-to-people.json"

// left reads the questions that rules leave to people.
func (f *files) left() ([]string, error) {
	var ids []string
	if f.dir == "" {
		return nil, nil
	}
	if err := readJSON(filepath.Join(f.dir, leftFile), &ids); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return ids, nil
}

// maxLeft is how many questions are kept as left to people; those before them are answered or gone.
const maxLeft = 10_000

// leave adds a question that rules leave to people, beside those that other desks added.
func (f *files) leave(id string) error {
	if f.dir == "" {
		return nil
	}
	ids, err := f.left()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("keep what rules leave to people: %w", err)
	}
	ids = append(ids, id)
	return writeJSON(filepath.Join(f.dir, leftFile), ids[max(len(ids)-maxLeft, 0):])
}

func (f *files) draftDir() string { return filepath.Join(f.dir, "drafts") }

func (f *files) writeDraft(key draftKey, x Draft) error {
	if f.dir == "" {
		return nil
	}
	if err := os.MkdirAll(f.draftDir(), 0o700); err != nil {
		return fmt.Errorf("keep a draft: %w", err)
	}
	return writeJSON(filepath.Join(f.draftDir(), key.file()), x)
}

func (f *files) removeDraft(key draftKey) error {
	if f.dir == "" {
		return nil
	}
	return removeFile(filepath.Join(f.draftDir(), key.file()))
}

// drafts reads all drafts. One that cannot be read is left where it is and skipped.
func (f *files) drafts() ([]Draft, error) {
	if f.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(f.draftDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the drafts: %w", err)
	}
	var all []Draft
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var x Draft
		if err := readJSON(filepath.Join(f.draftDir(), e.Name()), &x); err == nil {
			all = append(all, x)
		}
	}
	return all, nil
}

// writeJSON replaces a file atomically and durably, 0600: a reader, or a crash, sees the old or the new one.
func writeJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		os.Remove(file.Name())
		return fmt.Errorf("write %s: %w", name, err)
	}
	return syncDir(filepath.Dir(name))
}

func readJSON(name string, into any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

func removeFile(name string) error {
	err := os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
