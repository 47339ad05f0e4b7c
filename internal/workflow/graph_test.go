package workflow

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func meet(at int, node, one, other, after string) string {
	return fmt.Sprintf(`%d:3 node %q is reached from both %q and %q, which run side by side after %q: say join: all (once, when both are done), arrived (once, with those that come) or each (once for each)`,
		at, node, one, other, after)
}

// TestBranchesThatMeet: a node at which branches of one fan-out can meet needs join, and no other does.
func TestBranchesThatMeet(t *testing.T) {
	for _, c := range []struct {
		name, nodes string
		want        []string
	}{
		{"with join", `
  s: {template: x, then: [a, b]}
  a: {template: x, then: c}
  b: {template: x, then: c}
  c: {template: x, join: all}
`, nil},
		{"alternatives of one branch", `
  s: {template: x, output: y, when: [{if: y == 'a', then: a}], then: b}
  a: {template: x, then: c}
  b: {template: x, then: c}
  c: {template: x}
`, nil},
		{"only behind the join", `
  s: {template: x, then: [a, b]}
  a: {template: x, then: c}
  b: {template: x, then: c}
  c: {template: x, join: all, then: d}
  d: {template: x}
`, nil},
		{"a third branch behind the join", `
  s: {template: x, then: [a, b, e]}
  a: {template: x, then: c}
  b: {template: x, then: c}
  c: {template: x, join: all, then: d}
  e: {template: x, then: d}
  d: {template: x}
`, []string{meet(9, "d", "c", "e", "s")}},
		{"a branch that is itself the meeting", `
  s: {template: x, then: [a, c]}
  a: {template: x, then: c}
  c: {template: x}
`, []string{meet(6, "c", "s", "a", "s")}},
		{"a fan-out in a branch", `
  s: {template: x, then: [a, b]}
  a: {template: x, then: [c, d]}
  b: {template: x}
  c: {template: x, then: e}
  d: {template: x, then: e}
  e: {template: x}
`, []string{meet(9, "e", "c", "d", "a")}},
		{"both meetings of crossed branches", `
  s: {template: x, then: [a, b]}
  a: {template: x, then: [c, d]}
  b: {template: x, then: [c, d]}
  c: {template: x}
  d: {template: x}
`, []string{meet(7, "c", "a", "b", "s"), meet(8, "d", "a", "b", "s")}},
		{"branches that never meet", `
  s: {template: x, then: [a, b]}
  a: {template: x, then: END}
  b: {template: x, then: END}
`, nil},
		{"one branch sends a retry back", `
  s: {template: x, then: [a, b]}
  a: {human: approval, message: x, routes: {retry: s}, then: c}
  b: {human: approval, message: x, routes: {retry: s}, then: c}
  c: {template: x, join: all}
`, nil},
		{"both branches go back to before the fan-out", `
  d: {template: x, then: s}
  s: {template: x, then: [a, b]}
  a: {human: approval, message: x, routes: {reject: d}, then: END}
  b: {human: approval, message: x, routes: {reject: d}, then: END}
`, []string{meet(4, "d", "a", "b", "s")}},
		{"a loop behind the join", `
  s: {template: x, then: [a, b]}
  a: {template: x, then: c}
  b: {template: x, then: c}
  c: {template: x, output: y, join: all, when: [{if: y == 'x', then: b}], then: END}
`, nil},
		{"a loop behind the join, to the other branch", `
  s: {template: x, then: [a, b]}
  a: {template: x, then: c}
  b: {template: x, then: c}
  c: {template: x, output: y, join: all, when: [{if: y == 'x', then: a}], then: END}
`, nil},
		{"all of it a loop", `
  s: {template: x, then: [a, b]}
  a: {template: x, then: c}
  b: {template: x, then: c}
  c: {template: x, output: y, when: [{if: y == 'x', then: s}], then: END}
`, []string{meet(7, "c", "a", "b", "s")}},
		{"by route", `
  s: {human: approval, message: x, routes: {approve: [a, b]}, then: END}
  a: {template: x, then: c}
  b: {template: x, then: c}
  c: {template: x}
`, []string{meet(7, "c", "a", "b", "s")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, found(t, wf(c.nodes))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	text := "workflow: t\nstart: [a, b]\nnodes:\n  a: {template: x, then: c}\n  b: {template: x, then: c}\n  c: {template: x}\n"
	if diff := cmp.Diff([]string{meet(6, "c", "a", "b", "START")}, found(t, text)); diff != "" {
		t.Errorf("several start nodes (-want +got)\n%s", diff)
	}
}

// TestLoops: a loop needs a route, a condition or a question.
func TestLoops(t *testing.T) {
	for _, c := range []struct {
		name, nodes string
		want        []string
	}{
		{"ended by a condition", "  a: {template: x, output: y, then: b}\n  b: {template: z, when: [{if: y == 'x', then: a}], then: END}\n", nil},
		{"ended by a route", "  a: {exec: [x], accept: [1], routes: {\"1\": a}, then: END}\n", nil},
		{"held by a question", "  a: {human: approval, message: x, then: a}\n", nil},
		{"held by a program that may ask", "  a: {exec: [x], protocol: json, then: a}\n", nil},
		{"to itself", "  a: {template: x, then: a}\n", []string{"3:3 nothing ends this loop: a -> a"}},
		{"told from its first node", "  s: {template: x, then: c}\n  b: {template: x, then: c}\n  c: {template: x, then: b}\n", []string{"4:3 nothing ends this loop: b -> c -> b"}},
		{"in one branch of several", "  s: {template: x, then: [a, b]}\n  a: {wait: 1s, then: a}\n  b: {template: x}\n", []string{"4:3 nothing ends this loop: a -> a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, found(t, wf(c.nodes))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestOneTypoIsOneFault: what follows from a typo is not reported beside it.
func TestOneTypoIsOneFault(t *testing.T) {
	for name, nodes := range map[string]string{
		"a target":        "  a: {template: x, then: bb}\n  b: {template: x, then: c}\n  c: {template: x}\n",
		"the key then":    "  a: {template: x, thn: b}\n  b: {template: x, output: y, when: [{if: y == 'x', then: c}], then: END}\n  c: {template: x}\n",
		"a kind":          "  a: {tempalte: x, output: y, then: b}\n  b: {template: \"{{.y}}\"}\n",
		"an action":       ask + "    routes: {retyr: review}\n    then: END\n",
		"a reducer":       "  a: {set: {x: 1}}\nstate: {x: apend}\n",
		"the key message": "  a: {human: approval, mesage: x}\n",
	} {
		if got := found(t, wf(nodes)); len(got) != 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLargeFile: what a file takes grows with its length, not with its square. Counted are allocations, which unlike
// seconds are the same on every machine.
func TestLargeFile(t *testing.T) {
	for name, make := range map[string]func(int) string{
		"chain": chainFile, "every target wrong": wrongFile, "diamonds": diamondFile, "wide": wideFile, "lines": linesFile,
	} {
		small, large := allocated(t, make(500)), allocated(t, make(4000))
		if large > 12*small {
			t.Errorf("%s: %d bytes for 500 nodes, %d for 4000", name, small, large)
		}
	}
}

func allocated(t *testing.T, text string) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found(t, text)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// chainFile is n nodes, each of which reads what the one before wrote.
func chainFile(n int) string { return chainOf(n, "n%d") }

// wrongFile is n nodes whose targets do not exist.
func wrongFile(n int) string { return chainOf(n, "m%d") }

func chainOf(n int, target string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  n%[1]d: {template: \"hello {{.k%[1]d}}\", output: k%[1]d, then: "+target+"}\n", i, i+1)
	}
	return wf(b.String() + fmt.Sprintf("  n%d: {fail: x}\n", n))
}

// diamondFile is n nodes that part and meet.
func diamondFile(n int) string {
	var b strings.Builder
	for i := range n / 3 {
		fmt.Fprintf(&b, "  s%[1]d: {template: x, join: all, then: [a%[1]d, b%[1]d]}\n  a%[1]d: {template: x, then: s%[2]d}\n  b%[1]d: {template: x, then: s%[2]d}\n", i, i+1)
	}
	return wf(b.String() + fmt.Sprintf("  s%d: {template: x, join: all}\n", n/3))
}

// linesFile is n lines and more of no meaning.
func linesFile(n int) string { return strings.Repeat("a:\n  b: c\n  c: d\n  d: e\n", n) }

// wideFile is n nodes side by side, and one at which they all meet.
func wideFile(n int) string {
	var b, names strings.Builder
	for i := range n {
		fmt.Fprintf(&names, "a%d,", i)
		fmt.Fprintf(&b, "  a%d: {template: x, then: z}\n", i)
	}
	return wf("  s: {template: x, then: [" + names.String() + "]}\n" + b.String() + "  z: {template: x, join: all}\n")
}

func BenchmarkLoad(b *testing.B) {
	for name, text := range map[string]string{
		"chain": chainFile(10_000), "wrong": wrongFile(10_000), "diamonds": diamondFile(10_000), "wide": wideFile(10_000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := parse("t.yaml", text); err != nil && name != "wrong" {
					b.Fatal(err)
				}
			}
		})
	}
}
