package file

import (
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Threads implements checkpoint.Store.
func (s *Store) Threads(ctx context.Context, q checkpoint.Query) (checkpoint.Page, error) {
	start, err := q.Start()
	if err != nil {
		return checkpoint.Page{}, err
	}
	best := selection{q: &q, start: start, most: q.Size() + 1}
	err = s.listing.with(ctx, func(now time.Time) {
		for _, r := range s.listing.rows {
			info := r.head.view(now, r.seq)
			best.offer(&info)
		}
	})
	return best.page(), err
}

// selection keeps the first rows of a page, in order, of all that it is offered.
type selection struct {
	q     *checkpoint.Query
	start *checkpoint.Key
	most  int
	keys  []checkpoint.Key
	rows  []checkpoint.ThreadInfo
}

// before tells whether a comes before b in the order asked for.
func (p *selection) before(a, b checkpoint.Key) bool {
	c := a.Compare(b)
	return c < 0 && !p.q.Reverse || c > 0 && p.q.Reverse
}

func (p *selection) offer(t *checkpoint.ThreadInfo) {
	key := checkpoint.KeyOf(t, p.q.Order())
	if p.start != nil && !p.before(*p.start, key) || len(p.keys) == p.most && !p.before(key, p.keys[p.most-1]) || !p.q.Matches(t) {
		return
	}
	at := sort.Search(len(p.keys), func(i int) bool { return p.before(key, p.keys[i]) })
	p.keys, p.rows = slices.Insert(p.keys, at, key), slices.Insert(p.rows, at, *t)
	if len(p.keys) > p.most {
		p.keys, p.rows = p.keys[:p.most], p.rows[:p.most]
	}
}

func (p *selection) page() checkpoint.Page {
	size := p.q.Size()
	page := checkpoint.Page{Threads: p.rows}
	if len(p.rows) > size {
		page.Threads = p.rows[:size:size]
	}
	for i := range page.Threads {
		page.Threads[i] = own(page.Threads[i])
		page.Threads[i].Cursor = p.q.CursorOf(&page.Threads[i])
	}
	if len(p.rows) > size {
		page.Next = page.Threads[size-1].Cursor
	}
	return page
}

// Counts implements checkpoint.Store.
func (s *Store) Counts(ctx context.Context) (map[checkpoint.Status]int64, error) {
	counts := make(map[checkpoint.Status]int64)
	err := s.listing.with(ctx, func(now time.Time) {
		for _, r := range s.listing.rows {
			l := &r.head.lease
			counts[checkpoint.EffectiveStatus(r.head.info.Phase, l.Live(now), len(l.Answers))]++
		}
	})
	return counts, err
}

// Changes implements checkpoint.Store.
func (s *Store) Changes(ctx context.Context, after int64, limit int) (checkpoint.Changes, error) {
	const usual = 500
	if limit <= 0 {
		limit = usual
	}
	var rows []checkpoint.ThreadInfo
	var gone []checkpoint.Gone
	err := s.listing.with(ctx, func(now time.Time) {
		l := s.listing
		at := sort.Search(len(l.log), func(i int) bool { return l.log[i].seq > after })
		for _, e := range l.log[at:] {
			if len(rows)+len(gone) > limit {
				return
			}
			switch r := l.rows[e.thread]; {
			case !l.counts(e):
			case r != nil:
				rows = append(rows, own(r.head.view(now, r.seq)))
			default:
				gone = append(gone, checkpoint.Gone{Thread: e.thread, Seq: e.seq})
			}
		}
	})
	if err != nil {
		return checkpoint.Changes{}, err
	}
	return checkpoint.MergeChanges(rows, gone, after, limit), nil
}

// Thread implements checkpoint.Store.
func (s *Store) Thread(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error) {
	if err := s.catchUp(ctx); err != nil {
		return nil, classify(err)
	}
	h, err := s.present(thread)
	if err != nil {
		return nil, err
	}
	info := own(h.view(s.now(), s.journal.change(thread)))
	return &info, nil
}

// Resolve implements checkpoint.Store.
func (s *Store) Resolve(ctx context.Context, suffix string) (string, error) {
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	if h, err := s.present(suffix); err == nil {
		return h.info.Thread, nil
	}
	if len(suffix) < checkpoint.ResolveLength {
		return checkpoint.Resolved(suffix, nil)
	}
	var found []string
	err := s.listing.with(ctx, func(time.Time) {
		for thread := range s.listing.rows {
			if strings.HasSuffix(thread, suffix) {
				found = append(found, thread)
			}
		}
	})
	if err != nil {
		return "", err
	}
	return checkpoint.Resolved(suffix, found)
}
