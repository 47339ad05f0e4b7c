// Package code shows program text and data with the colours of its language.
//
// Colours are made as far as the window has come and no further, so that opening a long file costs nothing. A text
// above Limit is shown plain. The colours never change the text: where a lexer loses or alters a character, the
// line is shown plain.
package code

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Limit is the size in bytes above which text is shown without colours.
const Limit = 256 << 10

// Source makes a pager's Source of raw outside text. language is a name or alias ("go", "yaml", "json", "sh") or a
// file name; where it is not known the text is plain.
func Source(th *theme.Theme, raw, language string) pager.Source {
	plain := pager.Text(raw)
	if len(raw) > Limit || language == "" {
		return plain
	}
	lexer := lexers.Get(language)
	if lexer == nil {
		return plain
	}
	it, err := chroma.Coalesce(lexer).Tokenise(nil, strings.Join(plain, "\n")+"\n")
	if err != nil {
		return plain
	}
	return &source{theme: th, plain: plain, next: it, pens: map[*lipgloss.Style]theme.Pen{}}
}

type source struct {
	theme  *theme.Theme
	plain  pager.Lines
	next   chroma.Iterator // nil at the end
	styled []string
	text   strings.Builder // of the line being read, plain and styled
	drawn  strings.Builder
	pens   map[*lipgloss.Style]theme.Pen
}

func (s *source) Len() int           { return len(s.plain) }
func (s *source) Plain(i int) string { return s.plain[i] }

func (s *source) Line(i int) string {
	for len(s.styled) <= i && s.next != nil {
		s.read()
	}
	if i < len(s.styled) {
		return s.styled[i]
	}
	return s.plain[i]
}

// read takes one token. A lexer reports its own failure by a panic; the rest is then plain.
func (s *source) read() {
	defer func() {
		if recover() != nil {
			s.next = nil
		}
	}()
	tok := s.next()
	if tok == chroma.EOF {
		s.next = nil
		s.endLine()
		return
	}
	style := styleOf(s.theme, tok.Type)
	for n, part := range strings.Split(tok.Value, "\n") {
		if n > 0 {
			s.endLine()
		}
		if part == "" {
			continue
		}
		s.text.WriteString(part)
		if style == nil {
			s.drawn.WriteString(part)
		} else {
			s.drawn.WriteString(s.pen(style).Render(part))
		}
	}
}

func (s *source) pen(style *lipgloss.Style) theme.Pen {
	p, ok := s.pens[style]
	if !ok {
		p = theme.NewPen(*style)
		s.pens[style] = p
	}
	return p
}

func (s *source) endLine() {
	if i := len(s.styled); i < len(s.plain) {
		if s.text.String() == s.plain[i] {
			s.styled = append(s.styled, s.drawn.String())
		} else {
			s.styled = append(s.styled, s.plain[i])
		}
	}
	s.text.Reset()
	s.drawn.Reset()
}

func styleOf(th *theme.Theme, t chroma.TokenType) *lipgloss.Style {
	switch {
	case t == chroma.GenericInserted:
		return &th.Added
	case t == chroma.GenericDeleted:
		return &th.Removed
	case t == chroma.GenericSubheading || t == chroma.GenericHeading:
		return &th.Hunk
	case t.InCategory(chroma.Comment):
		return &th.Comment
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return &th.Keyword
	case t == chroma.NameFunction, t == chroma.NameTag, t == chroma.NameAttribute, t == chroma.NameClass,
		t == chroma.NameBuiltin:
		return &th.Ident
	case t.InSubCategory(chroma.LiteralString):
		return &th.String
	case t.InSubCategory(chroma.LiteralNumber):
		return &th.Number
	}
	return nil
}

// View is a scrolling view of code.
type View struct {
	*pager.Pager
	theme         *theme.Theme
	raw, language string
}

// New makes an empty view.
func New(th *theme.Theme) *View { return &View{Pager: pager.New(th), theme: th} }

// SetContent shows raw outside text in a language ("" for plain).
func (v *View) SetContent(raw, language string) {
	v.raw, v.language = raw, language
	v.SetSource(Source(v.theme, raw, language))
}

// SetTheme changes the colours.
func (v *View) SetTheme(th *theme.Theme) {
	v.theme = th
	v.Pager.SetTheme(th)
	v.Replace(Source(th, v.raw, v.language))
}
