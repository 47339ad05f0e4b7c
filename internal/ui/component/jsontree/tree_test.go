package jsontree_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/jsontree"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// words are lines that tell which they are, some too long for a row.
func words(t *rapid.T, name string, most int) []string {
	var out []string
	for i := range rapid.IntRange(0, most).Draw(t, name) {
		line := fmt.Sprintf("%s%d.", name, i)
		for k := range rapid.SampledFrom([]int{0, 0, 9, 40}).Draw(t, "more") {
			line += fmt.Sprintf(" %s%d.%d.", name, i, k)
		}
		out = append(out, line)
	}
	return out
}

func document(t *rapid.T) string {
	many := words(t, "text", 8)
	value := map[string]any{"letter": strings.Join(many, "\n"), "list": words(t, "item", 6), "deep": map[string]any{"er": words(t, "deep", 3)}, "n": 1.5}
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func opened(t *rapid.T, w, h int) (tree *jsontree.Tree, all []string) {
	raw := document(t)
	d, err := jsontree.Parse(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	above, below := words(t, "above", 30), words(t, "below", 30)
	tree = jsontree.New(theme.Must("", true))
	tree.SetSize(w, h)
	tree.Open(d, pager.Lines(above), pager.Lines(below))
	for _, part := range []string{strings.Join(above, " "), strings.NewReplacer(`\n`, " ", `"`, " ", ",", " ", "[", " ", "]", " ").Replace(raw), strings.Join(below, " ")} {
		for _, word := range strings.Fields(part) {
			if strings.HasSuffix(word, ".") {
				all = append(all, word)
			}
		}
	}
	return tree, all
}

// unseen is the words that are on none of the views.
func unseen(all []string, views string) []string {
	seen := map[string]bool{}
	for _, word := range strings.Fields(strings.NewReplacer(`"`, " ").Replace(views)) {
		seen[word] = true
	}
	var missing []string
	for _, word := range all {
		if !seen[word] {
			missing = append(missing, word)
		}
	}
	return missing
}

// TestEverythingIsSeenOnTheWay: going down row by row, or up, shows all that there is, however long what stands around the
// tree and the texts in it are.
func TestEverythingIsSeenOnTheWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(30, 100).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h")
		tree, all := opened(t, w, h)
		for _, d := range []int{1, -1} {
			var views strings.Builder
			last := ""
			for range 5000 {
				view := ansi.Strip(tree.View())
				views.WriteString(view + "\n")
				at := view + tree.Position()
				if at == last {
					break
				}
				last = at
				tree.Scroll(d)
			}
			if missing := unseen(all, views.String()); len(missing) > 0 {
				t.Fatalf("going %d at %dx%d nobody sees %q", d, w, h, missing)
			}
		}
	})
}

// TestEveryHitIsShown: each match is gone to in turn and on screen then, folded away or not, and whatever size the screen
// takes meanwhile.
func TestEveryHitIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(30, 100).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h")
		tree, all := opened(t, w, h)
		if rapid.Bool().Draw(t, "folded") {
			tree.FoldAll()
		}
		query := rapid.SampledFrom([]string{"above", "text", "item", "deep", "below", "er", "1", "."}).Draw(t, "query")
		n := tree.Search(query)
		lines := map[string]bool{}
		for _, word := range all {
			if line, _, _ := strings.Cut(word, "."); strings.Contains(word, query) {
				lines[line] = true
			}
		}
		if n < len(lines) {
			t.Fatalf("%q is in %d lines, and found in %d", query, len(lines), n)
		}
		for k := range n {
			if rapid.Bool().Draw(t, "resize") {
				state, path := tree.SearchState(), tree.Path()
				tree.SetSize(w+k%3, max(h-k%2, 1))
				tree.SetAround(pager.Lines([]string{"above anew"}), nil)
				if tree.Path() != path {
					t.Fatalf("the cursor goes from %s to %s", path, tree.Path())
				}
				if tree.SearchState() == "" {
					t.Fatalf("%s is forgotten", state)
				}
				return
			}
			if view := ansi.Strip(tree.View()); !strings.Contains(view, query) {
				t.Fatalf("%s is not on screen:\n%s", tree.SearchState(), view)
			}
			tree.Next(1)
		}
	})
}

// TestSizeChangesNothing: folds, cursor and search stay when what is around the tree is laid out for another size, and all
// that is drawn still fits.
func TestSizeChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, _ := opened(t, 60, 12)
		for range rapid.IntRange(0, 8).Draw(t, "moves") {
			tree.Scroll(rapid.IntRange(-3, 9).Draw(t, "d"))
			if rapid.Bool().Draw(t, "toggle") {
				tree.Toggle()
			}
		}
		if rapid.Bool().Draw(t, "search") {
			tree.Search("item")
		}
		rows := func() string {
			row, _, _ := strings.Cut(tree.Position(), " ")
			return fmt.Sprint(row, tree.Path(), tree.SearchState())
		}
		tree.SetSize(60, 12)
		path, state, seen := tree.Path(), tree.SearchState(), tree.Seen()
		for range 4 {
			w, h := rapid.IntRange(1, 120).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
			tree.SetSize(w, h)
			tree.SetAround(pager.Lines(words(t, "above", 20)), pager.Lines(words(t, "below", 20)))
			if tree.Path() != path || (tree.SearchState() == "") != (state == "") || seen && !tree.Seen() {
				t.Fatalf("was %s %s, is %s", path, state, rows())
			}
			for line := range strings.SplitSeq(tree.View(), "\n") {
				if cell.Width(line) != w {
					t.Fatalf("%q is not %d wide", line, w)
				}
			}
		}
	})
}

// TestMatchesAreMarkedInTheTree: what is looked for stands out in its row, the selected one too, and counts of items are
// not text.
func TestMatchesAreMarkedInTheTree(t *testing.T) {
	th := theme.Must("", true)
	tree := jsontree.New(th)
	tree.SetSize(60, 10)
	if err := tree.SetJSON(json.RawMessage(`{"keys":{"a":1,"b":2},"note":"two keys"}`)); err != nil {
		t.Fatal(err)
	}
	if n := tree.Search("keys"); n != 2 {
		t.Errorf("found %d times, want 2: %s", n, tree.SearchState())
	}
	match, current := theme.NewPen(th.Match).Render("keys"), theme.NewPen(th.CurrentMatch).Render("keys")
	if view := tree.View(); strings.Count(view, match) != 1 || strings.Count(view, current) != 1 {
		t.Errorf("not one marked as found and one as gone to:\n%q", view)
	}
}

// TestWhatIsFound: keys, places in lists and values, as they are drawn, each row and each line of a text once; a query in
// lower case finds capitals too.
func TestWhatIsFound(t *testing.T) {
	tree := jsontree.New(theme.Must("", true))
	tree.SetSize(60, 10)
	if err := tree.SetJSON(json.RawMessage(`{"Ärger":"GROSS, gross","list":["a: b","Zwei\nÄpfel"],"end":"İ x"}`)); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{
		"ärger": 1, "Ärger": 1, "ÄRGER": 0, "gross": 1, "Gross": 0, "äpfel": 1, "a: b": 1, "[1]": 1, "list": 1, "end: ": 1, " x": 1, "zwei": 1, "e": 4, "": 0, "none": 0,
	} {
		if n := tree.Search(query); n != want {
			t.Errorf("%q is found %d times, want %d: %s", query, n, want, tree.SearchState())
		}
	}
}
