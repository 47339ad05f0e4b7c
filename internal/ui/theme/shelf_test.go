package theme

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestShelf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mine":          "name: mine\ninherits: gruvbox\ntokens:\n  accent: {dark: \"#ff00ff\"}\n",
		"heir":          "name: heir\ninherits: mine\n",
		"high-contrast": "name: high-contrast\ninherits: high-contrast\ntokens:\n  text: {light: \"#111111\"}\n",
		"a":             "name: a\ninherits: b\n",
		"b":             "name: b\ninherits: a\n",
		"orphan":        "name: orphan\ninherits: gruvbx\n",
		"bare":          "name: bare\ntokens:\n  text: {light: \"#111111\", dark: \"#eeeeee\"}\n",
		"other":         "name: another\ninherits: default\n",
		"typo":          "name: typo\ninherits: default\ntokens:\n  accent: {dark: pink}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := Shelf{Dir: dir}
	if names := s.Names(); names[0] != Default || !slices.Contains(names, "mine") || !slices.Contains(names, "terminal") ||
		len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names %v", names)
	}
	base, err := Load("gruvbox")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine", "heir"} {
		f, err := s.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Tokens.Accent.Dark != "#ff00ff" || f.Tokens.Accent.Light != base.Tokens.Accent.Light || f.Tokens.Text != base.Tokens.Text {
			t.Errorf("%s: %+v", name, f.Tokens)
		}
	}
	// A user's own goes before the bundled one of its name, and may inherit it.
	if f, err := s.Load("high-contrast"); err != nil || f.Tokens.Text.Light != "#111111" {
		t.Errorf("%+v, %v", f, err)
	}
	for name, want := range map[string]string{
		"a": "inherits itself", "orphan": "gruvbox", "bare": "inherits: default", "typo": "line 4", "nowhere": "there are", "other": `calls itself "another"`, "../mine": "does not exist",
		"gruvbx": `did you mean "gruvbox"`,
	} {
		if _, err := s.Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if names := (Shelf{Dir: filepath.Join(dir, "nowhere")}).Names(); !slices.Equal(names, Names()) {
		t.Errorf("without a folder: %v", names)
	}
}
