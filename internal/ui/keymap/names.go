package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// named are the keys with a name of their own, as Bubble Tea spells them.
var named = []string{"enter", "esc", "tab", "space", "backspace", "delete", "insert", "up", "down", "left", "right",
	"home", "end", "pgup", "pgdown", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"}

// modifiers in the order in which Bubble Tea writes them.
var modifiers = []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

// Normalise reads a key as a user writes it and gives it as Bubble Tea names it: "Shift+g" is "G", "Escape" is "esc",
// "alt+ctrl+x" is "ctrl+alt+x".
func Normalise(s string) (string, error) {
	if s == " " {
		return "space", nil
	}
	if utf8.RuneCountInString(s) == 1 {
		if r, _ := utf8.DecodeRuneInString(s); unicode.IsControl(r) || unicode.IsSpace(r) {
			return "", fmt.Errorf("%q is not a key", s)
		}
		return s, nil
	}
	parts := strings.Split(s, "+")
	if strings.HasSuffix(s, "++") {
		parts = append(strings.Split(strings.TrimSuffix(s, "++"), "+"), "+")
	}
	base := parts[len(parts)-1]
	var mods []string
	for _, p := range parts[:len(parts)-1] {
		p = strings.ToLower(p)
		if !slices.Contains(modifiers, p) {
			return "", fmt.Errorf("%q is not a key: %q is none of %s", s, p, strings.Join(modifiers, ", "))
		}
		mods = append(mods, p)
	}
	base, err := normaliseBase(s, base)
	if err != nil {
		return "", err
	}
	if len(mods) == 1 && mods[0] == "shift" && utf8.RuneCountInString(base) == 1 {
		return strings.ToUpper(base), nil
	}
	slices.SortFunc(mods, func(a, b string) int { return slices.Index(modifiers, a) - slices.Index(modifiers, b) })
	return strings.Join(append(slices.Compact(mods), base), "+"), nil
}

func normaliseBase(whole, base string) (string, error) {
	if utf8.RuneCountInString(base) == 1 {
		return strings.ToLower(base), nil
	}
	lower := strings.ToLower(base)
	switch lower {
	case "escape":
		lower = "esc"
	case "return":
		lower = "enter"
	case "pageup":
		lower = "pgup"
	case "pagedown":
		lower = "pgdown"
	case "del":
		lower = "delete"
	}
	if !slices.Contains(named, lower) {
		return "", fmt.Errorf("%q is not a key%s", whole, nearest.Hint(lower, named))
	}
	return lower, nil
}

// Show writes a key as help and footer show it: "^S", "Enter", "Alt-Up", "a".
func Show(key string) string {
	if utf8.RuneCountInString(key) == 1 {
		return key
	}
	parts := strings.Split(key, "+")
	base := parts[len(parts)-1]
	if len(parts) == 2 && parts[0] == "ctrl" && len(base) == 1 {
		return "^" + strings.ToUpper(base)
	}
	for i, p := range parts {
		switch p {
		case "pgup":
			parts[i] = "PgUp"
		case "pgdown":
			parts[i] = "PgDn"
		default:
			if len(p) > 1 {
				parts[i] = strings.ToUpper(p[:1]) + p[1:]
			}
		}
	}
	return strings.Join(parts, "-")
}
