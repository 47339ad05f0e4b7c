package file

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// resultPage is the file of a pending result, without its data. Its name begins with a generation: results of another
// one than the head names belong to a step that is done.
type resultPage struct {
	Thread     text      `json:"thread"`
	Generation int64     `json:"generation"`
	At         time.Time `json:"at"`
	Step       int64     `json:"step"`
	Path       text      `json:"path"`
}

// resultFile is the file as it is read.
type resultFile struct {
	resultPage
	Data foreign `json:"data"`
}

func generation(n int64) string { return fmt.Sprintf("%08d-", n) }

func (s *Store) resultName(thread string, n int64, path string) string {
	sum := sha256.Sum256([]byte(path))
	return join(s.results(thread), generation(n)+hex.EncodeToString(sum[:8])+".json")
}

// AddResult implements checkpoint.Store. It changes no head.
func (s *Store) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	return s.write(ctx, thread, func(t *session) error {
		if err := t.held(token); err != nil {
			return err
		}
		return t.writeResult(t.head, &r)
	})
}

// writeResult writes a pending result of the generation that h names.
func (t *session) writeResult(h *head, r *checkpoint.PendingResult) error {
	s, folder := t.s, t.s.results(t.thread)
	if found, err := exists(s.disk, folder); err != nil || !found {
		if err == nil {
			err = s.disk.Mkdir(folder)
		}
		if err == nil {
			err = s.disk.Sync(s.folder(t.thread))
		}
		if err != nil {
			return err
		}
	}
	o, err := verbatim.PageOf(resultPage{text(t.thread), h.results, t.now, r.Step, text(r.Path)})
	if err != nil {
		return err
	}
	if len(r.Data) > 0 {
		o.JSON("data", r.Data)
	}
	if err := replace(s.disk, s.resultName(t.thread, h.results, r.Path), o.Seal()); err != nil {
		return err
	}
	return s.disk.Sync(folder)
}

// pending reads the results that count, in the order in which they came.
func (s *Store) pending(h *head) ([]checkpoint.PendingResult, error) {
	thread := h.info.Thread
	list, err := s.disk.List(s.results(thread))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []resultFile
	for _, e := range list {
		if !strings.HasPrefix(e.name, generation(h.results)) || strings.HasSuffix(e.name, temporary) {
			continue
		}
		name := join(s.results(thread), e.name)
		b, err := s.disk.Read(name)
		if err != nil {
			return nil, err
		}
		var f resultFile
		if err := verbatim.Open(b, verbatim.PageSeal, &f); err != nil {
			return nil, s.hurt(thread, h.info.Step+1, name, err)
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b resultFile) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Path, b.Path)) })
	var results []checkpoint.PendingResult
	for _, f := range files {
		results = append(results, checkpoint.PendingResult{Step: f.Step, Path: string(f.Path), Data: json.RawMessage(f.Data)})
	}
	return results, nil
}

// dropResults removes the results of a generation that counts no longer; what stays is removed by Compact.
func (t *session) dropResults(n int64) {
	folder := t.s.results(t.thread)
	list, err := t.s.disk.List(folder)
	if err != nil {
		return
	}
	for _, e := range list {
		if strings.HasPrefix(e.name, generation(n)) {
			_ = t.s.disk.Remove(join(folder, e.name))
		}
	}
}
