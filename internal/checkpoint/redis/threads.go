package redis

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Threads implements checkpoint.Store.
func (s *Store) Threads(ctx context.Context, q checkpoint.Query) (checkpoint.Page, error) {
	start, err := q.Start()
	if err != nil {
		return checkpoint.Page{}, err
	}
	w := walk{s: s, q: &q, order: q.Order()}
	if start != nil {
		w.after = member(*start, w.order)
	}
	if err := w.begin(ctx); err != nil {
		return checkpoint.Page{}, err
	}
	rows, err := w.rows(ctx, q.Size()+1)
	if err != nil {
		return checkpoint.Page{}, err
	}
	page := checkpoint.Page{Threads: rows[:min(len(rows), q.Size())]}
	for i := range page.Threads {
		page.Threads[i].Cursor = q.CursorOf(&page.Threads[i])
	}
	if len(rows) > q.Size() {
		page.Next = page.Threads[q.Size()-1].Cursor
	}
	return page, nil
}

// walk goes through the threads that a query may select, in its order: through several sorted sets at once, or lists of
// the few threads whose status is not their phase.
type walk struct {
	s       *Store
	q       *checkpoint.Query
	order   checkpoint.Sort
	after   string // member of the order after which to begin, "" for the beginning
	streams []*stream
}

// stream is one sorted set, read in pieces.
type stream struct {
	key     string
	members []string // read and not taken yet
	last    string   // read last
	ended   bool
}

// walkMost is how many rows are read at once.
const walkMost = 500

// begin finds out what there is to go through.
func (w *walk) begin(ctx context.Context) error {
	switch w.order {
	case checkpoint.SortName:
		w.streams = []*stream{{key: w.s.keys.byName(), last: w.after}}
		return nil
	case checkpoint.SortUpdated:
		w.streams = []*stream{{key: w.s.keys.bySeq(), last: w.after}}
		return nil
	}
	phases := checkpoint.Phases()
	if len(w.q.Status) > 0 {
		phases = slices.DeleteFunc(phases, func(p checkpoint.Status) bool { return !slices.Contains(w.q.Status, p) })
	}
	for _, p := range phases {
		w.streams = append(w.streams, &stream{key: w.s.keys.inPhase(p)[w.order], last: w.after})
	}
	for status, key := range map[checkpoint.Status]string{checkpoint.Running: w.s.keys.leased(), checkpoint.Stalled: w.s.keys.answered()} {
		if !slices.Contains(w.q.Status, status) {
			continue
		}
		list, err := w.list(ctx, key)
		if err != nil {
			return err
		}
		w.streams = append(w.streams, list)
	}
	return nil
}

// list makes a stream of the threads in a set that are few and in no order.
func (w *walk) list(ctx context.Context, key string) (*stream, error) {
	var threads []string
	err := w.s.patiently(ctx, func() (err error) {
		threads, err = w.s.client.ZRange(ctx, key, 0, -1).Result()
		return err
	})
	l := &stream{ended: true}
	for chunk := range slices.Chunk(threads, walkMost) {
		rows, now, err := w.s.rows(ctx, chunk...)
		if err != nil {
			return nil, err
		}
		for _, h := range rows {
			if h == nil {
				continue
			}
			info := h.view(now)
			if m := member(checkpoint.KeyOf(&info, w.order), w.order); w.q.Matches(&info) && (w.after == "" || w.before(w.after, m)) {
				l.members = append(l.members, m)
			}
		}
	}
	slices.SortFunc(l.members, w.compare)
	return l, err
}

// compare orders members as the query wants them.
func (w *walk) compare(a, b string) int {
	if w.q.Reverse {
		a, b = b, a
	}
	return strings.Compare(a, b)
}

func (w *walk) before(a, b string) bool { return w.compare(a, b) < 0 }

// rows reads the next rows that the query selects, at most limit. A row that has changed its place in the order since it
// was found there is left out: it is met where it is now.
func (w *walk) rows(ctx context.Context, limit int) ([]checkpoint.ThreadInfo, error) {
	var list []checkpoint.ThreadInfo
	for want := min(limit, walkMost); len(list) < limit; want = min(2*want, walkMost) {
		members, err := w.take(ctx, want)
		if err != nil || len(members) == 0 {
			return list, err
		}
		threads := make([]string, len(members))
		for i, m := range members {
			threads[i] = threadOf(m, w.order)
		}
		rows, now, err := w.s.rows(ctx, threads...)
		if err != nil {
			return nil, err
		}
		for i, h := range rows {
			if h == nil || len(list) == limit {
				continue
			}
			info := h.view(now)
			if member(checkpoint.KeyOf(&info, w.order), w.order) == members[i] && w.q.Matches(&info) {
				list = append(list, info)
			}
		}
	}
	return list, nil
}

// take takes the next members from all streams, at most n.
func (w *walk) take(ctx context.Context, n int) ([]string, error) {
	taken := make([]string, 0, n)
	for len(taken) < n {
		if err := w.fill(ctx, n-len(taken)); err != nil {
			return nil, err
		}
		var first *stream
		for _, s := range w.streams {
			if len(s.members) > 0 && (first == nil || w.before(s.members[0], first.members[0])) {
				first = s
			}
		}
		if first == nil {
			return taken, nil
		}
		m := first.members[0]
		first.members = first.members[1:]
		if len(taken) == 0 || taken[len(taken)-1] != m {
			taken = append(taken, m)
		}
	}
	return taken, nil
}

// fill reads on, at least n, where a stream has run dry.
func (w *walk) fill(ctx context.Context, n int) error {
	var dry []*stream
	for _, s := range w.streams {
		if len(s.members) == 0 && !s.ended {
			dry = append(dry, s)
		}
	}
	if len(dry) == 0 {
		return nil
	}
	var pieces []func() []string
	err := w.s.patiently(ctx, func() error {
		pieces = pieces[:0]
		_, err := w.s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, s := range dry {
				pieces = append(pieces, w.read(ctx, p, s, int64(n)))
			}
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	for i, s := range dry {
		s.members = pieces[i]()
		s.ended = len(s.members) < n
		if len(s.members) > 0 {
			s.last = s.members[len(s.members)-1]
		}
	}
	return nil
}

// read adds to a pipeline what reads the next members of a stream.
func (w *walk) read(ctx context.Context, p redis.Pipeliner, s *stream, n int64) func() []string {
	if w.order == checkpoint.SortUpdated {
		return w.readChanges(ctx, p, s, n)
	}
	r := &redis.ZRangeBy{Min: "-", Max: "+", Count: n}
	bound, read := &r.Min, p.ZRangeByLex
	if w.q.Reverse {
		bound, read = &r.Max, p.ZRevRangeByLex
	}
	if s.last != "" {
		*bound = "(" + s.last
	}
	return read(ctx, s.key, r).Val
}

// readChanges reads from the set whose scores are change numbers, of which the highest comes first.
func (w *walk) readChanges(ctx context.Context, p redis.Pipeliner, s *stream, n int64) func() []string {
	r := &redis.ZRangeBy{Min: "-inf", Max: "+inf", Count: n}
	bound, read := &r.Max, p.ZRevRangeByScoreWithScores
	if w.q.Reverse {
		bound, read = &r.Min, p.ZRangeByScoreWithScores
	}
	if s.last != "" {
		*bound = "(" + strconv.FormatInt(-intOf(s.last), 10)
	}
	found := read(ctx, s.key, r)
	return func() []string {
		var members []string
		for _, z := range found.Val() {
			members = append(members, member(checkpoint.Key{First: -int64(z.Score), Thread: z.Member.(string)}, w.order))
		}
		return members
	}
}
