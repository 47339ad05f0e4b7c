// Package keymap finds the command that a pressed key calls, in a stack of scopes, with the user's own keys.
//
// It knows names of keys and of commands and does nothing itself.
package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

// Overrides are a user's keys by scope and command name: {"review": {"approve": ["ctrl+a"]}}. An empty list takes the
// command's keys away; it stays in the palette.
type Overrides map[string]map[string][]string

// Problem is one mistake in Overrides. The part it names is left out, the rest is used.
type Problem struct {
	Scope, Command, Key string
	What                string
}

// Error names the place in the configuration and what to do.
func (p Problem) Error() string {
	place := "keys." + p.Scope
	if p.Command != "" {
		place += "." + p.Command
	}
	return place + ": " + p.What
}

// Map resolves keys. It is not changed after New and may be shared.
type Map struct {
	byKey map[command.Scope]map[string]command.ID
	keys  map[command.ID][]string
	table map[command.ID]command.Command
}

// Default is the map without a user's keys.
func Default() *Map {
	m, _ := New(nil)
	return m
}

// New applies overrides to the default keys. Every mistake is reported, in a stable order, and the map is usable
// whatever is in it.
func New(o Overrides) (*Map, []Problem) {
	m := &Map{
		byKey: map[command.Scope]map[string]command.ID{},
		keys:  map[command.ID][]string{},
		table: map[command.ID]command.Command{},
	}
	table := command.Table()
	for _, c := range table {
		m.keys[c.ID] = c.Keys
		m.table[c.ID] = c
	}
	custom, problems := readOverrides(o, m.table)
	maps.Copy(m.keys, custom)
	for _, own := range []bool{true, false} {
		for _, c := range table {
			if _, isCustom := custom[c.ID]; isCustom == own {
				problems = append(problems, m.bind(c.ID, own)...)
			}
		}
	}
	return m, problems
}

// bind gives a command its keys. A user's own keys come first and take the key from a default, but not from another
// of the user's.
func (m *Map) bind(id command.ID, own bool) []Problem {
	scope := id.Scope()
	if m.byKey[scope] == nil {
		m.byKey[scope] = map[string]command.ID{}
	}
	var problems []Problem
	var kept []string
	for _, key := range m.keys[id] {
		holder, taken := m.byKey[scope][key]
		if !taken {
			m.byKey[scope][key] = id
			kept = append(kept, key)
			continue
		}
		p := Problem{Scope: string(scope), Command: id.Name(), Key: key}
		if own {
			p.What = fmt.Sprintf("%s is also given to %s; that one has it", key, holder.Name())
		} else {
			p.Command = holder.Name()
			p.What = fmt.Sprintf("%s was the key of %s (%s), which has lost it; give %s another or ignore this",
				key, id.Name(), m.table[id].Title, id.Name())
		}
		problems = append(problems, p)
	}
	m.keys[id] = kept
	return problems
}

func readOverrides(o Overrides, known map[command.ID]command.Command) (map[command.ID][]string, []Problem) {
	custom := map[command.ID][]string{}
	var problems []Problem
	for _, scope := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(command.Scopes(), command.Scope(scope)) {
			problems = append(problems, Problem{Scope: scope, What: "no such scope" + hint(scope, scopeNames())})
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(o[scope])) {
			id := command.ID(scope + "." + name)
			if _, ok := known[id]; !ok {
				problems = append(problems, Problem{Scope: scope, Command: name,
					What: "no such command" + hint(name, namesIn(command.Scope(scope)))})
				continue
			}
			keys, bad := readKeys(scope, name, o[scope][name], known[id].Effect)
			problems = append(problems, bad...)
			if len(keys) > 0 || len(o[scope][name]) == 0 {
				custom[id] = keys
			}
		}
	}
	return custom, problems
}

func readKeys(scope, name string, raw []string, effect command.Effect) (keys []string, problems []Problem) {
	for _, r := range raw {
		key, err := Normalise(r)
		if err == nil && effect == command.Fires && slices.Contains([]string{"enter", "space", "esc", "tab"}, key) {
			err = fmt.Errorf("%s never decides: give it a letter", key)
		}
		if err != nil {
			problems = append(problems, Problem{Scope: scope, Command: name, Key: r, What: err.Error()})
			continue
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, problems
}

// Resolve finds the command of a key press in the scopes, innermost first. The text of the key counts before its
// position on the keyboard, so that a layout on which "a" lies where another has "q" never calls two commands.
func (m *Map) Resolve(msg tea.KeyPressMsg, scopes ...command.Scope) (command.ID, bool) {
	name := msg.String()
	for _, s := range scopes {
		if id, ok := m.byKey[s][name]; ok {
			return id, true
		}
	}
	if msg.Mod&^tea.ModShift == 0 {
		return "", false
	}
	name = msg.Keystroke()
	for _, s := range scopes {
		if id, ok := m.byKey[s][name]; ok {
			return id, true
		}
	}
	return "", false
}

// In resolves in the whole stack of the scope that has the focus.
func (m *Map) In(msg tea.KeyPressMsg, focus command.Scope) (command.ID, bool) {
	return m.Resolve(msg, command.Stack(focus)...)
}

// Command is the row of a command in the table, with its default keys.
func (m *Map) Command(id command.ID) command.Command { return m.table[id] }

// Keys are the keys of a command, the one to show first.
func (m *Map) Keys(id command.ID) []string { return m.keys[id] }

// Key is the key of a command as help and footer show it, "" without one.
func (m *Map) Key(id command.ID) string {
	if k := m.keys[id]; len(k) > 0 {
		return Show(k[0])
	}
	return ""
}

func scopeNames() []string {
	var names []string
	for _, s := range command.Scopes() {
		names = append(names, string(s))
	}
	return names
}

func namesIn(s command.Scope) []string {
	var names []string
	for _, c := range command.In(s) {
		names = append(names, c.ID.Name())
	}
	return names
}

// hint names the nearest of the known names, or all of them.
func hint(name string, among []string) string {
	if h := nearest.Hint(name, among); h != "" {
		return h
	}
	return "; there are " + strings.Join(among, ", ")
}
