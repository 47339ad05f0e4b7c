package checkpoint

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Key is a row's place in a listing. Keys of one Sort order by their fields from first to last.
type Key struct {
	Name   string
	First  int64
	Second int64
	Thread string
}

// Never is the time in a Key of a row that has none, so that it comes after all that have one.
const Never = math.MaxInt64

// KeyOf is the place of t in the order s.
func KeyOf(t *ThreadInfo, s Sort) Key {
	switch s {
	case SortWaiting:
		return Key{First: keyTime(t.WaitingSince), Thread: t.Thread}
	case SortUpdated:
		return Key{First: -t.Seq, Thread: t.Thread}
	case SortName:
		return Key{Name: t.Workflow, Thread: t.Thread}
	default:
		return Key{First: keyTime(t.Due), Second: keyTime(t.WaitingSince), Thread: t.Thread}
	}
}

func keyTime(t *time.Time) int64 {
	if t == nil {
		return Never
	}
	return t.UnixMicro()
}

// Compare orders two keys of one Sort.
func (k Key) Compare(o Key) int {
	return cmp.Or(strings.Compare(k.Name, o.Name), cmp.Compare(k.First, o.First), cmp.Compare(k.Second, o.Second),
		strings.Compare(k.Thread, o.Thread))
}

// CursorOf is the cursor of t in the listing that q asks for: the order, and the key in it, as text without meaning to
// anybody else.
func (q *Query) CursorOf(t *ThreadInfo) string {
	k := KeyOf(t, q.Order())
	b := append(make([]byte, 0, 96), q.mark()...)
	b = binary.AppendVarint(b, k.First)
	b = binary.AppendVarint(b, k.Second)
	b = binary.AppendUvarint(b, uint64(len(k.Name)))
	b = append(append(b, k.Name...), k.Thread...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// mark begins the cursors of a listing.
func (q *Query) mark() string {
	if q.Reverse {
		return string(q.Order()) + "-"
	}
	return string(q.Order()) + "+"
}

// keyOf is the reverse of CursorOf.
func (q *Query) keyOf(text string) (*Key, error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %q was not given out by a listing", ErrCursor, text)
	}
	rest, ok := strings.CutPrefix(string(b), q.mark())
	if !ok {
		return nil, fmt.Errorf("%w: %q was not given out by a listing in this order", ErrCursor, text)
	}
	b = []byte(rest)
	var k Key
	var n [2]int
	k.First, n[0] = binary.Varint(b)
	k.Second, n[1] = binary.Varint(b[max(n[0], 0):])
	b = b[max(n[0], 0)+max(n[1], 0):]
	name, used := binary.Uvarint(b)
	if n[0] <= 0 || n[1] <= 0 || used <= 0 || name >= uint64(len(b)-used) {
		return nil, fmt.Errorf("%w: %q is cut off", ErrCursor, text)
	}
	k.Name, k.Thread = string(b[used:used+int(name)]), string(b[used+int(name):])
	return &k, nil
}

// Order is the order q asks for.
func (q *Query) Order() Sort { return cmp.Or(q.Sort, SortDue) }

// Size is the number of rows of a page of q.
func (q *Query) Size() int {
	if q.Limit <= 0 {
		return 50
	}
	return q.Limit
}

// Start gives the key after which the page of q begins, nil for the first page. It refuses an unknown order or status
// and a cursor of another listing.
func (q *Query) Start() (*Key, error) {
	if !slices.Contains([]Sort{SortDue, SortWaiting, SortUpdated, SortName}, q.Order()) {
		return nil, fmt.Errorf("unknown order %q: want due, waiting, updated or name", q.Sort)
	}
	for _, s := range q.Status {
		if s != Running && !slices.Contains(Phases(), s) {
			return nil, fmt.Errorf("unknown status %q", s)
		}
	}
	if q.After == "" {
		return nil, nil
	}
	return q.keyOf(q.After)
}

// Matches reports whether t is among the threads q selects, whatever its page. t.Status and t.Claim are as of now.
func (q *Query) Matches(t *ThreadInfo) bool {
	return among(q.Status, t.Status) && among(q.Workflow, t.Workflow) && among(q.Node, t.Node) &&
		among(q.Group, t.Group) && among(q.Assignee, t.Assignee) && q.matchesPriority(t) && q.matchesReviewer(t) &&
		q.matchesTimes(t) && (!q.Failing || t.Error != "") && q.MatchesText(t)
}

func among[T comparable](wanted []T, have T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, have)
}

