package file

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// line is one of the journal: a thread changed. Numbers ascend, not always by one.
type line struct {
	N      int64 `json:"n"`
	Thread text  `json:"thread"`
	Quiet  bool  `json:"quiet,omitempty"` // its row is another, but it is no change to tell of
}

// journalHead is the first line of the journal. A journal written anew begins after the last number of the one whose place
// it takes, so that each is known by its beginning.
type journalHead struct {
	Journal int   `json:"journal"`
	From    int64 `json:"from"`
	Lost    bool  `json:"lost,omitempty"` // it does not hold the last line of every thread
}

// The journal is written anew, with a line or two a thread, once it is larger than journalMost and than twice what it was
// when that was done last.
const journalMost = 1 << 20

// journal knows the last number given out and, for each thread, that of its last change. read and append are called
// under the store's shared lock, append by who has it alone.
type journal struct {
	s *Store

	mu      sync.Mutex
	compact int64 // size as it was written anew
	news    news
	journalState
}

// journalState is what the file said when it was read last.
type journalState struct {
	known   bool
	from    int64            // its beginning
	size    int64            // bytes read: whole lines
	last    int64            // number
	damaged bool             // a line cannot be read or is lost
	changes map[string]int64 // by thread
	quiet   map[string]int64 // by thread: later than its last change
}

// news are the threads whose rows have to be read again.
type news struct {
	all     bool
	threads map[string]bool
}

func newJournal(s *Store) *journal { return &journal{s: s} }

