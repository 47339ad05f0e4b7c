package component

import "github.com/hitl-tui/hitl-tui/internal/ui/theme"

// Viewer is what every scrolling view of content offers: pager, markdown, code, diffview, table, jsontree.
type Viewer interface {
	SetTheme(th *theme.Theme)
	SetSize(w, h int)
	View() string
	Scroll(rows int)
	Page(d int)
	HalfPage(d int)
	Top()
	Bottom()
	Position() string
	Search(query string) int
	Next(d int)
	Match() (current, found int)
	Go(k int)
	SearchState() string
}
