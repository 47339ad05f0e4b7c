package local_test

import (
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// BenchmarkOpen is what a move of the selection costs behind the screen.
func BenchmarkOpen(b *testing.B) {
	x := newBench(b)
	r := x.start("note.yaml", nil)
	for b.Loop() {
		if _, err := x.desk.Open(b.Context(), r.Thread); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRespond is what a key that decides costs behind the screen, until the decision is safe in the outbox.
func BenchmarkRespond(b *testing.B) {
	x := newBench(b)
	r := x.start("note.yaml", nil)
	x.open(desk.Options{Grace: 1 << 62})
	d := decision(r.Questions[0], "approve", "")
	for b.Loop() {
		if _, err := x.desk.Respond(b.Context(), d, nil); err != nil {
			b.Fatal(err)
		}
	}
}
