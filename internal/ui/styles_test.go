package ui

import (
	"bytes"
	"fmt"
	"image/color"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// scene is a screen: the desk it is of, and the keys that lead to it.
type scene struct {
	desk func(testing.TB) *desktest.Desk
	keys []string
}

// scenes are the screens and each kind of content.
func scenes() map[string]scene {
	all := map[string]scene{}
	for name, keys := range screens() {
		all[name] = scene{stocked, keys}
	}
	for name, c := range contents() {
		all["content_"+name] = scene{func(t testing.TB) *desktest.Desk { return contentDesk(t, c.q) }, append([]string{"enter"}, c.keys...)}
	}
	return all
}

// show goes to a scene.
func (s scene) show(t *testing.T, w, h int, dark bool) *tuitest.Loop {
	t.Helper()
	l := start(t, s.desk(t), w, h)
	m := l.Model.(*Model)
	m.setTheme(m.themeFile, dark)
	for _, k := range s.keys {
		l.Keys(k)
		l.View()
		l.Advance(settle)
	}
	return l
}

// How every screen looks at three sizes: on dark terminals; on light ones, where only other tokens and other runs are
// named; and without colours. The words are the same.
func TestStyles(t *testing.T) {
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out strings.Builder
				for _, size := range tuitest.Sizes() {
					out.WriteString(stylesAt(t, s, size[0], size[1]))
				}
				tuitest.Golden(t, "styles/"+name, strings.TrimSuffix(out.String(), "\n"))
			})
		})
	}
}

func stylesAt(t *testing.T, s scene, w, h int) string {
	t.Helper()
	var views []string
	for _, dark := range []bool{true, false} {
		l := s.show(t, w, h, dark)
		views = append(views, l.View())
		tuitest.CheckBox(t, l.View(), w, h)
		if bad := tuitest.UnsafeIn(l.View()); bad != "" {
			t.Errorf("%dx%d: %s gets to the screen", w, h, bad)
		}
	}
	views = append(views, withoutColours(t, views[0]))
	var out strings.Builder
	var looks, runs string
	for i, form := range []string{"dark", "light", "no colour"} {
		if ansi.Strip(views[i]) != ansi.Strip(views[0]) {
			t.Errorf("%dx%d: %s and dark differ in more than colours", w, h, form)
		}
		l, r := tuitest.Styles(views[i], w, h, colourName(i == 0))
		fmt.Fprintf(&out, "== %dx%d %s\n", w, h, form)
		for line := range strings.Lines(l) {
			if !strings.Contains("\n"+looks, "\n"+line) { // what is not named again is as before
				out.WriteString(line)
			}
		}
		if r != runs {
			out.WriteString(r)
		}
		looks, runs = l, r
	}
	return out.String()
}

var colourful = regexp.MustCompile(`^(3[0-9]|4[0-9]|9[0-7]|10[0-7]|58)$`)

// withoutColours is a drawing as a terminal gets it under NO_COLOR. It fails the test where a colour is left.
func withoutColours(t *testing.T, view string) string {
	t.Helper()
	var b bytes.Buffer
	w := colorprofile.Writer{Forward: &b, Profile: colorprofile.ASCII}
	if _, err := w.WriteString(view); err != nil {
		t.Fatal(err)
	}
	for _, sgr := range regexp.MustCompile("\x1b\\[([0-9;:]*)m").FindAllStringSubmatch(b.String(), -1) {
		if slices.ContainsFunc(regexp.MustCompile("[;:]").Split(sgr[1], -1), colourful.MatchString) {
			t.Fatalf("a colour without colours: %q", sgr[0])
		}
	}
	return b.String()
}

// colourName names a colour of the default theme by its token. What two tokens have in common on dark and on light terminals goes
// by the first; what they have in common on one of them by both.
func colourName(dark bool) func(color.Color) string {
	file, err := theme.Load(theme.Default)
	if err != nil {
		panic(err)
	}
	names := map[string]string{}
	seen := map[theme.Pair]bool{}
	tokens := reflect.ValueOf(file.Tokens)
	for i := range tokens.NumField() {
		pair := tokens.Field(i).Interface().(theme.Pair)
		if seen[pair] {
			continue
		}
		seen[pair] = true
		name := strings.ToLower(tokens.Type().Field(i).Name)
		if before := names[pair.Of(dark)]; before != "" {
			name = before + "/" + name
		}
		names[pair.Of(dark)] = name
	}
	return func(c color.Color) string {
		r, g, b, _ := c.RGBA()
		hex := fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
		if name := names[hex]; name != "" {
			return name
		}
		return hex
	}
}