func (q *Query) matchesPriority(t *ThreadInfo) bool {
	return len(q.Priority) == 0 ||
		slices.ContainsFunc(q.Priority, func(p string) bool { return cmp.Or(p, "normal") == cmp.Or(t.Priority, "normal") })
}

func (q *Query) matchesReviewer(t *ThreadInfo) bool {
	switch q.Reviewer {
	case "":
		return true
	case "none":
		return t.Claim == nil
	case "any":
		return t.Claim != nil
	default:
		return t.Claim != nil && t.Claim.Reviewer == q.Reviewer
	}
}

func (q *Query) matchesTimes(t *ThreadInfo) bool {
	since := t.Updated
	if t.WaitingSince != nil {
		since = *t.WaitingSince
	}
	return (q.OlderThan.IsZero() || since.Before(q.OlderThan)) && (q.NewerThan.IsZero() || since.After(q.NewerThan)) &&
		(q.DueBefore.IsZero() || t.Due != nil && t.Due.Before(q.DueBefore))
}

// MatchesText reports whether the text q looks for is in t.
func (q *Query) MatchesText(t *ThreadInfo) bool {
	if q.Text == "" {
		return true
	}
	want := strings.ToLower(q.Text)
	return slices.ContainsFunc([]string{t.Title, t.Thread, t.Workflow, t.Node, t.Error},
		func(s string) bool { return strings.Contains(strings.ToLower(s), want) })
}

// ResolveLength is how many characters of a thread's id are enough to name it, if they end it.
const ResolveLength = 4

// Validate refuses a prune that names no threads or has no bound.
func (q *PruneQuery) Validate() error {
	if len(q.Threads) == 0 && !q.All {
		return fmt.Errorf("prune: name threads, or ask for all")
	}
	if q.BeforeStep <= 0 && q.OlderThan.IsZero() && q.FinishedBefore.IsZero() {
		return fmt.Errorf("prune: give a bound: before a step, older than a time, or finished before a time")
	}
	return nil
}

// Selects reports whether the prune concerns t at all; its status is as of now.
func (q *PruneQuery) Selects(t *ThreadInfo) bool {
	return (q.All || slices.Contains(q.Threads, t.Thread)) && among(q.Workflow, t.Workflow) && among(q.Status, t.Status) &&
		(q.FinishedBefore.IsZero() || t.Status.Ended() && t.Updated.Before(q.FinishedBefore))
}

// Whole reports whether the prune deletes the threads it selects whole.
func (q *PruneQuery) Whole() bool {
	return !q.FinishedBefore.IsZero() && q.BeforeStep <= 0 && q.OlderThan.IsZero()
}

// Takes reports whether the prune takes the step of that time from a thread whose head is another step.
func (q *PruneQuery) Takes(step int64, ts time.Time) bool {
	return (q.BeforeStep <= 0 || step < q.BeforeStep) && (q.OlderThan.IsZero() || ts.Before(q.OlderThan))
}

// Add counts what a prune does to one thread.
func (r *PruneResult) Add(p PruneThread, oldest, newest time.Time) {
	if p.Whole {
		r.Deleted++
	} else {
		r.Heads++
	}
	if p.Steps == 0 {
		return
	}
	r.Threads++
	r.Steps += p.Steps
	r.Bytes += p.Bytes
	if r.Oldest.IsZero() || oldest.Before(r.Oldest) {
		r.Oldest = oldest
	}
	if newest.After(r.Newest) {
		r.Newest = newest
	}
	r.Per = append(r.Per, p)
}

// Sort brings the parts of the threads into their order, and those skipped.
func (r *PruneResult) Sort() {
	slices.SortFunc(r.Per, func(a, b PruneThread) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Thread, b.Thread))
	})
	slices.Sort(r.Skipped)
}
