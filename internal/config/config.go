// Package config reads the configuration file and finds the folders in which the program keeps its things.
//
// It reads nothing by itself: environment and file names are handed in. Which commands and scopes can have other keys,
// and which themes there are, is for the desk to check; here it is only known that they are texts.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/duration"
	"github.com/hitl-tui/hitl-tui/internal/llm"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/internal/redact"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// DefaultGrace is the time within which a decision can be taken back.
const DefaultGrace = 5 * time.Second

// Config is a configuration file. Empty fields were not set.
type Config struct {
	File      string // where it was read, "" for none
	Store     string // URL
	Reviewer  string // who answers
	Theme     string // name
	Screen    Screen
	Workflows []string // folders in which workflows are found by name, absolute
	Keys      Keys
	Grace     *time.Duration // nil: DefaultGrace; zero: decisions are sent at once
	Retention Retention
	Redact    redact.Rules         // what is masked where threads are shown, logged or exported
	Models    map[string]llm.Model // by the names that workflows use, "default" among them if it is given
	Rules     []Rule
	Hooks     []Hook
	Views     []View
}

// Screen is how the desk treats the terminal and the person at it. What is nil was not set.
type Screen struct {
	Mouse         *bool // the desk takes the mouse
	Bell          *bool // rings when a question comes while the window has not the focus
	Notify        *bool // asks the terminal for a notification then
	ReducedMotion *bool // nothing counts down or moves by itself
	ASCII         *bool // nothing else is drawn than ASCII
	Accessible    *bool // plain questions and answers, line by line
}

// Keys is the remapped keys: scope, then command id, then keys.
type Keys map[string]map[string][]string

// Retention is what may be pruned, as ages. Zero keeps.
type Retention struct {
	OlderThan      time.Duration // steps older than this, but never a thread's head
	FinishedBefore time.Duration // whole threads that ended longer ago than this
}

// Fault is one mistake in a configuration file.
type Fault struct {
	Line, Column int // from 1
	Message      string
	Excerpt      string // the line as written, made safe to show; "" where it may hold a secret

	secret bool
}

// Error is all mistakes of one configuration file.
type Error struct {
	File   string
	Faults []Fault // at least one, by line
}

// Error gives each mistake with its place, the line and a mark under the place.
func (e *Error) Error() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s:%d:%d: %s", e.File, f.Line, f.Column, f.Message)
		if f.Excerpt != "" {
			number := fmt.Sprint(f.Line)
			fmt.Fprintf(&b, "\n  %s | %s", number, f.Excerpt)
			if f.Column <= utf8.RuneCountInString(f.Excerpt)+1 {
				fmt.Fprintf(&b, "\n  %s | %s^", strings.Repeat(" ", len(number)), strings.Repeat(" ", max(0, f.Column-1)))
			}
		}
	}
	return b.String()
}

// Code is the error code of the command line.
func (e *Error) Code() string { return "usage" }

// Load reads the file at path. A file that is not there is an empty configuration, unless it was asked for by name
// (required). home is what ~ stands for. Mistakes in the file are an *Error that holds all of them.
func Load(path, home string, required bool) (*Config, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return &Config{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(path, string(text), home)
}

// Parse reads the text of a configuration file that stands at path.
func Parse(path, text, home string) (*Config, error) {
	d := decoder{home: home, dir: filepath.Dir(path), config: &Config{File: path}}
	d.lines = strings.Split(text, "\n")
	if root := d.read(text); root != nil {
		d.mapping(root, "the configuration", d.topLevel())
	}
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b Fault) int { return a.Line - b.Line })
		for i, f := range d.faults {
			if f.Line >= 1 && f.Line <= len(d.lines) && !f.secret {
				d.faults[i].Excerpt = excerpt(d.lines[f.Line-1])
			}
		}
		return nil, &Error{File: path, Faults: d.faults}
	}
	return d.config, nil
}

// excerpt is a line of the file, safe to show and not too long; nothing of one that holds what looks like a secret.
func excerpt(line string) string {
	const most = 160
	if (redact.Rules{}).Text(line) != line {
		return ""
	}
	line = sanitize.Line(strings.TrimSuffix(line, "\r"))
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + "..."
	}
	return line
}

// decoder fills a Config from the nodes of a file.
type decoder struct {
	reader
	home, dir string
	lines     []string // of the file
	config    *Config
}

// key is one key of a mapping and what reads its value.
type key struct {
	name string
	read func(v *node)
}

