package theme

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

func TestEveryTextIsReadable(t *testing.T) {
	for _, name := range Names() {
		f, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, dark := range []bool{false, true} {
			for _, p := range f.Tokens.Pairs(dark) {
				if !Colour(p.TextColour).Known() || !Colour(p.BackColour).Known() {
					if name != "terminal" {
						t.Errorf("%s: %s on %s is up to the terminal", name, p.Text, p.Behind)
					}
					continue
				}
				if c := contrast(p.TextColour, p.BackColour); c < 4.5 {
					t.Errorf("%s dark=%v: %s %s on %s %s has contrast %.2f, below 4.5",
						name, dark, p.Text, p.TextColour, p.Behind, p.BackColour, c)
				}
			}
		}
	}
}

// TestContrastFormula pins the measure to the two known values of WCAG 2: black on white and a pair just at 4.5.
func TestContrastFormula(t *testing.T) {
	if c := contrast("#000000", "#ffffff"); math.Abs(c-21) > 0.01 {
		t.Errorf("black on white: %.2f, want 21", c)
	}
	if c := contrast("#767676", "#ffffff"); math.Abs(c-4.54) > 0.01 {
		t.Errorf("#767676 on white: %.2f, want 4.54", c)
	}
}

func TestNames(t *testing.T) {
	names := Names()
	if len(names) < 5 || names[0] != Default {
		t.Fatalf("Names() = %v", names)
	}
	for _, n := range names {
		f, err := Load(n)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != n {
			t.Errorf("%s.yaml calls itself %q", n, f.Name)
		}
	}
}

func TestMistakesNameTheirPlace(t *testing.T) {
	f, err := Load(Default)
	if err != nil || f == nil {
		t.Fatal(err)
	}
	whole := minimal()
	for _, tc := range []struct{ name, from, to, want string }{
		{"unknown token", `  text: {`, `  txet: {`, "txet"},
		{"unknown token's line", `  text: {`, `  txet: {`, "[5:"},
		{"no colour", `"#000001"`, `red`, "#rrggbb"},
		{"missing value", `  name: {light: "#000000", dark: "#ffffff"}`, ``, "name"},
		{"no name", `name: x`, ``, "name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !strings.Contains(whole, tc.from) {
				t.Fatalf("test file has no %q", tc.from)
			}
			_, err := Parse([]byte(strings.Replace(whole, tc.from, tc.to, 1)), nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v does not say %q", err, tc.want)
			}
		})
	}
	if _, err := Parse([]byte(whole), nil); err != nil {
		t.Errorf("the whole file: %v", err)
	}
}

func minimal() string {
	var b strings.Builder
	b.WriteString("name: x\ndescription: y\ntokens:\n  background: {light: \"#000001\", dark: \"#ffffff\"}\n")
	b.WriteString("  text: {light: \"#000000\", dark: \"#ffffff\"}\n")
	for name := range new(Tokens).all() {
		if name != "background" && name != "text" {
			fmt.Fprintf(&b, "  %s: {light: \"#000000\", dark: \"#ffffff\"}\n", name)
		}
	}
	return b.String()
}

func TestPenDrawsAsItsStyle(t *testing.T) {
	th := Must("", true)
	for _, s := range []lipgloss.Style{th.Text, th.Key, th.Selected, th.Heading, th.Danger, lipgloss.NewStyle()} {
		for _, text := range []string{"a", "a b", "世界"} {
			if got, want := NewPen(s).Render(text), s.Render(text); got != want {
				t.Errorf("pen gives %q, style %q", got, want)
			}
		}
	}
}

// contrast is the contrast ratio of WCAG 2.1.
func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(hex string) float64 {
	v, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		return math.NaN()
	}
	channel := func(shift uint) float64 {
		c := float64(v>>shift&0xff) / 255
		if c <= 0.03928 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}
