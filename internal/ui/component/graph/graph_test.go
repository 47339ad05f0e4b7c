package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// read makes a graph of lines such as `draft* 2 done -> review` : a node, then what each of its edges says.
//
//	node STATE [RUNS]
//	  -> TARGET [KIND] [!] [label ...]     ! it was taken
func read(t *testing.T, text string) *desk.Graph {
	t.Helper()
	g := &desk.Graph{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "->":
			e := desk.GraphEdge{From: g.Nodes[len(g.Nodes)-1].Name, To: strings.TrimSuffix(words[1], "END"), Kind: desk.EdgeThen}
			for _, w := range words[2:] {
				switch kind := desk.EdgeKind(w); {
				case w == "!":
					e.Taken++
				case slices.Contains([]desk.EdgeKind{desk.EdgeRoute, desk.EdgeWhen, desk.EdgeFailure, desk.EdgeAgain, desk.EdgeEnded}, kind):
					e.Kind = kind
				default:
					e.Label = strings.TrimSpace(e.Label + " " + w)
				}
			}
			if strings.Contains(e.Label, "(") {
				e.Said = []string{e.Label}
			}
			g.Edges = append(g.Edges, e)
		default:
			n := desk.GraphNode{Name: words[0], Start: len(g.Nodes) == 0}
			for _, w := range words[1:] {
				if _, err := fmt.Sscanf(w, "x%d", &n.Runs); err == nil {
					continue
				}
				if _, err := fmt.Sscanf(w, "items=%d", &n.Items); err == nil {
					continue
				}
				if _, err := fmt.Sscanf(w, "waiting=%d", &n.Waiting); err == nil {
					continue
				}
				n.State = desk.NodeState(w)
			}
			g.Nodes = append(g.Nodes, n)
		}
	}
	return g
}

// shapes are graphs of each shape that workflows have.
func shapes() map[string]string {
	return map[string]string{
		"line":   "a done\n-> b !\nb waiting\n-> c\nc",
		"loop":   "collect done\n-> draft !\ndraft done x2\n-> review !\nreview waiting x2\n-> draft route ! retry (ana)\n-> publish\npublish",
		"branch": "read done\n-> nothing when len(commits) == 0\n-> draft !\nnothing\ndraft done\n-> END route ! reject (bo)\n-> publish route approve\npublish",
		"diamond": "classify done\n-> small when ! amount < 100\n-> big\nsmall done\n-> pay !\nbig\n-> pay\npay waiting\n-> tell\n" +
			"-> classify route retry\ntell\n-> tell again ! retry (ana)",
		"fan":    "start done\n-> a !\n-> b !\n-> c !\n-> end failure\na done\n-> join !\nb done\n-> join !\nc failed\n-> join\njoin\n-> end\nend",
		"detour": "start done\n-> extra when long\n-> end !\nextra\n-> end\nend waiting",
		"map":    "read done\n-> each !\neach waiting items=8 waiting=5\n-> sum\nsum\n-> each route retry\n-> END",
		"loops":  "a done\n-> b !\nb done\n-> c !\nc done\n-> d !\n-> a route again\nd next\n-> b route back\n-> c failure\n-> END",
		"pieces": "a done\n-> b !\nb done\n-> gone route lost\nlonely\n-> other\nother\n-> b",
		"wide":   "s done\n" + strings.Repeat("-> n%d !\n", 9) + strings.Repeat("n%d done\n-> join !\n", 9) + "join waiting",
		"names":  "読む done\n-> 要約を書く担当者の名前が長い場合 !\n要約を書く担当者の名前が長い場合 waiting\n-> 読む route やり直し",
	}
}

func numbered(text string) string {
	n := strings.Count(text, "%d")
	numbers := make([]any, n)
	for i := range numbers {
		numbers[i] = i % (n/2 + n%2)
	}
	return fmt.Sprintf(text, numbers...)
}

// Every shape at three widths.
func TestShapes(t *testing.T) {
	for name, text := range shapes() {
		if strings.Contains(text, "%d") {
			text = numbered(text)
		}
		g := read(t, text)
		var all []string
		for _, w := range []int{20, 32, 60} {
			all = append(all, fmt.Sprintf("%s in %d cells", name, w))
			all = append(all, New(g, w, 0).Lines(Plain)...)
			all = append(all, "")
		}
		t.Run(name, func(t *testing.T) { tuitest.Golden(t, name, strings.Join(all, "\n")) })
	}
}

