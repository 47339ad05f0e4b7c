// Package listing makes pages of threads for the backends that keep a row a thread in a table of SQL: the text of the
// query, in the dialect of each, and the page of what it finds.
//
// The table is threads, with the columns thread, seq, phase, lease_until, answers, due, waiting, updated, workflow, node,
// title, error, assignee, team, priority, claim_by and claim_until. Times are microseconds since 1970; due and waiting are
// checkpoint.Never where there is none; lease_until is 0 where nobody holds the lease.
package listing

import (
	"context"
	"sort"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Dialect is how a backend writes what SQL systems write differently. Whatever case or collation the system knows, texts
// are compared as bytes, and lower changes only letters of ASCII.
type Dialect struct {
	Columns  string                              // what Fetch reads of each row
	Key      string                              // the column that joins a row with itself fastest
	Join     string                              // the join that begins with what was picked
	Mark     func(n int) string                  // the nth parameter, from 1
	Now      string                              // the time by which leases and claims are judged, made of the first parameter
	Contains func(column, lowered string) string // the condition that the lowered text of a column contains a text
	Stored   func(text string) string            // a text as it is stored and thereby ordered, nil for as it is
	BySeq    []string                            // conditions that part the rows as the indexes by seq do, nil for one index of all
}

// Fetch runs a query and reads about as many rows as expected.
type Fetch func(ctx context.Context, expected int, text string, args []any) ([]checkpoint.ThreadInfo, error)

// Page lists the threads q asks for; now is the first parameter of every query.
func Page(ctx context.Context, d *Dialect, q *checkpoint.Query, now any, fetch Fetch) (checkpoint.Page, error) {
	start, err := q.Start()
	if err != nil {
		return checkpoint.Page{}, err
	}
	l := listing{d: d, q: q, now: now, start: start}
	var found []checkpoint.ThreadInfo // by a text SQL cannot look for
	for {
		text, args := l.text()
		rows, err := fetch(ctx, q.Size()+1, text, args)
		if err != nil {
			return checkpoint.Page{}, err
		}
		l.sort(rows)
		if !l.textInGo() {
			return l.page(rows), nil
		}
		for i := range rows {
			if q.MatchesText(&rows[i]) {
				found = append(found, rows[i])
			}
		}
		if len(found) > q.Size() || len(rows) <= q.Size() {
			return l.page(found), nil
		}
		last := checkpoint.KeyOf(&rows[len(rows)-1], q.Order())
		l.start = &last
	}
}

// Text is the first query of Page and its parameters.
func Text(d *Dialect, q *checkpoint.Query, now any) (string, []any, error) {
	start, err := q.Start()
	if err != nil {
		return "", nil, err
	}
	l := listing{d: d, q: q, now: now, start: start}
	text, args := l.text()
	return text, args, nil
}

// page makes a page of rows in order, of which one more than it holds says that another follows.
func (l *listing) page(rows []checkpoint.ThreadInfo) checkpoint.Page {
	page := checkpoint.Page{Threads: rows}
	size := l.q.Size()
	if len(rows) > size {
		page.Threads = rows[:size:size]
	}
	for i := range page.Threads {
		page.Threads[i].Cursor = l.q.CursorOf(&page.Threads[i])
	}
	if len(rows) > size {
		page.Next = page.Threads[size-1].Cursor
	}
	return page
}

// listing makes the SQL of a page. Statuses stand in it as literals, so that partial indexes can be used; all else are
// parameters, so that few texts are made and kept prepared. The first parameter is always now.
type listing struct {
	d     *Dialect
	q     *checkpoint.Query
	now   any
	start *checkpoint.Key
	args  []any
}

// textInGo reports whether the text looked for has letters whose case SQL systems do not know, or not all in the same way.
func (l *listing) textInGo() bool {
	return strings.ContainsFunc(l.q.Text, func(r rune) bool { return r > 127 })
}

// byPhase reports whether the order is one of an index that begins with the phase.
func (l *listing) byPhase() bool {
	return l.q.Order() == checkpoint.SortDue || l.q.Order() == checkpoint.SortWaiting
}

func (l *listing) text() (string, []any) {
	l.args = append(l.args[:0], l.now)
	arms := l.arms()
	if !l.byPhase() && len(arms) > 1 {
		arms = []string{"(" + strings.Join(arms, " OR ") + ")"}
	}
	if l.q.Order() == checkpoint.SortUpdated && l.d.BySeq != nil {
		whole := arms[0]
		arms = nil
		for _, part := range l.d.BySeq {
			arms = append(arms, part+" AND "+whole)
		}
	}
	if len(arms) == 1 {
		return "SELECT " + l.d.Columns + l.from(arms[0]), l.args
	}
	// One arm a phase, each in the order of its index; what is picked from them is small. Their rows are put in order by
	// whoever reads them: a sorter would carry every column along.
	columns, _ := l.order()
	var b strings.Builder
	b.WriteString("SELECT " + l.d.Columns + " FROM (SELECT picked FROM (")
	for i, arm := range arms {
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("SELECT * FROM (SELECT " + l.d.Key + " AS picked, " + strings.Join(columns, ", ") + l.from(arm) + ") AS arm" + strconv.Itoa(i))
	}
	b.WriteString(") AS arms" + l.orderLimit() + ") AS page " + l.d.Join + " threads ON threads." + l.d.Key + " = picked")
	return b.String(), l.args
}

// sort puts the rows of several arms in order, in which they mostly are.
func (l *listing) sort(rows []checkpoint.ThreadInfo) {
	key := func(i int) checkpoint.Key {
		k := checkpoint.KeyOf(&rows[i], l.q.Order())
		if l.d.Stored != nil {
			k.Name, k.Thread = l.d.Stored(k.Name), l.d.Stored(k.Thread)
		}
		return k
	}
	before := func(i, j int) bool {
		less := key(i).Compare(key(j))
		return less < 0 && !l.q.Reverse || less > 0 && l.q.Reverse
	}
	for i := 1; i < len(rows); i++ {
		if before(i, i-1) {
			sort.Slice(rows, before)
			return
		}
	}
}

func (l *listing) from(arm string) string {
	where := append([]string{arm}, l.filters()...)
	if l.start != nil {
		where = append(where, l.keyset())
	}
	return " FROM threads WHERE " + strings.Join(where, " AND ") + l.orderLimit()
}

// arms are conditions that exclude each other, one for each way to have a wanted status.
func (l *listing) arms() []string {
	if len(l.q.Status) == 0 {
		if !l.byPhase() {
			return []string{"true"}
		}
		var arms []string
		for _, phase := range checkpoint.Phases() {
			arms = append(arms, "phase = '"+string(phase)+"'")
		}
		return arms
	}
	const ended = "('done', 'rejected', 'stopped', 'cancelled')"
	atRest := " AND lease_until <= " + l.d.Now
	var arms []string
	seen := make(map[checkpoint.Status]bool)
	for _, status := range l.q.Status {
		if seen[status] {
			continue
		}
		seen[status] = true
		phase := "phase = '" + string(status) + "'"
		switch {
		case status.Ended():
			arms = append(arms, phase)
		case status == checkpoint.Running:
			arms = append(arms, "lease_until > 0 AND lease_until > "+l.d.Now+" AND phase NOT IN "+ended)
		case status == checkpoint.Stalled:
			arms = append(arms, phase+atRest, "answers > 0 AND phase <> 'stalled' AND phase NOT IN "+ended+atRest)
		default:
			arms = append(arms, phase+atRest+" AND answers = 0")
		}
	}
	return arms
}

func (l *listing) arg(value any) string {
	l.args = append(l.args, value)
	return l.d.Mark(len(l.args))
}

func (l *listing) filters() []string {
	q := l.q
	var where []string
	among := func(column string, values []string) {
		if len(values) == 0 {
			return
		}
		marks := make([]string, len(values))
		for i, v := range values {
			marks[i] = l.arg(v)
		}
		where = append(where, column+" IN ("+strings.Join(marks, ", ")+")")
	}
	among("workflow", q.Workflow)
	among("node", q.Node)
	among("team", q.Group)
	among("assignee", q.Assignee)
	priorities := make([]string, len(q.Priority))
	for i, p := range q.Priority {
		priorities[i] = p
		if p == "" {
			priorities[i] = "normal"
		}
	}
	among("(CASE priority WHEN '' THEN 'normal' ELSE priority END)", priorities)
	where = append(where, l.reviewer()...)
	const since = "(CASE waiting WHEN 9223372036854775807 THEN updated ELSE waiting END)"
	if !q.OlderThan.IsZero() {
		where = append(where, since+" < "+l.arg(q.OlderThan.UnixMicro()))
	}
	if !q.NewerThan.IsZero() {
		where = append(where, since+" > "+l.arg(q.NewerThan.UnixMicro()))
	}
	if !q.DueBefore.IsZero() {
		where = append(where, "due < "+l.arg(q.DueBefore.UnixMicro()))
	}
	if q.Failing {
		where = append(where, "error <> ''")
	}
	if q.Text != "" && !l.textInGo() {
		text := l.arg(strings.ToLower(q.Text))
		var any []string
		for _, column := range []string{"title", "thread", "workflow", "node", "error"} {
			any = append(any, l.d.Contains(column, text))
		}
		where = append(where, "("+strings.Join(any, " OR ")+")")
	}
	return where
}

func (l *listing) reviewer() []string {
	if l.q.Reviewer == "" {
		return nil
	}
	switch l.q.Reviewer {
	case "none":
		return []string{"(claim_by = '' OR claim_until <= " + l.d.Now + ")"}
	case "any":
		return []string{"claim_by <> '' AND claim_until > " + l.d.Now}
	default:
		return []string{"claim_by = " + l.arg(l.q.Reviewer) + " AND claim_until > " + l.d.Now}
	}
}

// order are the columns of the order asked for; a seq is unique and counts up with time.
func (l *listing) order() (columns []string, descending bool) {
	switch l.q.Order() {
	case checkpoint.SortWaiting:
		return []string{"waiting", "thread"}, l.q.Reverse
	case checkpoint.SortUpdated:
		return []string{"seq"}, !l.q.Reverse
	case checkpoint.SortName:
		return []string{"workflow", "thread"}, l.q.Reverse
	default:
		return []string{"due", "waiting", "thread"}, l.q.Reverse
	}
}

func (l *listing) orderLimit() string {
	columns, descending := l.order()
	direction := ""
	if descending {
		direction = " DESC"
	}
	return " ORDER BY " + strings.Join(columns, direction+", ") + direction + " LIMIT " + strconv.Itoa(l.q.Size()+1)
}

func (l *listing) keyset() string {
	columns, descending := l.order()
	k := l.start
	var key []any
	switch l.q.Order() {
	case checkpoint.SortWaiting:
		key = []any{k.First, k.Thread}
	case checkpoint.SortUpdated:
		key = []any{-k.First}
	case checkpoint.SortName:
		key = []any{k.Name, k.Thread}
	default:
		key = []any{k.First, k.Second, k.Thread}
	}
	marks := make([]string, len(key))
	for i, v := range key {
		marks[i] = l.arg(v)
	}
	than := " > "
	if descending {
		than = " < "
	}
	return "(" + strings.Join(columns, ", ") + ")" + than + "(" + strings.Join(marks, ", ") + ")"
}
