package desk

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// minShort is the length of the shortest name a thread may be called by.
const minShort = 4

// shorten gives each thread the shortest ending of its id, of four characters or more, that no other id of the page
// ends in.
func shorten(threads []Thread) {
	order := make([]int, len(threads))
	reversed := make([]string, len(threads))
	for i, t := range threads {
		order[i], reversed[i] = i, reverse(t.ID)
	}
	// Ids that share an ending are neighbours once they are sorted from the end.
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(reversed[a], reversed[b]) })
	for n, i := range order {
		need := minShort
		if n > 0 {
			need = max(need, common(reversed[i], reversed[order[n-1]])+1)
		}
		if n+1 < len(order) {
			need = max(need, common(reversed[i], reversed[order[n+1]])+1)
		}
		threads[i].Short = ending(threads[i].ID, wordStart(threads[i].ID, need))
	}
}

// maxWord is the longest ending that is shown because it begins with a whole word.
const maxWord = 24

// wordStart is how long the ending of an id is that has n bytes at least and begins with a word of it, as an id that a
// person chose has them: release of fix-release. It is n where that is too long, and for the groups of a UUID.
func wordStart(id string, n int) int {
	if uuid.Validate(id) == nil {
		return n
	}
	for at := len(id) - n; at >= 0 && len(id)-at <= maxWord; at-- {
		if at == 0 || strings.IndexByte("-_.:@+", id[at-1]) >= 0 {
			return len(id) - at
		}
	}
	return n
}

// ending is the last n bytes of an id, more where that would cut a character.
func ending(id string, n int) string {
	at := max(0, len(id)-n)
	for at > 0 && id[at]&0xC0 == 0x80 {
		at--
	}
	return id[at:]
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
