package plot_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/plot"
)

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{0: "    ", 1: "████", 0.5: "██  ", 0.001: "▏   ", 2: "████", -1: "    ", 0.4: "█▋  "} {
		if got := plot.Bar(share, 4); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}

func TestSpark(t *testing.T) {
	if got := plot.Spark([]int{0, 1, 4, 8}, 10); got != "▁▁▄█" {
		t.Errorf("%q", got)
	}
	if got := plot.Spark([]int{1, 1, 4, 0}, 2); got != "▄█" {
		t.Errorf("%q: columns are not added up", got)
	}
}

func TestPlotsKeepTheirWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 60).Draw(t, "w")
		if got := cell.Width(plot.Bar(rapid.Float64().Draw(t, "share"), w)); got != w {
			t.Errorf("bar of %d cells, want %d", got, w)
		}
		values := rapid.SliceOfN(rapid.IntRange(0, 1e6), 1, 80).Draw(t, "values")
		if got := cell.Width(plot.Spark(values, w)); got != min(w, len(values)) {
			t.Errorf("sparkline of %d cells, want %d", got, min(w, len(values)))
		}
	})
}
