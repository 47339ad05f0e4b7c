package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// Backup implements checkpoint.Store: the file becomes a SQLite store, which this program opens like any other. Each
// thread in it is as it was at one moment, but not all at the same one. What a server needs to go on as it was, its
// append-only file, is better kept beside it.
func (s *Store) Backup(ctx context.Context, file string) error {
	b := &backup{s: s, taken: make(map[string]bool)}
	err := b.open(filepath.Dir(file))
	defer b.close()
	if err == nil {
		err = sqlite.Fill(ctx, file, b.rows)
	}
	if err != nil {
		return fmt.Errorf("backup to %s: %w", file, err)
	}
	return checkpoint.LeftOut(b.left)
}

// backup copies a store. A SQLite store is filled one table after the other, but a thread is read as a whole: what of it
// belongs to later tables waits in spools.
type backup struct {
	s                         *Store
	steps, results, decisions *spool
	taken                     map[string]bool // threads copied
	left                      []error         // what was left out
}

func (b *backup) spools() []**spool { return []**spool{&b.steps, &b.results, &b.decisions} }

func (b *backup) open(folder string) (err error) {
	for _, s := range b.spools() {
		if *s, err = newSpool(folder); err != nil {
			return err
		}
	}
	return nil
}

func (b *backup) close() {
	for _, s := range b.spools() {
		if *s != nil {
			(*s).close()
		}
	}
}

// rows yields the rows of a table, see sqlite.Fill.
func (b *backup) rows(ctx context.Context, table string, columns []string) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for row, err := range b.table(ctx, table) {
			list := make([]any, len(columns))
			for i, name := range columns {
				value, known := row[name]
				if list[i] = value; !known && err == nil {
					err = fmt.Errorf("no value for the column %s", name)
				}
			}
			if !yield(list, err) || err != nil {
				return
			}
		}
	}
}

func (b *backup) table(ctx context.Context, table string) iter.Seq2[values, error] {
	switch table {
	case "definitions":
		return b.definitions(ctx)
	case "threads":
		return b.threads(ctx)
	case "tombstones":
		return b.tombstones(ctx)
	case "checkpoints":
		return replay(b.steps, stepValues)
	case "results":
		return replay(b.results, resultValues)
	case "decisions":
		return replay(b.decisions, decisionValues)
	default:
		return func(yield func(values, error) bool) { yield(nil, fmt.Errorf("nothing is known of a table %s", table)) }
	}
}

