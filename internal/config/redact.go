package config

import (
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/redact"
)

// redact reads off, or {keys, except, patterns}: what is masked beyond the rules that need no configuration, and what
// is not.
func (d *decoder) redact(v *node) {
	if v.kind == isScalar {
		if v.text == "off" {
			d.config.Redact = redact.Off()
			return
		}
		d.fault(v.line, v.column, "redact must be a mapping {keys, except, patterns}, or off, not %q", v.text)
		return
	}
	var o redact.Options
	names := func(what string, to *[]string) key {
		return key{what, func(v *node) {
			d.each(v, "redact."+what, func(v *node, name string) error {
				*to = append(*to, name)
				return redact.CheckKey(name)
			})
		}}
	}
	d.mapping(v, "redact", []key{
		names("keys", &o.Keys),
		names("except", &o.Except),
		{"patterns", func(v *node) {
			d.each(v, "redact.patterns", func(v *node, text string) error {
				p, err := redact.Pattern(text)
				if err != nil {
					return fmt.Errorf("%w (a pattern is a regular expression as RE2 has them)", err)
				}
				o.Patterns = append(o.Patterns, p)
				return nil
			})
		}},
	})
	if len(d.faults) > 0 {
		return
	}
	rules, err := redact.New(o)
	if err != nil {
		d.fault(v.line, v.column, "redact: %v", err)
		return
	}
	d.config.Redact = rules
}

// each hands every text of a list, or the one text, to read and reports what it refuses at its own place.
func (d *decoder) each(v *node, what string, read func(v *node, text string) error) {
	items := v.items
	if v.kind != isList {
		items = []*node{v}
	}
	for _, item := range items {
		faults := len(d.faults)
		text := d.text(item, what)
		if len(d.faults) > faults {
			continue
		}
		if err := read(item, text); err != nil {
			d.fault(item.line, item.column, "%s: %v", what, err)
		}
	}
}
