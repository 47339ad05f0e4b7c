package checkpoint

import (
	"fmt"
	"slices"
)

// Gone is a deleted thread and the sequence number of its deletion.
type Gone struct {
	Thread string
	Seq    int64
}

// MergeChanges makes Changes of rows and deletions after a sequence number, each in the order of theirs: the first
// limit of both together. Backends may pass limit+1 of each instead of all.
func MergeChanges(rows []ThreadInfo, gone []Gone, after int64, limit int) Changes {
	if limit <= 0 {
		limit = 500
	}
	c := Changes{Seq: after}
	for n := 0; len(rows) > 0 || len(gone) > 0; n++ {
		if n == limit {
			c.More = true
			break
		}
		if len(gone) == 0 || len(rows) > 0 && rows[0].Seq < gone[0].Seq {
			c.Threads, c.Seq, rows = append(c.Threads, rows[0]), rows[0].Seq, rows[1:]
			continue
		}
		c.Deleted, c.Seq, gone = append(c.Deleted, gone[0].Thread), gone[0].Seq, gone[1:]
	}
	return c
}

// Resolved turns the ids that end in suffix into the answer of Resolve.
func Resolved(suffix string, ids []string) (string, error) {
	switch len(ids) {
	case 0:
		if len(suffix) < ResolveLength {
			return "", fmt.Errorf("%w; an ending needs %d characters or more", ThreadNotFound(suffix), ResolveLength)
		}
		return "", ThreadNotFound(suffix)
	case 1:
		return ids[0], nil
	default:
		slices.Sort(ids)
		return "", &AmbiguousError{Name: suffix, Candidates: ids[:min(len(ids), 10)]}
	}
}