// moved reports whether there is something in the file that was not read. It needs no lock.
func (j *journal) moved() (bool, error) {
	h, size, err := j.look()
	if err != nil {
		return true, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.known || h.From != j.from || size != j.size, nil
}

// look reads the first line and the size. A journal that is not there, or whose first line cannot be read, has size 0.
func (j *journal) look() (h journalHead, size int64, err error) {
	const most = 128
	b, size, err := j.s.disk.ReadAt(j.s.journalFile(), 0, most)
	if errors.Is(err, fs.ErrNotExist) {
		return h, 0, nil
	}
	if err != nil {
		return h, 0, err
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	if verbatim.Open(append(slices.Clip(first), '\n'), verbatim.LineSeal, &h) != nil {
		return journalHead{}, 0, nil
	}
	return h, size, nil
}

// read takes up what is new in the file.
func (j *journal) read() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.readLocked()
}

func (j *journal) readLocked() error {
	h, size, err := j.look()
	if err != nil {
		return err
	}
	before := int64(0)
	if !j.known || h.From != j.from || size < j.size {
		shorter := j.known && h.From == j.from && size > 0
		lost := !j.known || h.Lost || size == 0 || shorter
		if j.known {
			before = j.last
		}
		j.journalState = journalState{known: true, from: h.From, last: max(h.From, j.last), damaged: shorter,
			changes: make(map[string]int64), quiet: make(map[string]int64)}
		j.news.all = j.news.all || lost
	}
	if size == j.size {
		return nil
	}
	b, _, err := j.s.disk.ReadAt(j.s.journalFile(), j.size, -1)
	if err != nil {
		j.known = false
		return err
	}
	j.take(b, before)
	if j.size < size { // whoever wrote that line did not live to end it
		j.damaged = true
	}
	return nil
}

// take takes up the whole lines at the beginning of b; those of numbers up to before are no news.
func (j *journal) take(b []byte, before int64) {
	if j.news.threads == nil {
		j.news.threads = make(map[string]bool)
	}
	for l := range bytes.Lines(b) {
		if l[len(l)-1] != '\n' {
			return
		}
		first := j.size == 0
		j.size += int64(len(l))
		if first {
			continue
		}
		at, err := parseLine(l)
		if err != nil {
			j.damaged, j.news.all = true, true
			continue
		}
		j.last = max(j.last, at.N)
		if at.Quiet {
			j.quiet[string(at.Thread)] = at.N
		} else {
			j.changes[string(at.Thread)] = at.N
			delete(j.quiet, string(at.Thread))
		}
		if at.N > before {
			j.news.threads[string(at.Thread)] = true
		}
	}
}

// parseLine reads a line of the journal, those that encoding/json is not needed for at a tenth of its cost: a program that
// begins reads tens of thousands.
func parseLine(b []byte) (line, error) {
	if err := verbatim.Intact(b, verbatim.LineSeal); err != nil {
		return line{}, err
	}
	rest, ok := bytes.CutPrefix(b, []byte(`{"n":`))
	digits, rest, ok2 := bytes.Cut(rest, []byte(`,"thread":"`))
	n, err := strconv.ParseInt(string(digits), 10, 64)
	end := bytes.IndexAny(rest, `"\`)
	if !ok || !ok2 || err != nil || end < 0 || rest[end] != '"' {
		var l line
		err := verbatim.Open(b, verbatim.LineSeal, &l)
		return l, err
	}
	return line{N: n, Thread: text(rest[:end]), Quiet: bytes.HasPrefix(rest[end:], []byte(`","quiet":true`))}, nil
}

// append writes a line each for changes of threads.
func (j *journal) append(lines ...line) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.readLocked(); err != nil {
		return err
	}
	if j.size == 0 || j.damaged || j.size > max(journalMost, 2*j.compact) {
		if err := j.rewrite(); err != nil {
			return err
		}
	}
	var b []byte
	for i, l := range lines {
		l.N = j.last + int64(i) + 1
		o, err := verbatim.LineOf(l)
		if err != nil {
			return err
		}
		b = append(b, o.Seal()...)
	}
	return j.s.disk.Append(j.s.journalFile(), j.size, b, false) // and read as any other's
}

// rewrite writes the journal anew.
func (j *journal) rewrite() error {
	h := journalHead{Journal: formatVersion, From: j.last, Lost: j.size == 0 || j.damaged}
	if h.Lost {
		begun, err := j.s.begun()
		if err != nil {
			return err
		}
		if begun { // no number is given twice, and the clock has counted further than any journal
			h.From = max(j.last+1, j.s.now().UnixMicro())
		}
	}
	o, err := verbatim.LineOf(h)
	if err != nil {
		return err
	}
	b := o.Seal()
	var lines []line
	for thread, n := range j.changes {
		lines = append(lines, line{N: n, Thread: text(thread)})
	}
	for thread, n := range j.quiet {
		lines = append(lines, line{N: n, Thread: text(thread), Quiet: true})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.N, b.N) })
	for _, l := range lines {
		o, err := verbatim.LineOf(l)
		if err != nil {
			return err
		}
		b = append(b, o.Seal()...)
	}
	if err := replace(j.s.disk, j.s.journalFile(), b); err != nil {
		return err
	}
	j.from, j.last, j.size, j.compact, j.damaged = h.From, h.From, int64(len(b)), int64(len(b)), false
	return nil
}

// begun reports whether the store has ever held a thread.
func (s *Store) begun() (bool, error) {
	buried, err := s.disk.List(s.tombstones())
	if err != nil || len(buried) > 0 {
		return true, err
	}
	folders, err := s.disk.List(s.threads())
	if err != nil {
		return true, err
	}
	for _, e := range folders {
		if found, err := exists(s.disk, s.headFile(e.name)); err != nil || found {
			return true, err
		}
	}
	return false, nil
}

// takeNews gives the threads to read again, and which numbers the changes of all have.
func (j *journal) takeNews() (news, map[string]int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.news
	j.news = news{}
	if n.all {
		return n, maps.Clone(j.changes)
	}
	numbers := make(map[string]int64, len(n.threads))
	for thread := range n.threads {
		if at, ok := j.changes[thread]; ok {
			numbers[thread] = at
		}
	}
	return n, numbers
}

// change is the number of a thread's last change, 0 when no line tells of one.
func (j *journal) change(thread string) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changes[thread]
}
