package tuitest

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Key makes a key press of its name as Bubble Tea writes it: "a", "G", "ctrl+s", "enter", "alt+up", "space".
func Key(name string) tea.KeyPressMsg {
	parts := strings.Split(name, "+")
	base := parts[len(parts)-1]
	if name == "+" || strings.HasSuffix(name, "++") {
		base = "+"
	}
	var k tea.Key
	for _, p := range parts[:len(parts)-1] {
		switch p {
		case "ctrl":
			k.Mod |= tea.ModCtrl
		case "alt":
			k.Mod |= tea.ModAlt
		case "shift":
			k.Mod |= tea.ModShift
		}
	}
	if utf8.RuneCountInString(base) == 1 {
		r, _ := utf8.DecodeRuneInString(base)
		k.Code = unicode.ToLower(r)
		if k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
			k.Text = base
			if k.Code != r {
				k.Mod |= tea.ModShift
				k.ShiftedCode = r
			}
		}
		return tea.KeyPressMsg(k)
	}
	if base == "space" {
		k.Code, k.Text = ' ', " "
		return tea.KeyPressMsg(k)
	}
	k.Code = codes()[base]
	if k.Code == 0 {
		panic("tuitest: no key is called " + name)
	}
	return tea.KeyPressMsg(k)
}

func codes() map[string]rune {
	return map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
		"delete": tea.KeyDelete, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown}
}

// Text makes the key presses of a text, one for each character.
func Text(s string) []tea.KeyPressMsg {
	var keys []tea.KeyPressMsg
	for _, r := range s {
		switch r {
		case '\n':
			keys = append(keys, Key("enter"))
		case ' ':
			keys = append(keys, Key("space"))
		default:
			keys = append(keys, tea.KeyPressMsg{Code: unicode.ToLower(r), Text: string(r)})
		}
	}
	return keys
}
