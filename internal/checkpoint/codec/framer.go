package codec

import "github.com/hitl-tui/hitl-tui/internal/checkpoint"

// Framer decides how the states of a thread that comes as a whole are stored, each given after the one before it. Frames
// is how the last one was, once the backend has told its size by Frames.Keyframe or Frames.Step.
type Framer struct {
	Frames Frames

	before checkpoint.Channels
}

// Next gives the operations that make the next state of the one before, or nil and true for a keyframe. The state must
// not be changed afterwards.
func (f *Framer) Next(state checkpoint.Channels) (ops []checkpoint.Op, keyframe bool) {
	if state == nil {
		state = checkpoint.Channels{}
	}
	keyframe = f.before == nil || f.Frames.Due()
	if !keyframe {
		ops = checkpoint.Diff(f.before, state)
	}
	f.before = state
	return ops, keyframe
}

// putMark begins what a backend that names every write stores as the commit id of a Put.
const putMark = "put "

// PutID is what such a backend stores for the Put named id.
func PutID(id string) string { return putMark + id }

// CommitID is the id of the commit that wrote a step, "" for a Put, of what is stored.
func CommitID(stored string) string {
	if len(stored) >= len(putMark) && stored[:len(putMark)] == putMark {
		return ""
	}
	return stored
}
