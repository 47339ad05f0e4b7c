package command

import (
	"fmt"
	"strings"
)

// Markdown is docs/keys.md: the whole table. keys gives the keys of a command as they are shown; nil shows the
// defaults as they are written in the configuration.
func Markdown(keys func(ID) []string) string {
	var b strings.Builder
	b.WriteString("# Keys of the desk\n\n")
	b.WriteString("<!-- made by `hitl-tui keys --markdown` from the table of commands; do not edit -->\n\n")
	b.WriteString("FIRES: decides with this one key. asks: asks `y` first. pane: opens a pane to write in.\n" +
		"list: opens a list to pick from. Everything else only moves or shows.\n" +
		"Remap a key in the configuration by scope and command: `keys: {review: {approve: [ctrl+a]}}`.\n")
	for _, s := range Scopes() {
		rows := In(s)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\nScope `%s`.\n\n| key | command | does | |\n|---|---|---|---|\n", s.Title(), s)
		for _, c := range rows {
			shown := c.Keys
			if keys != nil {
				shown = keys(c.ID)
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", codes(shown), c.ID.Name(), escape(c.Help), c.Effect)
		}
	}
	return b.String()
}

func codes(keys []string) string {
	if len(keys) == 0 {
		return "palette only"
	}
	quoted := make([]string, len(keys))
	for i, k := range keys {
		quoted[i] = "`" + escape(k) + "`"
	}
	return strings.Join(quoted, " ")
}

func escape(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// Text is what `hitl-tui keys` prints: one line a command, in columns.
func Text(keys func(ID) []string) string {
	var b strings.Builder
	for i, s := range Scopes() {
		rows := In(s)
		if len(rows) == 0 {
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s [%s]\n", s.Title(), s)
		for _, c := range rows {
			shown := c.Keys
			if keys != nil {
				shown = keys(c.ID)
			}
			name := strings.Join(shown, " ")
			if name == "" {
				name = "(palette)"
			}
			help := c.Help
			if c.Effect != Plain {
				help += "  (" + string(c.Effect) + ")"
			}
			fmt.Fprintf(&b, "  %-20s %-18s %s\n", name, c.ID.Name(), help)
		}
	}
	return b.String()
}
