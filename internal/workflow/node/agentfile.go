package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxAgentFile is the largest file that an agent reads or writes, in bytes.
const maxAgentFile = 16 << 20

// mode is how a writer writes.
type mode string

const (
	modeWrite  mode = "write"
	modeAppend mode = "append"
	modeUpdate mode = "update"
	modeDelete mode = "delete"
)

func modeOf(v any) (mode, error) {
	s, _ := v.(string)
	switch m := mode(strings.ToLower(strings.TrimSpace(s))); m {
	case modeWrite, modeAppend, modeUpdate, modeDelete:
		return m, nil
	}
	return "", fmt.Errorf("the mode %s is none of write, append, update and delete", shown(v))
}

// store is a file that an agent works on.
type store struct {
	*agentCall
	file string // as it was named
	path string
}

// storage makes the work of an agent on a file. What cannot be done is a result with success false, as in AgentMap.
func storage(do func(*store) (any, error)) agentWork {
	return func(_ context.Context, a *agentCall) (any, bool, error) {
		s := &store{agentCall: a, file: shown(a.given("collection", "file_path", "csv_file"))}
		if s.file == "" {
			s.file = a.text("collection", a.Prompt)
		}
		if s.path = s.file; !filepath.IsAbs(s.path) {
			s.path = filepath.Join(a.workdir, s.path)
		}
		var result any
		err := errors.New("no file is named: write its path into the prompt")
		if s.file != "" {
			result, err = do(s)
		}
		if err != nil {
			return map[string]any{"success": false, "file_path": s.file, "error": plainFileError(s.file, err)}, false, nil
		}
		return result, true, nil
	}
}

// plainFileError is an error without the absolute path, which differs from host to host.
func plainFileError(file string, err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Sprintf("%s: %v", file, p.Err)
	}
	return err.Error()
}

// mode is how it is to write: by the input, else the setting, else it appends.
func (s *store) mode() (mode, error) {
	if v := s.given("mode"); v != nil {
		return modeOf(v)
	}
	if v := s.settings["mode"]; v != nil {
		return modeOf(v)
	}
	return modeAppend, nil
}

// id is the document that is meant, "" for none.
func (s *store) id() string { return shown(s.given("document_id", "id")) }

func (s *store) idField() string {
	if v := s.given("id_field"); v != nil {
		return shown(v)
	}
	return s.text("id_field", "id")
}

// read is the text of the file.
func (s *store) read() ([]byte, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxAgentFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxAgentFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", s.file, maxAgentFile>>20)
	}
	return text, nil
}

// existing is the text of the file; exists is false where there is none.
func (s *store) existing() (text []byte, exists bool, err error) {
	text, err = s.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return text, err == nil, err
}

// write puts a text in the place of the file's, whole or not at all.
func (s *store) write(text []byte) error {
	if len(text) > maxAgentFile {
		return fmt.Errorf("%s would be larger than %d MiB", s.file, maxAgentFile>>20)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	permissions := fs.FileMode(0o644)
	if info, err := os.Stat(s.path); err == nil {
		permissions = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), ".hitl-tui-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // in vain once it is renamed
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(permissions), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), s.path)
}

// remove deletes the file.
func (s *store) remove() (any, error) {
	if err := os.Remove(s.path); err != nil {
		return nil, err
	}
	return s.record(modeDelete, map[string]any{"file_deleted": true}), nil
}

// record is what a writer gives.
func (s *store) record(m mode, more map[string]any) map[string]any {
	r := map[string]any{"success": true, "mode": string(m), "file_path": s.file}
	for key, v := range more {
		r[key] = v
	}
	return r
}

func readText(s *store) (any, error) {
	text, err := s.read()
	return string(text), err
}

// writeText writes the input data, or the only input, as a text. An appended text begins in a line of its own.
func writeText(s *store) (any, error) {
	m, err := s.mode()
	if err != nil {
		return nil, err
	}
	if m == modeDelete {
		return s.remove()
	}
	data := s.data()
	if data == nil {
		return nil, errors.New("no data to write: give an input with the name data")
	}
	text := []byte(textIn(data))
	before, exists, err := s.existing()
	if err != nil {
		return nil, err
	}
	if m == modeAppend && len(before) > 0 {
		if before[len(before)-1] != '\n' {
			before = append(before, '\n')
		}
		text = append(before, text...)
	}
	return s.record(m, map[string]any{"created_new": !exists}), s.write(text)
}

// data is the input of that name, else the only input that is none of those with a meaning of their own.
func (s *store) data() any {
	if v, ok := s.in["data"]; ok {
		return v
	}
	var rest []string
	for _, name := range s.order {
		if !isControl(name) {
			rest = append(rest, name)
		}
	}
	if len(rest) == 1 {
		return s.in[rest[0]]
	}
	return nil
}

func isControl(name string) bool {
	switch name {
	case "mode", "document_id", "id_field", "path", "query", "format", "collection", "file_path", "csv_file":
		return true
	}
	return false
}

// textIn is a value as the text of a file: what is under content of an object, else the value.
func textIn(v any) string {
	if o, ok := v.(map[string]any); ok {
		if content, ok := o["content"].(string); ok {
			return content
		}
	}
	return shown(v)
}
