// Package tuitest holds what tests of the screen need: golden files, boxes that must fit, a message loop without a
// terminal, whole programs on virtual time against a terminal emulator, and the real binary in tmux.
package tuitest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew")

// Update says whether golden files are to be written instead of compared.
func Update() bool { return *update }

// Golden compares a drawing with testdata/NAME.golden, or writes it with -update.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
	got += "\n"
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (make it with: go test -run %q -update)", err, t.Name())
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

// Layout is a drawing without its styles, each line ended with a bar so that trailing cells show.
func Layout(view string) string {
	lines := strings.Split(ansi.Strip(view), "\n")
	for i, l := range lines {
		lines[i] = l + "|"
	}
	return strings.Join(lines, "\n")
}

// Styled is a drawing with its styles, the escape character written as ␛.
func Styled(view string) string { return strings.ReplaceAll(view, "\x1b", "␛") }

// BoxError says how a drawing is not exactly h lines of w cells, "" when it is.
func BoxError(view string, w, h int) string {
	if w <= 0 || h <= 0 {
		if view != "" {
			return "a box without cells is not empty"
		}
		return ""
	}
	lines := strings.Split(view, "\n")
	var b strings.Builder
	if len(lines) != h {
		b.WriteString("lines: " + itoa(len(lines)) + ", want " + itoa(h) + "\n")
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			b.WriteString("line " + itoa(i) + ": " + itoa(n) + " cells, want " + itoa(w) + ": " + Styled(l) + "\n")
		}
	}
	return b.String()
}

// CheckBox fails the test unless a drawing is exactly h lines of exactly w cells.
func CheckBox(t interface {
	Helper()
	Fatalf(string, ...any)
}, view string, w, h int,
) {
	t.Helper()
	if e := BoxError(view, w, h); e != "" {
		t.Fatalf("not a box of %dx%d:\n%s", w, h, e)
	}
}

// Sizes are the three sizes at which every screen is drawn in golden files.
func Sizes() [][2]int { return [][2]int{{40, 12}, {80, 24}, {160, 50}} }
