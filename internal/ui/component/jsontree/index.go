package jsontree

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
)

// index is all that can be found in a document: its rows as they are drawn, and the lines of its texts, as one text of
// which each line is a hit. To search it takes a pass over the text and none over the nodes, which lie far apart.
type index struct {
	hits   []hit
	plain  lined
	folded lined // in lower case
}

// lined is a text and where its lines begin; the last start is where another line would.
type lined struct {
	text   string
	starts []int32
}

// indexOf makes the index of a document.
func indexOf(root *node) *index {
	x := &index{}
	var plain, folded builder
	add := func(n *node, line int, text string) {
		x.hits = append(x.hits, hit{n, line, false})
		plain.add(text)
		folded.add(strings.ToLower(text))
	}
	var walk func(n *node)
	walk = func(n *node) {
		if n.hasLines() {
			add(n, -1, n.label())
			i := 0
			for line := range strings.SplitSeq(strings.TrimSuffix(sanitize.Text(n.full), "\n"), "\n") {
				add(n, i, line)
				i++
			}
		} else {
			add(n, -1, n.label()+n.text)
		}
		for _, c := range n.children {
			walk(c)
		}
	}
	walk(root)
	x.plain, x.folded = plain.done(), folded.done()
	return x
}

// builder collects lines.
type builder struct {
	text   strings.Builder
	starts []int32
}

func (b *builder) add(line string) {
	b.starts = append(b.starts, int32(b.text.Len()))
	b.text.WriteString(line)
	b.text.WriteByte('\n')
}

func (b *builder) done() lined {
	return lined{b.text.String(), append(b.starts, int32(b.text.Len()))}
}

// find adds the hits of a query, which has no line break, to list.
func (x *index) find(query string, list []hit) []hit {
	in := x.plain
	if pager.FoldsCase(query) {
		in = x.folded
	}
	for at, line := 0, 0; ; at = int(in.starts[line]) {
		i := strings.Index(in.text[at:], query)
		if i < 0 {
			return list
		}
		for int(in.starts[line+1]) <= at+i {
			line++
		}
		list = append(list, x.hits[line])
		line++
	}
}