// any is any graph: loops, nodes that are not there, names of any kind, several edges between the same nodes.
func anyGraph() *rapid.Generator[*desk.Graph] {
	return rapid.Custom(func(t *rapid.T) *desk.Graph {
		g := &desk.Graph{}
		odd := rapid.Bool().Draw(t, "odd names")
		for i := range rapid.IntRange(0, 14).Draw(t, "nodes") {
			name := fmt.Sprintf("n%d", i)
			if odd {
				name = rapid.String().Draw(t, "name")
			}
			g.Nodes = append(g.Nodes, desk.GraphNode{
				Name: name, Start: rapid.Bool().Draw(t, "start"), Runs: rapid.IntRange(0, 12).Draw(t, "runs"),
				State: rapid.SampledFrom([]desk.NodeState{"", desk.NodeDone, desk.NodeWaiting, desk.NodeNext, desk.NodeFailed, desk.NodeCancelled}).Draw(t, "state"),
				Items: rapid.IntRange(0, 2).Draw(t, "items"), Waiting: rapid.IntRange(0, 2000).Draw(t, "waiting"),
			})
		}
		names := []string{"", "gone"}
		for _, n := range g.Nodes {
			names = append(names, n.Name)
		}
		for range rapid.IntRange(0, 40).Draw(t, "edges") {
			g.Edges = append(g.Edges, desk.GraphEdge{
				From: rapid.SampledFrom(names).Draw(t, "from"), To: rapid.SampledFrom(names).Draw(t, "to"),
				Kind:  rapid.SampledFrom([]desk.EdgeKind{desk.EdgeThen, desk.EdgeWhen, desk.EdgeRoute, desk.EdgeFailure}).Draw(t, "kind"),
				Label: rapid.SampledFrom([]string{"", "approve", "amount > 100 and not urgent", "\x1b[31m", "承認"}).Draw(t, "label"),
				Taken: rapid.IntRange(0, 2).Draw(t, "taken"),
			})
		}
		return g
	})
}

// No line is too wide, every node is drawn once, and the same graph is always drawn alike.
func TestAnyGraphFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, w, h := anyGraph().Draw(t, "graph"), rapid.IntRange(20, 120).Draw(t, "w"), rapid.IntRange(0, 40).Draw(t, "h")
		d := New(g, w, h)
		lines := d.Lines(Plain)
		if again := New(g, w, h).Lines(Plain); !slices.Equal(lines, again) {
			t.Fatalf("drawn in two ways:\n%s\n%s", strings.Join(lines, "\n"), strings.Join(again, "\n"))
		}
		for _, l := range append(slices.Clone(lines), d.View(rapid.IntRange(-3, 60).Draw(t, "top"), h, "n1", Plain)...) {
			if cell.Width(l) > w || strings.ContainsAny(l, "\x1b\n\r") {
				t.Fatalf("%q is not one line of %d cells", l, w)
			}
		}
		drawn := map[string]int{}
		for i := range lines {
			if name := d.Node(i); name != "" {
				drawn[name]++
				if short := cell.Clip(sanitize.Line(name), 4); !strings.Contains(lines[i], strings.TrimSuffix(short, "…")) {
					t.Fatalf("line %q does not name %q", lines[i], name)
				}
			}
		}
		for _, n := range g.Nodes {
			if n.Name != "" && drawn[n.Name] != 1 {
				t.Fatalf("%q is drawn %d times in\n%s", n.Name, drawn[n.Name], strings.Join(lines, "\n"))
			}
		}
	})
}

// Each edge can be followed: from every node a line or a name leads on to each node behind it.
func TestLinesMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, w := anyGraph().Draw(t, "graph"), rapid.IntRange(20, 120).Draw(t, "w")
		d := New(g, w, 0)
		for i := 1; i < len(d.rows); i++ {
			above, below := d.rows[i-1], d.rows[i]
			for x := range max(len(above.boxes), len(below.boxes)) {
				a, b := boxOf(above, x), boxOf(below, x)
				if sign := below.node >= 0 && x == below.col*2 || above.node >= 0 && x == above.col*2; !sign && a[down] != b[up] {
					t.Fatalf("line %d and %d do not meet in column %d:\n%s", i-1, i, x, strings.Join(d.Lines(Plain), "\n"))
				}
			}
		}
	})
}

func boxOf(r row, x int) box {
	if x < len(r.boxes) {
		return r.boxes[x]
	}
	return box{}
}

// A graph of ten thousand nodes is laid out at once, and shows what is around the node that waits.
func TestManyNodes(t *testing.T) {
	const n = 10_000
	g := &desk.Graph{}
	for i := range n {
		x := desk.GraphNode{Name: fmt.Sprintf("n%05d", i), Start: i == 0}
		if i == 5000 {
			x.State = desk.NodeWaiting
		}
		g.Nodes = append(g.Nodes, x)
		for _, to := range []int{i + 1, i / 2, (i * 7919) % n} {
			g.Edges = append(g.Edges, desk.GraphEdge{From: x.Name, To: fmt.Sprintf("n%05d", min(to, n-1)), Kind: desk.EdgeRoute, Label: fmt.Sprint(to)})
		}
	}
	laidOut := make(chan *Drawing)
	go func() { laidOut <- New(g, 40, 20) }()
	var d *Drawing
	select {
	case d = <-laidOut:
	case <-time.After(time.Minute):
		t.Fatal("it takes more than a minute")
	}
	lines := d.View(d.Around(d.Focus(), 20), 20, "", Plain)
	text := strings.Join(lines, "\n")
	if len(lines) != 20 || !strings.Contains(text, "n05000") || !strings.Contains(text, "waits here") {
		t.Errorf("the node that waits is not among\n%s", text)
	}
	if !strings.HasSuffix(lines[0], "more nodes above") || !strings.HasSuffix(lines[19], "more nodes below") {
		t.Errorf("nothing says that there is more:\n%s", text)
	}
}
