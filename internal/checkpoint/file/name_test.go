package file

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

var hostile = []string{"", ".", "..", "../../etc/passwd", "a/b", `a\b`, "C:", "con", "nul", "NUL", "com1", "lpt9", "com10", "nul.txt", "a.", "a ", " a", ".hidden",
	"A", "a", "Ä", "A\u0308", "\x00", "\xff", "%41", "~", "a~b", "a\nb", "-rf", "*?", strings.Repeat("x", 120), strings.Repeat("x", 121),
	strings.Repeat("x", 5000), strings.Repeat("X", 41), strings.Repeat("ü", 300), "head.json", "0192f0c1-7d1c-7aaa-8f00-3b1f0a3e9d55"}

var safeName = regexp.MustCompile(`^[a-z0-9_%~-]{1,143}$`)

// checkName demands of an id's name that every file system takes it and that it is no other's.
func checkName(t *testing.T, id string) string {
	t.Helper()
	name := escape(id)
	if !safeName.MatchString(name) || reserved(name) {
		t.Errorf("%q is named %q", id, name)
	}
	if back, ok := unescape(name); ok != !strings.Contains(name, "~") || ok && back != id {
		t.Errorf("%q is named %q, which is %q (%t)", id, name, back, ok)
	}
	return name
}

func TestNames(t *testing.T) {
	seen := make(map[string]string)
	for _, id := range hostile {
		name := checkName(t, id)
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q are both named %q", id, other, name)
		}
		seen[name] = id
	}
	if name := escape("0192f0c1-7d1c-7aaa-8f00-3b1f0a3e9d55"); strings.Contains(name, "%") {
		t.Errorf("a usual id is named %q", name)
	}
}

// TestThreadsOfHostileNames keeps threads with such ids apart, and finds each by its id.
func TestThreadsOfHostileNames(t *testing.T) {
	s, folder := newStore(t)
	for i, id := range hostile[1:] {
		if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: id, Step: int64(i)}, nil); err != nil {
			t.Fatalf("%q: %v", id, err)
		}
	}
	again := openUnsynced(t, folder, Options{})
	page, err := again.Threads(t.Context(), checkpoint.Query{Limit: 1000})
	if err != nil || len(page.Threads) != len(hostile)-1 {
		t.Fatalf("%d threads (%v), want %d", len(page.Threads), err, len(hostile)-1)
	}
	for i, id := range hostile[1:] {
		if head, err := again.Latest(t.Context(), id); err != nil || head.Step != int64(i) || head.Thread != id {
			t.Errorf("%q: %v (%v)", id, head, err)
		}
	}
	if _, err := again.Latest(t.Context(), ""); err == nil {
		t.Error("a thread without a name is there")
	}
}

func FuzzNames(f *testing.F) {
	for _, id := range hostile {
		f.Add(id, id+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if name := checkName(t, a); name == checkName(t, b) && a != b {
			t.Errorf("%q and %q are both named %q", a, b, name)
		}
	})
}

// FuzzFiles feeds what no program of ours wrote, with a right checksum and without.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"thread":"t","step":1,"ops":[{"op":"set","channel":"a","value":{"#text":"x"}}]`))
	f.Add([]byte("{\n  \"thread\": {\"base64\":\"eA==\"},\n  \"interrupts\": [{\"previous\":{}}],\"lease\":null"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, file := range [][]byte{b, verbatim.Sealed(append([]byte(nil), b...), verbatim.PageSeal), verbatim.Sealed(append([]byte(nil), b...), verbatim.LineSeal)} {
			_, _ = decodeHead(file)
			_, _ = decodeDecision(file)
			_, _ = parseLine(file)
			p, err := decodeStep(file)
			if err != nil {
				continue
			}
			again, _, err := p.encode()
			if err != nil {
				continue // a time out of range
			}
			if q, err := decodeStep(again); err != nil || len(q.ops) != len(p.ops) {
				t.Errorf("%q is written as %q (%v)", file, again, err)
			}
		}
	})
}