// replay yields the rows that were put aside.
func replay(s *spool, row func([]byte) (values, error)) iter.Seq2[values, error] {
	return func(yield func(values, error) bool) {
		for entry, err := range s.entries() {
			var v values
			if err == nil {
				v, err = row(entry)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (b *backup) definitions(ctx context.Context) iter.Seq2[values, error] {
	return func(yield func(values, error) bool) {
		known := make(map[string]bool) // a scan may repeat itself
		for scan := b.s.client.HScan(ctx, b.s.keys.definitions(), 0, "", 100).Iterator(); ; {
			if !scan.Next(ctx) {
				if err := scan.Err(); err != nil {
					yield(nil, b.s.classify(ctx, err))
				}
				return
			}
			fingerprint := scan.Val()
			if scan.Next(ctx); known[fingerprint] { // the value
				continue
			}
			known[fingerprint] = true
			d, err := b.s.Definition(ctx, fingerprint)
			if errors.Is(err, checkpoint.ErrCorrupt) {
				b.left = append(b.left, err)
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			files, err := json.Marshal(d.Files)
			if !yield(values{"fingerprint": fingerprint, "workflow": d.Workflow, "graph": d.Graph, "source": d.Source, "files": files}, err) {
				return
			}
		}
	}
}

// threads goes through the ids backwards, in which order no thread ever moves.
func (b *backup) threads(ctx context.Context) iter.Seq2[values, error] {
	return func(yield func(values, error) bool) {
		for from := "-"; ; {
			var tails []string
			err := b.s.patiently(ctx, func() (err error) {
				tails, err = b.s.client.ZRangeByLex(ctx, b.s.keys.byTail(), &redis.ZRangeBy{Min: from, Max: "+", Count: walkMost}).Result()
				return err
			})
			for i := 0; i < len(tails) && err == nil; i++ {
				from = "(" + tails[i]
				var row values
				row, err = b.thread(ctx, backwards(tails[i]))
				if err = checkpoint.LeaveOut(&b.left, err); row != nil && !yield(row, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
			}
			if err != nil || len(tails) == 0 {
				return
			}
		}
	}
}

// errMoved is for a thread that was pruned or written over while it was read.
var errMoved = errors.New("the thread kept changing while it was copied")

// thread spools what belongs to a thread and gives its row, nil if it is gone.
func (b *backup) thread(ctx context.Context, id string) (values, error) {
	const tries = 20
	seen := ""
	for range tries {
		h, results, err := b.s.headAndResults(ctx, id)
		if err != nil || !h.present {
			return nil, err
		}
		if h.write == seen {
			return nil, &checkpoint.CorruptError{Thread: id, Step: h.info.Step, Where: "its steps and decisions", Err: errors.New("they are not those that its row counts")}
		}
		seen = h.write
		err = b.putAside(ctx, h, results)
		if err == nil {
			b.taken[id] = true
			return threadValues(h), nil
		}
		if !errors.Is(err, errMoved) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("thread %s: %w", id, errMoved)
}

// putAside puts into the spools what belongs to a thread, all of it or nothing.
func (b *backup) putAside(ctx context.Context, h *head, results []checkpoint.PendingResult) error {
	var sizes []int64
	for _, s := range b.spools() {
		sizes = append(sizes, (*s).size)
	}
	err := b.putSteps(ctx, h)
	if err == nil {
		err = b.putDecisions(ctx, h)
	}
	for i := 0; i < len(results) && err == nil; i++ {
		r := resultRow{h.info.Thread, results[i]}
		err = b.results.add(pack(r.tell))
	}
	if err == nil {
		return nil
	}
	for i, s := range b.spools() {
		err = errors.Join(err, (*s).cut(sizes[i]))
	}
	return err
}

// putSteps puts the steps up to the head aside: a commit changes none of those, so a thread may run on meanwhile. Steps
// that were pruned or written over since the row was read do not fit it.
func (b *backup) putSteps(ctx context.Context, h *head) error {
	var found totals
	var head step
	base, since := int64(-1), int64(0)
	for after := "-1"; ; {
		page, err := b.s.run(ctx, b.s.scripts.history, b.s.keys.stepKeys(h.info.Thread), after, historySteps, historyBytes, true)
		if err != nil {
			return err
		}
		for i := 0; i+3 < len(page); i += 4 {
			at, err := parseStep(h.info.Thread, text(page[i+1]))
			if err == nil {
				_, err = at.decode(h.info.Thread, text(page[i+2]))
			}
			if err != nil {
				return err
			}
			if at.step > h.info.Step {
				page = nil
				break
			}
			if since++; at.keyframe {
				base, since = at.step, 0
			}
			row := stepRow{thread: h.info.Thread, base: base, member: text(page[i+1]), record: text(page[i+2]), state: text(page[i+3])}
			if err := b.steps.add(pack(row.tell)); err != nil {
				return err
			}
			found.steps, found.bytes = found.steps+1, found.bytes+at.size
			head, after = at, text(page[i])
		}
		if len(page) == 0 {
			break
		}
	}
	if found != h.stored || head.revision != h.info.Revision || base != h.frames.Base || since != h.frames.Steps {
		return errMoved
	}
	return nil
}

func (b *backup) putDecisions(ctx context.Context, h *head) error {
	const pageSize = 100
	for from := int64(0); from < h.info.Decisions; from += pageSize {
		page, _, err := b.s.decisions(ctx, h.info.Thread, from, min(from+pageSize, h.info.Decisions)-1)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return errMoved
		}
		for _, d := range page {
			if err := b.decisions.add(pack(tellDecision(d))); err != nil {
				return err
			}
		}
	}
	return nil
}

// tombstones leaves out those of threads that were copied before they were deleted.
func (b *backup) tombstones(ctx context.Context) iter.Seq2[values, error] {
	return func(yield func(values, error) bool) {
		list, err := b.s.Tombstones(ctx)
		if err = checkpoint.LeaveOut(&b.left, err); err != nil {
			yield(nil, err)
			return
		}
		for i := range list {
			t := &list[i]
			if b.taken[t.Thread] {
				continue
			}
			var seq int64
			err := b.s.patiently(ctx, func() error {
				score, err := b.s.client.ZScore(ctx, b.s.keys.gone(), t.Thread).Result()
				seq = int64(score)
				return err
			})
			if !yield(values{"thread": t.Thread, "seq": seq, "deleted_at": checkpoint.ToMicros(t.DeletedAt), "decisions": t.Decisions,
				"decision_hash": t.DecisionHash}, err) || err != nil {
				return
			}
		}
	}
}
