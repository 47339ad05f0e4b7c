package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/threadfile"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Export writes a thread as JSON.
func (s *Source) Export(ctx context.Context, thread string, to io.Writer, mask desk.Masker) (*desk.Exported, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	b, err := store.Export(ctx, thread)
	if err != nil {
		return nil, stored(err)
	}
	e := &desk.Exported{Thread: thread, Decisions: b.Thread.Decisions}
	if err := threadfile.Write(ctx, to, b, store, mask, func(int64) { e.Steps++ }); err != nil {
		return nil, stored(err)
	}
	if err := checkpoint.VerifyChain(thread, b.Decisions, b.Chain()); err != nil {
		e.Warning = "the record of decisions does not hold, so that no store will take it in: " + err.Error()
	}
	return e, nil
}

// CheckImport reads a file as Import does, whole, and writes nothing; it needs no store.
func CheckImport(ctx context.Context, from io.ReadSeeker) error {
	if _, err := threadfile.Open(ctx, from); err != nil {
		return unreadable(err)
	}
	_, err := from.Seek(0, io.SeekStart)
	return Coded(err)
}

// Import takes in what Export wrote. The file is read whole and found right before anything is written.
func (s *Source) Import(ctx context.Context, from io.ReadSeeker, revive bool) (*desk.Imported, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	f, err := threadfile.Open(ctx, from)
	if err != nil {
		return nil, unreadable(err)
	}
	for _, d := range f.Definitions {
		if err := store.PutDefinition(ctx, d); err != nil {
			return nil, stored(err)
		}
	}
	b := f.Bundle()
	err = store.Import(ctx, b, checkpoint.ImportOptions{Revive: revive})
	if errors.Is(err, checkpoint.ErrConflict) {
		return nil, s.inTheWay(ctx, store, b.Thread.Thread, revive, err)
	}
	if err != nil {
		return nil, stored(err)
	}
	status := checkpoint.EffectiveStatus(b.Thread.Phase, false, len(b.Answers))
	return &desk.Imported{Thread: b.Thread.Thread, Workflow: b.Thread.Workflow, Status: string(status), Steps: f.Steps,
		Decisions: b.Thread.Decisions}, nil
}

// inTheWay tells what to do about a thread that cannot be taken in.
func (s *Source) inTheWay(ctx context.Context, store checkpoint.Store, thread string, revive bool, err error) error {
	remedy := ""
	switch _, there := store.Thread(ctx, thread); {
	case there == nil:
		remedy = "what is there stays; to look at the file's, import it into another store, as in --store sqlite:other.db"
	case !revive:
		remedy = "--revive brings it back, if no decision is lost by that"
	}
	return &desk.Error{Code: desk.CodeConflict, Message: err.Error(), Remedy: remedy, Err: err, Details: map[string]any{"thread_id": thread}}
}

// unreadable is the error of a file that cannot be taken in: it is data, not the store, that is at fault.
func unreadable(err error) error {
	var fault *threadfile.Fault
	var place *fs.PathError
	switch {
	case errors.As(err, &place) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return Coded(err)
	case errors.As(err, &fault):
		return &desk.Error{Code: desk.CodeInvalidData, Message: "nothing was imported: " + err.Error(), Err: err, Details: map[string]any{"line": fault.Line}}
	default:
		return &desk.Error{Code: desk.CodeInvalidData, Message: "nothing was imported: " + err.Error(),
			Remedy: "the file was tampered with, or comes from a store that was", Err: err}
	}
}

// OpenBackup opens the file of a backup as a store that is only read.
type OpenBackup func(ctx context.Context, file string) (checkpoint.Store, error)