func (d *decoder) topLevel() []key {
	c := d.config
	return []key{
		{"store", func(v *node) { c.Store = d.storeURL(d.text(v, "store")) }},
		{"reviewer", func(v *node) { c.Reviewer = d.text(v, "reviewer") }},
		{"theme", func(v *node) { c.Theme = d.text(v, "theme") }},
		{"mouse", func(v *node) { c.Screen.Mouse = d.yesNo(v, "mouse") }},
		{"bell", func(v *node) { c.Screen.Bell = d.yesNo(v, "bell") }},
		{"notify", func(v *node) { c.Screen.Notify = d.yesNo(v, "notify") }},
		{"reduced_motion", func(v *node) { c.Screen.ReducedMotion = d.yesNo(v, "reduced_motion") }},
		{"ascii", func(v *node) { c.Screen.ASCII = d.yesNo(v, "ascii") }},
		{"accessible", func(v *node) { c.Screen.Accessible = d.yesNo(v, "accessible") }},
		{"workflows", func(v *node) {
			for _, folder := range d.texts(v, "workflows") {
				c.Workflows = append(c.Workflows, d.path(folder))
			}
		}},
		{"keys", d.keys},
		{"grace", func(v *node) { grace := d.duration(v, "grace"); c.Grace = &grace }},
		{"retention", func(v *node) {
			d.mapping(v, "retention", []key{
				{"older_than", func(v *node) { c.Retention.OlderThan = d.age(v, "older_than") }},
				{"finished_before", func(v *node) { c.Retention.FinishedBefore = d.age(v, "finished_before") }},
			})
		}},
		{"redact", d.redact},
		{"models", d.models},
		{"rules", d.rules},
		{"hooks", d.hooks},
		{"views", d.views},
	}
}

// mapping reads every member of v that is among keys and reports the others.
func (d *decoder) mapping(v *node, what string, keys []key) {
	if v.kind != isMapping {
		d.fault(v.line, v.column, "%s must be a mapping, not %s", what, v.kind)
		return
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	for _, m := range v.members {
		i := slices.Index(names, m.name)
		switch {
		case i < 0:
			d.fault(m.line, m.column, "unknown key %q%s (the keys are %s)", m.name, nearest.Hint(m.name, names), strings.Join(names, ", "))
		case m.value.kind == isEmpty:
			d.fault(m.value.line, m.value.column, "%s has no value; remove the key, or give it one", m.name)
		default:
			keys[i].read(m.value)
		}
	}
}

// keys reads {scope: {command: key or list of keys}}. An empty list takes the keys of a command away.
func (d *decoder) keys(v *node) {
	if v.kind != isMapping {
		d.fault(v.line, v.column, "keys must be a mapping of scopes, not %s", v.kind)
		return
	}
	d.config.Keys = Keys{}
	for _, scope := range v.members {
		if scope.value.kind != isMapping {
			d.fault(scope.line, scope.column, "keys.%s must be a mapping of commands, not %s", scope.name, scope.value.kind)
			continue
		}
		commands := map[string][]string{}
		for _, command := range scope.value.members {
			commands[command.name] = d.texts(command.value, "keys."+scope.name+"."+command.name)
		}
		d.config.Keys[scope.name] = commands
	}
}

func (d *decoder) text(v *node, what string) string {
	switch {
	case v.kind != isScalar:
		d.fault(v.line, v.column, "%s must be a text, not %s", what, v.kind)
	case strings.TrimSpace(v.text) == "":
		d.fault(v.line, v.column, "%s is empty; remove the key, or give it a value", what)
	}
	return v.text
}

// yesNo reads true or false.
func (d *decoder) yesNo(v *node, what string) *bool {
	text := d.text(v, what)
	yes := text == "true"
	if v.kind == isScalar && text != "" && !yes && text != "false" {
		d.fault(v.line, v.column, "%s must be true or false, not %q", what, text)
	}
	return &yes
}

// texts reads a list of texts; one text is a list of one.
func (d *decoder) texts(v *node, what string) []string {
	if v.kind != isList {
		return []string{d.text(v, what)}
	}
	out := make([]string, len(v.items))
	for i, item := range v.items {
		out[i] = d.text(item, what)
	}
	return out
}

func (d *decoder) duration(v *node, what string) time.Duration {
	out, err := duration.Parse(d.text(v, what))
	if err != nil && v.kind == isScalar {
		d.fault(v.line, v.column, "%s: %v", what, err)
	}
	return out
}

// age is a duration that is not zero: zero would throw everything away where keeping everything was meant.
func (d *decoder) age(v *node, what string) time.Duration {
	faults := len(d.faults)
	out := d.duration(v, what)
	if out == 0 && len(d.faults) == faults {
		d.fault(v.line, v.column, "%s must be longer than nothing; remove the key to keep everything", what)
	}
	return out
}

// path makes a folder absolute: ~ is the home, anything relative is beside the configuration file.
func (d *decoder) path(p string) string {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		return filepath.Join(d.home, strings.TrimPrefix(p, "~"))
	case p == "" || filepath.IsAbs(p):
		return p
	}
	return filepath.Join(d.dir, p)
}

// storeURL makes the path of a store of files absolute by the same rule.
func (d *decoder) storeURL(u string) string {
	for _, scheme := range []string{"sqlite:", "file:"} {
		if p, ok := strings.CutPrefix(u, scheme); ok && p != "" {
			return scheme + d.path(p)
		}
	}
	return u
}
