package prune

import (
	"testing"
	"time"
)

// TestChunksKeepToTheirTime lets each step take so long and looks at what becomes of the chunks.
func TestChunksKeepToTheirTime(t *testing.T) {
	const most = 5 * time.Millisecond
	pace := Pace{Steps: 250, Most: most}
	for step, within := range map[time.Duration][2]int64{
		time.Microsecond:       {250, 250},
		40 * time.Microsecond:  {62, 125},
		time.Millisecond:       {leastSteps, leastSteps},
		100 * time.Microsecond: {25, 50},
	} {
		steps := pace.Steps
		for range 20 {
			steps = pace.after(steps, time.Duration(steps)*step)
		}
		if steps < within[0] || steps > within[1] {
			t.Errorf("a step takes %v: chunks of %d, want %v", step, steps, within)
		}
		for range 40 {
			steps = pace.after(steps, 0)
		}
		if steps != pace.Steps {
			t.Errorf("a step takes %v, then none: chunks of %d, want %d", step, steps, pace.Steps)
		}
	}
	few := Pace{Steps: 4, Most: most}
	if steps := few.after(4, time.Second); steps != 4 {
		t.Errorf("of chunks of 4 slow ones become %d", steps)
	}
	if steps := (&Pace{Steps: 500}).after(500, time.Hour); steps != 500 {
		t.Errorf("without a bound chunks become %d", steps)
	}
}
