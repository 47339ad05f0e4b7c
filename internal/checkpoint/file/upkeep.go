package file

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// usage is what a folder holds: what counts, and what a crash left over.
type usage struct {
	thread      string // "" where no head tells
	steps       int64
	bytes       int64
	spare       int64    // of the bytes
	spareFiles  []string // what is to be removed
	rows        int64    // bytes of decisions.jsonl that count
	spareRows   bool     // it has more
	unfinished  bool     // the head says that something is to be done
	nobodyKnows bool     // there is no head: a thread that was about to begin, or has all but gone
}

// look finds out what is in the folder of a thread. What a process is just writing looks like what is left over.
func (s *Store) look(name string) (usage, error) {
	var u usage
	h, err := s.readHeadIn(name)
	if err != nil {
		if _, err2 := s.disk.List(join(s.threads(), name)); errors.Is(err2, fs.ErrNotExist) {
			return u, nil
		}
		h, u.thread = nil, name // hurt: nothing in it is spare
	}
	u.nobodyKnows = h == nil && err == nil
	if h != nil {
		u.thread, u.rows, u.unfinished = h.info.Thread, h.rows, !h.redo.none() || !h.deleted.IsZero()
	}
	err = s.visit(join(s.threads(), name), "", func(file string, size int64) {
		u.bytes += size
		switch {
		case u.nobodyKnows || h != nil && !h.names(file):
			u.spare += size
			u.spareFiles = append(u.spareFiles, file)
		case h != nil && file == "decisions.jsonl" && size > h.rows:
			u.spare += size - h.rows
			u.spareRows = true
		case strings.HasPrefix(file, "steps/"):
			u.steps++
		}
	})
	return u, err
}

// names reports whether a file in the thread's folder counts.
func (h *head) names(file string) bool {
	if name, ok := strings.CutPrefix(file, "steps/"); ok {
		if plain, isStaged := strings.CutSuffix(name, staged); isStaged {
			n, ok := stepOf(plain)
			return ok && slices.Contains(h.redo.Install, n)
		}
		n, ok := stepOf(name)
		return ok && h.holds(n)
	}
	if name, ok := strings.CutPrefix(file, "results/"); ok {
		return strings.HasPrefix(name, generation(h.results)) && strings.HasSuffix(name, ".json")
	}
	return file == "head.json" || file == "decisions.jsonl" && h.rows > 0
}

// visit calls fn for every file below a folder, named from there with slashes. What goes meanwhile is left out.
func (s *Store) visit(folder, prefix string, fn func(file string, size int64)) error {
	list, err := s.disk.List(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.folder {
			fn(prefix+e.name, e.size)
			continue
		}
		if err := s.visit(join(folder, e.name), prefix+e.name+"/", fn); err != nil {
			return err
		}
	}
	return nil
}

// Stats implements checkpoint.Store. It looks at every file.
func (s *Store) Stats(ctx context.Context) (checkpoint.Stats, error) {
	stats := checkpoint.Stats{Schema: formatVersion}
	err := s.survey(ctx, func(_ string, u usage) error {
		if u.thread != "" {
			stats.Threads++
		}
		stats.Checkpoints += u.steps
		stats.Bytes += u.bytes
		stats.FreeBytes += u.spare
		return nil
	})
	if err != nil {
		return checkpoint.Stats{}, err
	}
	bytes, spare, err := s.beside()
	if err != nil {
		return checkpoint.Stats{}, err
	}
	_, size, err := s.journal.look()
	stats.Bytes += bytes + size
	stats.FreeBytes += spare
	return stats, err
}

// beside gives the bytes of what is kept beside the threads, and of them what is left over.
func (s *Store) beside() (bytes, spare int64, err error) {
	for _, folder := range []string{s.definitions(), s.tombstones()} {
		err := s.visit(folder, "", func(file string, size int64) {
			bytes += size
			if first, _, _ := strings.Cut(file, "/"); strings.HasSuffix(first, temporary) {
				spare += size
			}
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return bytes, spare, nil
}

// survey looks at the folders of all threads.
func (s *Store) survey(ctx context.Context, fn func(name string, u usage) error) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	list, err := s.disk.List(s.threads())
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := s.begin(ctx); err != nil {
			return err
		}
		u, err := s.look(e.name)
		if err == nil {
			err = fn(e.name, u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Compact implements checkpoint.Store: it removes what crashes have left over, and finishes what they interrupted.
func (s *Store) Compact(ctx context.Context, progress func(done, total int64)) error {
	if err := s.beginWrite(ctx); err != nil {
		return err
	}
	var names []string
	var done int64
	_, total, err := s.beside()
	if err != nil {
		return err
	}
	err = s.survey(ctx, func(name string, u usage) error {
		if len(u.spareFiles) > 0 || u.spareRows || u.unfinished || u.nobodyKnows {
			names, total = append(names, name), total+u.spare
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		freed, err := s.tidy(ctx, name)
		if err != nil {
			return classify(err)
		}
		if done += freed; progress != nil {
			progress(min(done, total), total)
		}
	}
	if err := s.tidyStore(ctx); err != nil {
		return classify(err)
	}
	if progress != nil {
		progress(total, total)
	}
	return nil
}

// tidy removes what is left over in one folder.
func (s *Store) tidy(ctx context.Context, name string) (int64, error) {
	release, err := s.take(ctx, s.stripeOf(name), false)
	if err != nil {
		return 0, err
	}
	defer release()
	u, err := s.look(name)
	if err != nil {
		return 0, err
	}
	if u.nobodyKnows {
		return u.spare, removeTree(s.disk, join(s.threads(), name))
	}
	if u.unfinished {
		t := &session{s: s, ctx: context.WithoutCancel(ctx), thread: u.thread}
		if err := t.load(); err != nil || t.head == nil {
			return u.spare, err
		}
	}
	for _, file := range u.spareFiles {
		if err := removed(s.disk, join(s.threads(), name, file)); err != nil {
			return 0, err
		}
	}
	if u.spareRows {
		return u.spare, s.disk.Append(s.decisionsFile(u.thread), u.rows, nil, true)
	}
	return u.spare, nil
}

// tidyStore removes what is left over beside the threads.
func (s *Store) tidyStore(ctx context.Context) error {
	for _, folder := range []string{s.tombstones(), s.definitions()} {
		list, err := s.disk.List(folder)
		if err != nil {
			return err
		}
		for _, e := range list {
			name, left := strings.CutSuffix(e.name, temporary)
			if !left {
				continue
			}
			release, err := s.take(ctx, s.stripeOf(strings.TrimSuffix(name, ".json")), false)
			if err != nil {
				return err
			}
			if e.folder {
				err = removeTree(s.disk, join(folder, e.name))
			} else {
				err = removed(s.disk, join(folder, e.name))
			}
			release()
			if err != nil {
				return err
			}
		}
	}
	return nil
}
