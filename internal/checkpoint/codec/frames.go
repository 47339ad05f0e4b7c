package codec

import (
	"errors"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Frames is how the state of a thread's head is stored: operations on a keyframe. A backend keeps it in the thread's
// row, and asks it at each commit which of the two the new step is to be.
type Frames struct {
	Base     int64 // the keyframe's step
	BaseSize int64 // its bytes, as EncodeKeyframe gives them
	Steps    int64 // steps since the keyframe
	Size     int64 // bytes of their operations, as EncodeOps gives them
}

// A keyframe is due after keyframeSteps steps, later where it would cost more than keyframeCost times what it saves
// writing, at the latest after keyframeMost: reading a state takes that many rows.
const (
	keyframeSteps = 20
	keyframeCost  = 8
	keyframeMost  = 100
)

// Due reports whether the step after the head is to be a keyframe. The first step of a thread always is one.
func (f *Frames) Due() bool {
	return f.Steps >= keyframeMost || f.Steps >= keyframeSteps && f.Size*keyframeCost >= f.BaseSize
}

// Keyframe accounts for a step that is stored whole, in so many bytes.
func (f *Frames) Keyframe(step int64, size int) { *f = Frames{Base: step, BaseSize: int64(size)} }

// Step accounts for a step whose operations take so many bytes.
func (f *Frames) Step(size int) {
	f.Steps++
	f.Size += int64(size)
}

// Rebuild builds states from the stored rows of one thread, read in ascending order of their steps.
type Rebuild struct {
	Thread string
	Where  string // what holds the rows, for the error of one that is hurt: a column or a file

	builder *checkpoint.Builder
	at      int64
}

var errBase = errors.New("the keyframe it builds on is missing or corrupt")

// Add takes the next row: a step, the step of the keyframe it builds on, itself if it is one, and its bytes, which are
// kept. A row that cannot be used is a *checkpoint.CorruptError; rows may follow, of which the next keyframe is the first
// that can be.
func (r *Rebuild) Add(step, base int64, state []byte) error {
	ops, err := DecodeOps(state)
	if err == nil && base == step {
		r.builder = checkpoint.NewBuilder(nil)
	}
	if err == nil && r.builder == nil {
		err = errBase
	}
	if err == nil {
		err = r.builder.Apply(ops)
	}
	if err != nil {
		r.builder = nil
		return &checkpoint.CorruptError{Thread: r.Thread, Step: step, Where: r.Where, Err: err}
	}
	r.at = step
	return nil
}

// Channels gives the state at the step added last, which has to be the one named, else it is an ErrNotFound.
func (r *Rebuild) Channels(step int64) (checkpoint.Channels, error) {
	if r.builder == nil || r.at != step {
		return nil, checkpoint.StepNotFound(r.Thread, step)
	}
	return r.builder.Channels(), nil
}