// Restore takes in the threads of a backup, one by one: each whole, and one that is there already, the same, is left as
// it is, so that what was interrupted can go on. All that stands in the way is looked for before the first.
func (s *Source) Restore(ctx context.Context, file string, add bool, progress func(done, total int64)) (*desk.Restored, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	if s.OpenBackup == nil {
		return nil, &desk.Error{Code: desk.CodeUsage, Message: "this store cannot restore a backup", Err: desk.ErrUnsupported}
	}
	from, err := s.OpenBackup(ctx, file)
	if err != nil {
		return nil, stored(err)
	}
	defer from.Close()
	r := &restoring{s: s, from: from, to: store, file: file, known: make(map[string]bool), progress: progress}
	if err := r.check(ctx, add); err != nil {
		return nil, err
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return &r.done, nil
}

// restoring is a restore under way.
type restoring struct {
	s        *Source
	from, to checkpoint.Store
	file     string
	empty    bool
	total    int64
	walked   int64
	known    map[string]bool // fingerprints whose definitions are there
	done     desk.Restored
	progress func(done, total int64)
}

// check looks for what stands in the way, and at how much there is to do.
func (r *restoring) check(ctx context.Context, add bool) error {
	stats, err := r.from.Stats(ctx)
	if err != nil {
		return stored(err)
	}
	here, err := r.to.Stats(ctx)
	if err != nil {
		return stored(err)
	}
	buried, err := r.to.Tombstones(ctx)
	if err != nil {
		return stored(err)
	}
	r.total, r.empty = stats.Threads, here.Threads == 0 && len(buried) == 0
	switch {
	case r.empty:
		return nil
	case !add:
		return &desk.Error{Code: desk.CodeConflict, Message: fmt.Sprintf("the store is not empty: it has %d threads, and the tombstones of %d", here.Threads, len(buried)),
			Remedy: "name an empty one with --store, or give --add to take in the threads that it lacks"}
	}
	return r.conflicts(ctx, buried)
}

// conflicts refuses threads that are in both, but not the same.
func (r *restoring) conflicts(ctx context.Context, buried []checkpoint.Tombstone) error {
	deleted := make(map[string]bool, len(buried))
	for i := range buried {
		deleted[buried[i].Thread] = true
	}
	var others []string
	for t, err := range r.s.threads(ctx, r.from, checkpoint.Query{Sort: checkpoint.SortName}) {
		if err != nil {
			return err
		}
		same, err := r.same(ctx, &t)
		if err != nil {
			return err
		}
		switch {
		case deleted[t.Thread]:
			others = append(others, t.Thread+" (deleted here)")
		case same == another:
			others = append(others, t.Thread)
		}
	}
	stones, err := r.from.Tombstones(ctx)
	if err != nil {
		return stored(err)
	}
	for i := range stones {
		if _, err := r.to.Thread(ctx, stones[i].Thread); err == nil {
			others = append(others, stones[i].Thread+" (deleted in the backup)")
		} else if !errors.Is(err, checkpoint.ErrNotFound) {
			return stored(err)
		}
	}
	if len(others) == 0 {
		return nil
	}
	const shown = 10
	list := fmt.Sprint(others[:min(len(others), shown)])
	if len(others) > shown {
		list = fmt.Sprintf("%s and %d more", list, len(others)-shown)
	}
	return &desk.Error{Code: desk.CodeConflict, Message: "nothing was restored: these threads are here and in the backup, but not the same: " + list,
		Remedy: "restore into an empty store, and take over single threads by export and import", Details: map[string]any{"threads": others}}
}

// likeness is what the store has of a thread of the backup.
type likeness int

const (
	absent likeness = iota
	theSame
	another
)

// same compares a thread of the backup with the one that is there. Two threads with the same last decision and the same
// version, changed at the same time, are the same.
func (r *restoring) same(ctx context.Context, t *checkpoint.ThreadInfo) (likeness, error) {
	here, err := r.to.Thread(ctx, t.Thread)
	switch {
	case errors.Is(err, checkpoint.ErrNotFound):
		return absent, nil
	case err != nil:
		return absent, stored(err)
	case here.Version() == t.Version() && here.Decisions == t.Decisions && here.DecisionHash == t.DecisionHash && here.Updated.Equal(t.Updated):
		return theSame, nil
	default:
		return another, nil
	}
}

func (r *restoring) run(ctx context.Context) error {
	for t, err := range r.s.threads(ctx, r.from, checkpoint.Query{Sort: checkpoint.SortName}) {
		if err != nil {
			return err
		}
		if err := r.thread(ctx, &t); err != nil {
			return err
		}
		if r.walked++; r.progress != nil {
			r.progress(r.walked, max(r.walked, r.total))
		}
	}
	stones, err := r.from.Tombstones(ctx)
	if err != nil {
		return stored(err)
	}
	for i := range stones {
		if err := r.to.Bury(ctx, stones[i]); err != nil {
			return stored(err)
		}
		r.done.Tombstones++
	}
	return nil
}

// thread restores one thread. One that is hurt in the backup is told, and the rest goes on.
func (r *restoring) thread(ctx context.Context, t *checkpoint.ThreadInfo) error {
	if !r.empty {
		same, err := r.same(ctx, t)
		if err != nil {
			return err
		}
		if same == theSame {
			r.done.Same++
			return nil
		}
	}
	b, err := r.from.Export(ctx, t.Thread)
	if err == nil {
		err = r.definitions(ctx, t.Thread)
	}
	if err == nil {
		err = r.to.Import(ctx, b, checkpoint.ImportOptions{})
	}
	if errors.Is(err, checkpoint.ErrCorrupt) {
		r.done.Damaged = append(r.done.Damaged, err.Error())
		return nil
	}
	if err != nil {
		return stored(err)
	}
	r.done.Threads++
	return nil
}

// definitions takes over those that a thread has run.
func (r *restoring) definitions(ctx context.Context, thread string) error {
	for c, err := range r.from.History(ctx, thread, false) {
		if err != nil {
			return err
		}
		if r.known[c.Fingerprint] {
			continue
		}
		d, err := r.from.Definition(ctx, c.Fingerprint)
		if err == nil {
			err = r.to.PutDefinition(ctx, *d)
		}
		if err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
			return err
		}
		r.known[c.Fingerprint] = true
	}
	return nil
}
