package pager

import "sort"

// Join makes one Source of several, one below the other.
func Join(sources ...Source) Source {
	j := joined{}
	n := 0
	for _, s := range sources {
		if s == nil || s.Len() == 0 {
			continue
		}
		j.parts = append(j.parts, s)
		j.from = append(j.from, n)
		n += s.Len()
	}
	j.n = n
	return j
}

type joined struct {
	parts []Source
	from  []int // first line of each
	n     int
}

func (j joined) Len() int { return j.n }

func (j joined) at(i int) (Source, int) {
	p := sort.SearchInts(j.from, i+1) - 1
	return j.parts[p], i - j.from[p]
}

func (j joined) Line(i int) string { s, k := j.at(i); return s.Line(k) }

func (j joined) Plain(i int) string { s, k := j.at(i); return plainLine(s, k) }

func (j joined) Rows(i, w int, wrap bool, mark func(string) string) []string {
	s, k := j.at(i)
	return rowsOf(s, k, w, wrap, mark)
}
