package file

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// stone is the file of a tombstone.
type stone struct {
	Thread       text      `json:"thread"`
	DeletedAt    time.Time `json:"deleted_at"`
	Decisions    int64     `json:"decisions"`
	DecisionHash string    `json:"decision_hash"`
}

// DeleteThread implements checkpoint.Store.
func (s *Store) DeleteThread(ctx context.Context, thread string) error {
	return s.write(ctx, thread, func(t *session) error {
		if err := t.present(); err != nil {
			return err
		}
		if l := &t.head.lease; l.Live(t.now) {
			return &checkpoint.LeasedError{Thread: thread, Holder: l.Holder, Until: l.Until}
		}
		return t.remove()
	})
}

// remove deletes the thread: with its head the thread says that it is, then all but its tombstone goes.
func (t *session) remove() error {
	h := t.next()
	h.deleted = t.now
	if err := t.save(h, loud); err != nil {
		return err
	}
	return t.bury()
}

// bury writes the tombstone of a thread whose head says that it is deleted, and removes the rest.
func (t *session) bury() error {
	s, h := t.s, t.head
	buried := checkpoint.Tombstone{DeletedAt: h.deleted, Decisions: h.chain.Count, DecisionHash: h.chain.Last}
	if err := t.writeTombstone(&buried); err != nil {
		return err
	}
	t.head = nil
	return removeTree(s.disk, s.folder(t.thread))
}

func (t *session) writeTombstone(b *checkpoint.Tombstone) error {
	s := t.s
	page, err := verbatim.PageOf(stone{Thread: text(t.thread), DeletedAt: checkpoint.Micro(b.DeletedAt), Decisions: b.Decisions, DecisionHash: b.DecisionHash})
	if err != nil {
		return err
	}
	if err := replace(s.disk, s.tombstone(t.thread), page.Seal()); err != nil {
		return err
	}
	return s.disk.Sync(s.tombstones())
}

// readTombstone reads the file of a tombstone; one that is not there is an fs.ErrNotExist.
func (s *Store) readTombstone(thread, file string) (*checkpoint.Tombstone, error) {
	b, err := s.disk.Read(file)
	if err != nil {
		return nil, err
	}
	var p stone
	if err := verbatim.Open(b, verbatim.PageSeal, &p); err != nil {
		return nil, s.hurt(thread, 0, file, err)
	}
	return &checkpoint.Tombstone{Thread: string(p.Thread), DeletedAt: checkpoint.Micro(p.DeletedAt), Decisions: p.Decisions,
		DecisionHash: p.DecisionHash}, nil
}

// Tombstones implements checkpoint.Store.
func (s *Store) Tombstones(ctx context.Context) ([]checkpoint.Tombstone, error) {
	var numbers map[string]int64
	present := make(map[string]bool) // a thread that came back after it was deleted, just before the stone is removed
	marked := make(map[string]checkpoint.Tombstone)
	err := s.listing.with(ctx, func(time.Time) {
		numbers = maps.Clone(s.listing.gone)
		for thread, h := range s.listing.marked {
			marked[thread] = h.stone()
		}
		for thread := range s.listing.rows {
			present[thread] = true
		}
	})
	if err != nil {
		return nil, err
	}
	stones, err := s.readTombstones()
	if err != nil {
		return nil, err
	}
	stones = slices.DeleteFunc(stones, func(b checkpoint.Tombstone) bool { return present[b.Thread] })
	for i := range stones {
		delete(marked, stones[i].Thread)
	}
	stones = slices.AppendSeq(stones, maps.Values(marked))
	slices.SortFunc(stones, func(a, b checkpoint.Tombstone) int {
		return cmp.Or(a.DeletedAt.Compare(b.DeletedAt), cmp.Compare(numbers[a.Thread], numbers[b.Thread]), cmp.Compare(a.Thread, b.Thread))
	})
	return stones, nil
}

// stone is what is left of a thread whose head says that it is deleted.
func (h *head) stone() checkpoint.Tombstone {
	return checkpoint.Tombstone{Thread: h.info.Thread, DeletedAt: h.deleted, Decisions: h.chain.Count, DecisionHash: h.chain.Last}
}

func (s *Store) readTombstones() ([]checkpoint.Tombstone, error) {
	list, err := s.disk.List(s.tombstones())
	if err != nil {
		return nil, err
	}
	var stones []checkpoint.Tombstone
	for _, e := range list {
		if !strings.HasSuffix(e.name, ".json") {
			continue
		}
		thread, _ := unescape(strings.TrimSuffix(e.name, ".json"))
		b, err := s.readTombstone(thread, join(s.tombstones(), e.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		stones = append(stones, *b)
	}
	return stones, nil
}
