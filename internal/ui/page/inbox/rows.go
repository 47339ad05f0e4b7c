package inbox

import (
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// row is one line of the list. A row whose thread left the tab stays, dim, until the list is cleared.
type row struct {
	desk.Thread
	gone   bool
	fate   string // who did what, for a row that is gone: "approved by bob"
	fateAt time.Time
	opened bool // its question was drawn here
}

// rows is the list: what was read so far, in the order of the desk, and what stays though it is gone.
type rows struct {
	list  []*row
	index map[string]int
	next  string // where the page after begins; "" when all is read
	read  bool   // at least one page was read
}

// at is the position of a thread, -1 when it is not listed.
func (r *rows) at(id string) int {
	if i, ok := r.index[id]; ok {
		return i
	}
	return -1
}

func (r *rows) get(id string) *row {
	if i := r.at(id); i >= 0 {
		return r.list[i]
	}
	return nil
}

// add appends the page after what was read.
func (r *rows) add(p desk.Page) {
	for _, t := range p.Threads {
		if r.at(t.ID) < 0 {
			r.list = append(r.list, &row{Thread: t})
			r.setIndex(len(r.list) - 1)
		}
	}
	r.next, r.read = p.Next, true
}

// replace takes a fresh reading of everything that was read before. What is no longer in it stays behind the row it
// stood behind, marked gone; rows past the end of a reading that is cut off are forgotten, for they are read again
// when one gets there. It returns the threads that are newly gone.
func (r *rows) replace(p desk.Page, keep string) []string {
	fresh := make(map[string]bool, len(p.Threads))
	for _, t := range p.Threads {
		fresh[t.ID] = true
	}
	end := len(r.list)
	if p.Next != "" {
		for end > 0 && !fresh[r.list[end-1].ID] {
			end--
		}
	}
	var newly []string
	behind := map[string][]*row{}
	anchor := ""
	for i, old := range r.list {
		if fresh[old.ID] {
			anchor = old.ID
			continue
		}
		if i >= end && !old.gone && old.ID != keep {
			continue
		}
		if i < end && !old.gone {
			old.gone = true
			newly = append(newly, old.ID)
		}
		behind[anchor] = append(behind[anchor], old)
	}
	list := slices.Grow(slices.Clone(behind[""]), len(p.Threads))
	for _, t := range p.Threads {
		n := &row{Thread: t}
		if old := r.get(t.ID); old != nil {
			n.opened = old.opened
		}
		list = append(list, n)
		list = append(list, behind[t.ID]...)
	}
	r.list, r.next, r.read = list, p.Next, true
	r.index = make(map[string]int, len(list))
	for i := range list {
		r.index[list[i].ID] = i
	}
	return newly
}

func (r *rows) setIndex(i int) {
	if r.index == nil {
		r.index = map[string]int{}
	}
	r.index[r.list[i].ID] = i
}

// after is the position of the next row that still waits, from i on and then from the start; -1 without one. open
// tells whether a thread still asks something that is not answered here.
func (r *rows) after(i int, open func(*row) bool) int {
	for j := i + 1; j < len(r.list); j++ {
		if open(r.list[j]) {
			return j
		}
	}
	for j := min(i, len(r.list)) - 1; j >= 0; j-- {
		if open(r.list[j]) {
			return j
		}
	}
	return -1
}
