package codec_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// TestKeyframesAreDue commits steps of one size onto a state of one size and looks where the next keyframe falls.
func TestKeyframesAreDue(t *testing.T) {
	for name, c := range map[string]struct{ base, step, want int }{
		"steps as large as the state":         {1000, 1000, 21},
		"a state worth its price at once":     {20 * 8 * 10, 10, 21},
		"a state worth its price a step late": {20*8*10 + 1, 10, 22},
		"a large state, small steps":          {1 << 20, 10, 101},
		"empty steps":                         {1, 0, 101},
	} {
		var f codec.Frames
		f.Keyframe(0, c.base)
		at := 1
		for ; !f.Due(); at++ {
			f.Step(c.step)
		}
		if at != c.want {
			t.Errorf("%s: step %d is the next keyframe, want %d", name, at, c.want)
		}
		f.Keyframe(int64(at), c.base)
		if want := (codec.Frames{Base: int64(at), BaseSize: int64(c.base)}); f != want {
			t.Errorf("%s: after it %+v, want %+v", name, f, want)
		}
	}
}

func TestRebuild(t *testing.T) {
	set := func(value string) []byte {
		return codec.EncodeOps([]checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "a", Value: json.RawMessage(value)}})
	}
	r := codec.Rebuild{Thread: "t", Where: "rows"}
	if _, err := r.Channels(0); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Errorf("nothing was added: %v", err)
	}
	var hurt *checkpoint.CorruptError
	if err := r.Add(1, 0, set("1")); !errors.As(err, &hurt) || hurt.Step != 1 || hurt.Thread != "t" || hurt.Where != "rows" {
		t.Errorf("a step without its keyframe: %v", err)
	}
	for step, value := range map[int64]string{5: "2", 6: "3"} {
		if err := r.Add(step, step, set(value)); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Channels(step); err != nil || string(got["a"]) != value {
			t.Errorf("step %d: %s (%v), want %s", step, got["a"], err, value)
		}
	}
	if err := r.Add(7, 6, []byte("x")); !errors.Is(err, checkpoint.ErrCorrupt) {
		t.Errorf("a damaged row: %v", err)
	}
	if err := r.Add(8, 6, set("4")); !errors.Is(err, checkpoint.ErrCorrupt) {
		t.Errorf("a row that builds on a damaged one: %v", err)
	}
	if err := r.Add(9, 9, set("5")); err != nil {
		t.Errorf("the keyframe after a damaged row: %v", err)
	}
}
