package file

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// listing keeps the heads of all threads in memory, from the first time that somebody lists; the journal tells which to
// read again.
type listing struct {
	s *Store

	mu     sync.Mutex
	rows   map[string]*row
	gone   map[string]int64 // deleted threads, by the number of the deletion
	marked map[string]*head // of them those that have no tombstone yet
	log    []entryOfLog     // ascending; an entry counts while its number is that of its thread
	loaded bool
}

// row is one thread.
type row struct {
	head *head
	seq  int64
}

type entryOfLog struct {
	seq    int64
	thread string
}

func newListing(s *Store) *listing {
	return &listing{s: s, rows: make(map[string]*row), gone: make(map[string]int64), marked: make(map[string]*head)}
}

// catchUp reads the journal on if it has moved.
func (s *Store) catchUp(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	moved, err := s.journal.moved()
	if err != nil || !moved {
		return err
	}
	release, err := s.take(ctx, &s.shared, true)
	if err != nil {
		return err
	}
	defer release()
	return s.journal.read()
}

// with runs fn on the rows as they are now.
func (l *listing) with(ctx context.Context, fn func(now time.Time)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(ctx); err != nil {
		return classify(err)
	}
	fn(l.s.now())
	return nil
}

func (l *listing) refresh(ctx context.Context) error {
	if err := l.s.catchUp(ctx); err != nil {
		return err
	}
	news, numbers := l.s.journal.takeNews()
	threads := news.threads
	if !l.loaded || news.all {
		all, err := l.everything(ctx, numbers)
		if err != nil {
			l.loaded = false
			return err
		}
		threads = all
	}
	if err := l.read(threads, numbers); err != nil {
		l.loaded = false
		return err
	}
	l.loaded = true
	return nil
}

// everything reads all heads, and gives the threads that only the journal knows.
func (l *listing) everything(ctx context.Context, numbers map[string]int64) (map[string]bool, error) {
	s := l.s
	folders, err := s.disk.List(s.threads())
	if err != nil {
		return nil, err
	}
	byName := make(map[string]string, len(numbers))
	for thread := range numbers {
		byName[escape(thread)] = thread
	}
	heads, errs := make([]*head, len(folders)), make([]error, len(folders))
	each(len(folders), func(i int) { heads[i], errs[i] = s.readHeadIn(folders[i].name) })
	l.rows, l.gone, l.marked, l.log = make(map[string]*row, len(folders)), make(map[string]int64), make(map[string]*head), nil
	rest := make(map[string]bool, len(numbers))
	for thread := range numbers {
		rest[thread] = true
	}
	for i, e := range folders {
		thread, known := byName[e.name]
		if !known {
			thread, _ = unescape(e.name)
		}
		if heads[i] != nil {
			thread = heads[i].info.Thread
		}
		if errs[i] != nil && !known && thread == "" {
			continue // what it was called is hurt too
		}
		if errs[i] != nil {
			rest[thread] = true // read once more, by its name
			continue
		}
		if heads[i] == nil {
			continue
		}
		if !heads[i].deleted.IsZero() {
			rest[thread] = true
			continue
		}
		l.rows[thread] = &row{head: heads[i], seq: numbers[thread]}
		delete(rest, thread)
	}
	if err := l.number(ctx, numbers); err != nil {
		return nil, err
	}
	for thread, r := range l.rows {
		l.log = append(l.log, entryOfLog{r.seq, thread})
	}
	l.order()
	return rest, nil
}

// number gives a line in the journal to each thread that has none, as is so once a journal was lost.
func (l *listing) number(ctx context.Context, numbers map[string]int64) error {
	s := l.s
	var without []line
	for thread, r := range l.rows {
		if r.seq = s.journal.change(thread); r.seq == 0 {
			without = append(without, line{Thread: text(thread)})
		}
	}
	if len(without) == 0 || s.o.ReadOnly {
		return nil
	}
	release, err := s.take(ctx, &s.shared, false)
	if err != nil {
		return err
	}
	defer release()
	// Those that have meanwhile got one from who changed them need none.
	if err := s.journal.read(); err != nil {
		return err
	}
	without = slices.DeleteFunc(without, func(at line) bool { return s.journal.change(string(at.Thread)) != 0 })
	slices.SortFunc(without, func(a, b line) int {
		x, y := l.rows[string(a.Thread)].head, l.rows[string(b.Thread)].head
		return cmp.Or(x.info.Updated.Compare(y.info.Updated), cmp.Compare(a.Thread, b.Thread))
	})
	if err := s.journal.append(without...); err != nil {
		return err
	}
	if err := s.journal.read(); err != nil {
		return err
	}
	for thread, r := range l.rows {
		r.seq = s.journal.change(thread)
		numbers[thread] = r.seq
	}
	return nil
}

// each runs fn for 0 to n-1 on all processors.
func each(n int, fn func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/64+1)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				fn(i)
			}
		})
	}
	wg.Wait()
}

// read reads the heads of some threads.
func (l *listing) read(threads map[string]bool, numbers map[string]int64) error {
	for thread := range threads {
		h, err := l.s.readHead(thread)
		if errors.Is(err, checkpoint.ErrCorrupt) || errors.Is(err, fs.ErrPermission) {
			h, err = unreadable(thread, err), nil
		}
		if err != nil {
			return err
		}
		number, changed := numbers[thread]
		switch {
		case h != nil && h.deleted.IsZero():
			r := &row{head: h, seq: number}
			if old := l.rows[thread]; old != nil && !changed {
				r.seq = old.seq
			}
			l.rows[thread] = r
			delete(l.gone, thread)
			delete(l.marked, thread)
		default:
			delete(l.rows, thread)
			was, err := l.buried(thread, h)
			if err != nil {
				return err
			}
			if !was || !changed {
				continue
			}
			l.gone[thread] = number
		}
		if changed {
			l.log = append(l.log, entryOfLog{number, thread})
		}
	}
	l.order()
	return nil
}

// buried reports whether a thread that is not there has been deleted.
func (l *listing) buried(thread string, h *head) (bool, error) {
	delete(l.marked, thread)
	if h != nil {
		l.marked[thread] = h
		return true, nil
	}
	return exists(l.s.disk, l.s.tombstone(thread))
}

// unreadable is a row that tells what is wrong with its head.
func unreadable(thread string, err error) *head {
	return &head{info: checkpoint.ThreadInfo{Thread: thread, Summary: checkpoint.Summary{Phase: checkpoint.Failed, Error: err.Error()}}}
}

// order brings the log into order and drops what no longer counts once that is most of it.
func (l *listing) order() {
	const spare = 1000
	if len(l.log) > 2*(len(l.rows)+len(l.gone))+spare {
		l.log = slices.DeleteFunc(l.log, func(e entryOfLog) bool { return !l.counts(e) })
	}
	bySeq := func(a, b entryOfLog) int { return cmp.Compare(a.seq, b.seq) }
	if !slices.IsSortedFunc(l.log, bySeq) {
		slices.SortFunc(l.log, bySeq)
	}
	l.log = slices.Compact(l.log)
}

// counts reports whether an entry is the last of its thread.
func (l *listing) counts(e entryOfLog) bool {
	if r := l.rows[e.thread]; r != nil {
		return r.seq == e.seq
	}
	return l.gone[e.thread] == e.seq
}
