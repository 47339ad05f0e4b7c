package theme

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Default is the name of the theme that is used where none is chosen, and where the chosen one cannot be read.
const Default = "default"

// Pair is the value of a token on light and on dark terminals.
type Pair struct {
	Light Colour `yaml:"light"`
	Dark  Colour `yaml:"dark"`
}

// Of is the value for one kind of terminal.
func (p Pair) Of(dark bool) string {
	if dark {
		return string(p.Dark)
	}
	return string(p.Light)
}

// Colour is "#rrggbb", one of the terminal's own sixteen, "0" to "15", or "terminal": its own text or background.
type Colour string

var colours = regexp.MustCompile(`^(#[0-9a-fA-F]{6}|[0-9]|1[0-5]|terminal)$`)

// Known reports whether the program knows what the colour looks like, and not only the terminal.
func (c Colour) Known() bool { return strings.HasPrefix(string(c), "#") }

// UnmarshalYAML takes only colours, as texts, and names the line of anything else.
func (c *Colour) UnmarshalYAML(node ast.Node) error {
	tok := node.GetToken()
	s, ok := node.(*ast.StringNode)
	if !ok || !colours.MatchString(s.Value) {
		return fmt.Errorf("line %d: %q is not a colour: write it as \"#rrggbb\", \"0\" to \"15\" or \"terminal\", in quotes",
			tok.Position.Line, node.String())
	}
	*c = Colour(s.Value)
	return nil
}

// Tokens are the colours a theme names. Which of them stand on which is told by Pairs.
type Tokens struct {
	Background  Pair `yaml:"background"` // assumed, never painted
	Text        Pair `yaml:"text"`
	Muted       Pair `yaml:"muted"`
	Border      Pair `yaml:"border"`
	Surface     Pair `yaml:"surface"` // title bar, footer, dialogs
	Accent      Pair `yaml:"accent"`
	Selection   Pair `yaml:"selection"`
	OnSelection Pair `yaml:"on_selection"`
	Danger      Pair `yaml:"danger"`
	Warning     Pair `yaml:"warning"`
	Success     Pair `yaml:"success"`
	Match       Pair `yaml:"match"`
	OnMatch     Pair `yaml:"on_match"`
	Added       Pair `yaml:"added"`
	Removed     Pair `yaml:"removed"`
	Heading     Pair `yaml:"heading"`
	Link        Pair `yaml:"link"`
	Keyword     Pair `yaml:"keyword"`
	String      Pair `yaml:"string"`
	Number      Pair `yaml:"number"`
	Comment     Pair `yaml:"comment"`
	Name        Pair `yaml:"name"`
}

// File is one theme file.
type File struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Inherits    string `yaml:"inherits"` // a theme that has what this one does not say
	Tokens      Tokens `yaml:"tokens"`
}

// Parse reads a theme file; base finds what it inherits, and may be nil. An unknown token, a missing one and a value that is
// no colour are errors that name the line or the token.
func Parse(data []byte, base func(name string) (*File, error)) (*File, error) {
	var f File
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("theme: %s", strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	if f.Name == "" {
		return nil, fmt.Errorf("theme: no name: add `name: ...` at the top")
	}
	if f.Inherits != "" && base != nil {
		from, err := base(f.Inherits)
		if err != nil {
			return nil, fmt.Errorf("theme %s inherits: %w", f.Name, err)
		}
		inherited := from.Tokens.all()
		for name, p := range f.Tokens.all() {
			p.Light, p.Dark = cmp.Or(p.Light, inherited[name].Light), cmp.Or(p.Dark, inherited[name].Dark)
		}
	}
	var missing []string
	for name, p := range f.Tokens.all() {
		if p.Light == "" || p.Dark == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, fmt.Errorf("theme %s: no light and dark value for %s; give them, or a theme that has them: `inherits: %s`",
			f.Name, strings.Join(missing, ", "), Default)
	}
	return &f, nil
}

// Names lists the bundled themes, the default first.
func Names() []string { return Shelf{}.Names() }

// Load reads the bundled theme of that name; "" is the default.
func Load(name string) (*File, error) { return Shelf{}.Load(name) }

func (t *Tokens) all() map[string]*Pair {
	return map[string]*Pair{
		"background": &t.Background, "text": &t.Text, "muted": &t.Muted, "border": &t.Border, "surface": &t.Surface,
		"accent": &t.Accent, "selection": &t.Selection, "on_selection": &t.OnSelection, "danger": &t.Danger,
		"warning": &t.Warning, "success": &t.Success, "match": &t.Match, "on_match": &t.OnMatch, "added": &t.Added,
		"removed": &t.Removed, "heading": &t.Heading, "link": &t.Link, "keyword": &t.Keyword, "string": &t.String,
		"number": &t.Number, "comment": &t.Comment, "name": &t.Name,
	}
}

// Contrast is one pair of colours that meet on the screen: text and what is behind it.
type Contrast struct {
	Text, Behind           string // token names
	TextColour, BackColour string
}

// Pairs lists every pair of tokens that stand one on the other, on dark or light terminals.
func (t *Tokens) Pairs(dark bool) []Contrast {
	all := t.all()
	on := map[string][]string{
		"background": {"text", "muted", "accent", "danger", "warning", "success", "added", "removed", "heading",
			"link", "keyword", "string", "number", "comment", "name"},
		"surface":   {"text", "muted", "accent", "danger", "warning", "success"},
		"selection": {"on_selection"},
		"match":     {"on_match"},
	}
	var pairs []Contrast
	for _, behind := range []string{"background", "surface", "selection", "match"} {
		for _, text := range on[behind] {
			pairs = append(pairs, Contrast{text, behind, all[text].Of(dark), all[behind].Of(dark)})
		}
	}
	return pairs
}
