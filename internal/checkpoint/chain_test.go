package checkpoint_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

func linked(n int) ([]*checkpoint.Decision, checkpoint.Chain) {
	var chain checkpoint.Chain
	var rows []*checkpoint.Decision
	for i := range n {
		d := &checkpoint.Decision{ID: fmt.Sprint("d", i+1), Reviewer: "ann", Data: []byte(`{}`), DecidedAt: time.Unix(int64(i), 1500)}
		chain.Append("t", d)
		rows = append(rows, d)
	}
	return rows, chain
}

func each(rows []*checkpoint.Decision) iter.Seq2[*checkpoint.Decision, error] {
	return func(yield func(*checkpoint.Decision, error) bool) {
		for _, d := range rows {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func TestChainHolds(t *testing.T) {
	for n := range 4 {
		rows, chain := linked(n)
		if err := checkpoint.VerifyChain("t", each(rows), chain); err != nil {
			t.Errorf("%d rows: %v", n, err)
		}
	}
}

func TestChainBreaks(t *testing.T) {
	type rows = []*checkpoint.Decision
	for name, c := range map[string]struct {
		spoil func(rows, *checkpoint.Chain) rows
		n     int64
		id    string
	}{
		"reviewer changed": {func(r rows, _ *checkpoint.Chain) rows { r[1].Reviewer = "eve"; return r }, 2, "d2"},
		"data changed":     {func(r rows, _ *checkpoint.Chain) rows { r[1].Data = []byte(`{ }`); return r }, 2, "d2"},
		"time changed":     {func(r rows, _ *checkpoint.Chain) rows { r[1].DecidedAt = r[1].DecidedAt.Add(time.Second); return r }, 2, "d2"},
		"waited changed":   {func(r rows, _ *checkpoint.Chain) rows { r[1].WaitedSeconds = 1; return r }, 2, "d2"},
		"version changed":  {func(r rows, _ *checkpoint.Chain) rows { r[1].Version.Step = 1; return r }, 2, "d2"},
		"moved over fields": {func(r rows, _ *checkpoint.Chain) rows {
			r[1].ID, r[1].ResponseID = "d", "2"
			return r
		}, 2, "d"},
		"changed and rehashed": {func(r rows, _ *checkpoint.Chain) rows {
			r[1].Reviewer = "eve"
			r[1].Hash = checkpoint.ChainHash(r[1])
			return r
		}, 3, "d3"},
		"first removed":  {func(r rows, _ *checkpoint.Chain) rows { return r[1:] }, 1, "d2"},
		"middle removed": {func(r rows, _ *checkpoint.Chain) rows { return slices.Delete(r, 1, 2) }, 2, "d3"},
		"last removed":   {func(r rows, _ *checkpoint.Chain) rows { return r[:2] }, 3, ""},
		"all removed":    {func(rows, *checkpoint.Chain) rows { return nil }, 1, ""},
		"reordered":      {func(r rows, _ *checkpoint.Chain) rows { r[0], r[1] = r[1], r[0]; return r }, 1, "d2"},
		"reordered and renumbered": {func(r rows, _ *checkpoint.Chain) rows {
			r[0], r[1] = r[1], r[0]
			r[0].N, r[1].N = 1, 2
			return r
		}, 1, "d2"},
		"added": {func(r rows, chain *checkpoint.Chain) rows {
			d := &checkpoint.Decision{ID: "d4"}
			end := *chain
			end.Append("t", d)
			return append(r, d)
		}, 4, "d4"},
		"last rewritten with the chain": {func(r rows, _ *checkpoint.Chain) rows {
			at := checkpoint.Chain{Count: 2, Last: r[1].Hash}
			r[2].Reviewer = "eve"
			at.Append("t", r[2])
			return r
		}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			list, chain := linked(3)
			err := checkpoint.VerifyChain("t", each(c.spoil(list, &chain)), chain)
			var broken *checkpoint.ChainError
			if !errors.As(err, &broken) || !errors.Is(err, checkpoint.ErrCorrupt) {
				t.Fatalf("error %v, want a ChainError", err)
			}
			if broken.N != c.n || broken.ID != c.id || !strings.Contains(err.Error(), "thread t") {
				t.Errorf("it names row %d (%s), want %d (%s)", broken.N, broken.ID, c.n, c.id)
			}
		})
	}
}

func TestChainPassesReadingErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	rows := func(yield func(*checkpoint.Decision, error) bool) { yield(nil, broken) }
	if err := checkpoint.VerifyChain("t", rows, checkpoint.Chain{}); !errors.Is(err, broken) || errors.Is(err, checkpoint.ErrCorrupt) {
		t.Errorf("error %v, want the reader's", err)
	}
}

func TestTombstonesAreVerified(t *testing.T) {
	hash := strings.Repeat("0f", 32)
	at := time.Unix(1, 0)
	for name, c := range map[string]struct {
		stone checkpoint.Tombstone
		there bool
		want  string
	}{
		"whole":              {checkpoint.Tombstone{Thread: "t", DeletedAt: at, Decisions: 3, DecisionHash: hash}, false, ""},
		"without decisions":  {checkpoint.Tombstone{Thread: "t", DeletedAt: at}, false, ""},
		"of a thread":        {checkpoint.Tombstone{Thread: "t", DeletedAt: at}, true, "is there"},
		"without a time":     {checkpoint.Tombstone{Thread: "t"}, false, "when"},
		"hash taken away":    {checkpoint.Tombstone{Thread: "t", DeletedAt: at, Decisions: 3}, false, "counts 3"},
		"count taken away":   {checkpoint.Tombstone{Thread: "t", DeletedAt: at, DecisionHash: hash}, false, "counts 0"},
		"a count below zero": {checkpoint.Tombstone{Thread: "t", DeletedAt: at, Decisions: -1, DecisionHash: hash}, false, "counts -1"},
		"no hash":            {checkpoint.Tombstone{Thread: "t", DeletedAt: at, Decisions: 3, DecisionHash: "none"}, false, "no hash"},
		"a short hash":       {checkpoint.Tombstone{Thread: "t", DeletedAt: at, Decisions: 3, DecisionHash: "0f"}, false, "no hash"},
	} {
		err := c.stone.Verify(c.there)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), "thread t") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
