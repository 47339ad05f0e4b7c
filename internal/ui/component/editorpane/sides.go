package editorpane

import (
	"encoding/json"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/code"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/diffview"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/markdown"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// sides is what stands beside the text: the original, what has changed so far, the question.
type sides struct {
	theme *theme.Theme
	cfg   Config
	names []string
	at    int
	shown bool // on a narrow screen: instead of the text
	pager *pager.Pager
	w     int

	original string
	diff     diffview.Diff
	compared string // the text diff was made of
	stale    bool
}

func newSides(th *theme.Theme, cfg Config) sides {
	s := sides{theme: th, cfg: cfg, pager: pager.New(th), stale: true, original: contentText(cfg.Question.Content)}
	s.names = []string{"question"}
	switch cfg.Choice.Data {
	case actions.Content, actions.OptionalContent:
		s.original = contentText(cfg.Question.Whole().Content) // what the text is compared with is what was edited
		s.names = []string{"diff", "question", "original"}
	}
	return s
}

// contentText is content as a person edits it.
func contentText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil && strings.HasPrefix(string(content), `"`) {
		return text
	}
	return indent(content)
}

// blank tells whether there is nothing to look at: what is asked is the form itself.
func (s *sides) blank() bool {
	q := s.cfg.Question
	return len(s.names) == 1 && s.cfg.Body == nil && q.Message == "" && len(q.Content) == 0 && len(q.Options) == 0 && len(q.Context) == 0
}

func (s *sides) name() string { return s.names[s.at] }

func (s *sides) setTheme(th *theme.Theme) { s.theme = th; s.pager.SetTheme(th); s.stale = true }

// cycle shows the next side. On a narrow screen the text itself is one of the round.
func (s *sides) cycle(narrow bool) {
	s.stale = true
	if narrow && !s.shown {
		s.shown, s.at = true, 0
		return
	}
	s.at = (s.at + 1) % len(s.names)
	if narrow && s.at == 0 {
		s.shown = false
	}
}

func (s *sides) scroll(d int) { s.pager.Scroll(d) }

// draw fills a box with the side as it is now; text is what has been typed so far.
func (s *sides) draw(text string, w, h int) string {
	if w != s.w {
		s.w, s.stale = w, true
	}
	s.pager.SetSize(w, h)
	switch {
	case s.name() == "diff" && (s.stale || text != s.compared):
		s.diff = diffview.Compare(s.original, text, 3)
		s.compared = text
		if s.stale {
			s.pager.SetSource(diffview.Source(s.theme, s.diff))
		} else {
			s.pager.Replace(diffview.Source(s.theme, s.diff))
		}
	case s.stale && s.name() == "original":
		s.pager.SetSource(pager.Text(s.original))
	case s.stale:
		s.pager.SetSource(s.question(w))
	}
	s.stale = false
	return s.pager.View()
}

// about is one line on the side: how much changed, or what is on screen.
func (s *sides) about() string {
	if s.name() == "diff" {
		return s.diff.Summary()
	}
	return s.pager.Position()
}

func (s *sides) question(w int) pager.Source {
	if s.cfg.Body != nil {
		return s.cfg.Body(s.theme, w)
	}
	q := s.cfg.Question
	var parts []pager.Source
	if q.Message != "" {
		parts = append(parts, markdown.Parse(q.Message).Lines(s.theme, w), pager.Lines{""})
	}
	switch {
	case len(q.Content) == 0:
	case q.ContentType == "markdown":
		parts = append(parts, markdown.Parse(s.original).Lines(s.theme, w))
	case q.ContentType == "diff":
		parts = append(parts, diffview.Source(s.theme, diffview.ParseUnified(s.original)))
	case strings.HasPrefix(string(q.Content), `"`):
		parts = append(parts, pager.Text(s.original))
	default:
		parts = append(parts, code.Source(s.theme, s.original, "json"))
	}
	return pager.Join(parts...)
}
