package local_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// told writes a graph in lines: nodes with their state and runs, edges that were taken with how often and by whom.
func told(g *desk.Graph) []string {
	var lines []string
	for _, n := range g.Nodes {
		if n.State == "" {
			continue
		}
		line := fmt.Sprintf("%s %s %d", n.Name, n.State, n.Runs)
		if n.Items > 0 {
			line += fmt.Sprintf(" items %d waiting %d", n.Items, n.Waiting)
		}
		lines = append(lines, line)
	}
	for _, e := range g.Edges {
		if e.Taken > 0 {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s -> %s %s %d %s", e.From, e.To, e.Kind, e.Taken, strings.Join(e.Said, ", "))))
		}
	}
	return lines
}

func (b *bench) way(thread string, want ...string) {
	b.t.Helper()
	g, err := b.desk.Graph(b.t.Context(), thread)
	if err != nil {
		b.t.Fatal(err)
	}
	if diff := cmp.Diff(want, told(g)); diff != "" {
		b.t.Errorf("-want +got:\n%s", diff)
	}
}

func (b *bench) answer(thread, question, action, data string) {
	b.t.Helper()
	x := desk.Decision{Thread: thread, Question: question, Action: action}
	if data != "" {
		x.Data = json.RawMessage(data)
	}
	if _, err := b.desk.Answer(b.t.Context(), []desk.Decision{x}, false); err != nil {
		b.t.Fatal(err)
	}
}

// The way of a thread that waits, is tried again, forked and done.
func TestGraphOfALoop(t *testing.T) {
	b := newBench(t)
	thread := b.start("note.yaml", nil).Thread
	b.way(thread, "draft done 1", "review waiting 1", "draft -> review then 1")
	b.answer(thread, "", "retry", `"shorter"`)
	b.way(thread, "draft done 2", "review waiting 2", "draft -> review then 2", "review -> draft route 1 retry (ana)")

	fork, err := b.desk.Fork(t.Context(), thread, b.detail(thread).Step)
	if err != nil {
		t.Fatal(err)
	}
	b.way(fork, "review waiting 2")

	b.answer(thread, "", "approve", "")
	b.way(thread, "draft done 2", "review done 2", "publish done 1",
		"draft -> review then 2", "review -> draft route 1 retry (ana)", "review -> publish then 1 approve (ana)")
}

// A rejection that no route catches ends the thread where it stands.
func TestGraphOfARejection(t *testing.T) {
	b := newBench(t)
	thread := b.start("note.yaml", nil).Thread
	b.answer(thread, "", "reject", `"no"`)
	b.way(thread, "draft done 1", "review cancelled 1", "draft -> review then 1", "review ->  ended 1 reject (ana)")
}

const branches = `workflow: branches
input:
  properties: {amount: {type: integer, default: 5}}
nodes:
  read:
    template: x
    when: [{if: amount > 100, then: big}, {if: amount == 0, then: END}]
    then: [small, note]
  big: {template: b}
  small: {template: s, then: both}
  note: {human: approval, message: ok?, then: both}
  both:
    join: all
    shell: "test -e ok"
    failure: mend
  mend: {template: m}
`

// Which of several edges was taken is told by what came next; a failure that is caught is an edge too.
func TestGraphOfBranches(t *testing.T) {
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.dir, "branches.yaml"), []byte(branches), 0o600); err != nil {
		t.Fatal(err)
	}
	thread := b.start("branches.yaml", nil).Thread
	b.way(thread, "read done 1", "small done 1", "note waiting 1", "read -> small then 1", "read -> note then 1", "small -> both then 1")
	b.answer(thread, "", "approve", "")
	b.way(thread, "read done 1", "small done 1", "note done 1", "both done 1", "mend done 1", "read -> small then 1", "read -> note then 1",
		"small -> both then 1", "note -> both then 1 approve (ana)", "both -> mend failure 1")
	for amount, want := range map[string][]string{
		"200": {"read done 1", "big done 1", "read -> big when 1"},
		"0":   {"read done 1", "read ->  when 1"},
	} {
		thread := b.start("branches.yaml", map[string]json.RawMessage{"amount": json.RawMessage(amount)}).Thread
		b.way(thread, want...)
	}
}

const each = `workflow: each
nodes:
  list: {set: {items: "[1, 2, 3]"}, then: each}
  each:
    map: items
    do:
      check: {template: "{{.item}}", then: ask}
      ask: {human: approval, message: ok?}
    then: sum
  sum: {template: s}
`

// What runs for the items of a map counts as the map's; inside, the ways of all items are one.
func TestGraphOfAMap(t *testing.T) {
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.dir, "each.yaml"), []byte(each), 0o600); err != nil {
		t.Fatal(err)
	}
	thread := b.start("each.yaml", nil).Thread
	b.way(thread, "list done 1", "each waiting 1 items 3 waiting 3", "list -> each then 1")
	b.answer(thread, "each/1/ask", "approve", "")
	b.way(thread, "list done 1", "each waiting 1 items 3 waiting 2", "list -> each then 1")
	g, err := b.desk.Graph(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"check done 3", "ask waiting 3", "check -> ask then 3"}, told(g.Nodes[1].Inner)); diff != "" {
		t.Errorf("inside, -want +got:\n%s", diff)
	}
	b.answer(thread, "each/0/ask", "approve", "")
	b.answer(thread, "each/2/ask", "approve", "")
	b.way(thread, "list done 1", "each done 1 items 3 waiting 0", "sum done 1", "list -> each then 1", "each -> sum then 1")
}

// A route that is a number says of what: of a program its exit code, of a request its HTTP status. A word stays alone.
func TestGraphNamesNumbers(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(b.dir, "numbers.yaml")
	if err := os.WriteFile(file, []byte(`workflow: numbers
nodes:
  check: {shell: "exit 1", accept: [1], routes: {1: ask}, then: END}
  ask: {human: approval, message: ok?, actions: [approve, retry], routes: {retry: check}, then: fetch}
  fetch: {http: "http://localhost:1/", accept: [404], routes: {404: END}, then: END}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	thread := b.start("numbers.yaml", nil).Thread
	g, err := b.desk.Graph(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range g.Edges {
		got = append(got, e.From+": "+e.Text())
	}
	want := []string{"check: exit 1", "check: ", "ask: retry", "ask: ", "fetch: HTTP 404", "fetch: "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b.way(thread, "check done 1", "ask waiting 1", "check -> ask route 1")
}
