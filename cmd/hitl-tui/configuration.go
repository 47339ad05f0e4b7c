package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/config"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/duration"
	"github.com/hitl-tui/hitl-tui/internal/redact"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// settingRow is one line of `config`.
type settingRow struct {
	setting, value string
	from           config.Origin
}

func (a *app) configCommand() *cobra.Command {
	var example bool
	cmd := a.command("config", "Show the settings that hold here, and where each comes from",
		`Shows the settings of this invocation: a flag goes before the environment, that before the configuration file, that
before the default. Faults of the file are told with line and remedy. --example prints a file with every key.`,
		"hitl-tui config\nhitl-tui config -c team.yaml --json\nhitl-tui config --example > config.yaml", cobra.NoArgs, func(*cobra.Command, []string) error {
			if example {
				fmt.Fprint(a.out, config.Example())
				return nil
			}
			s, err := a.setup()
			if err != nil {
				return err
			}
			var rows []wire.Setting
			t := table{head: []string{"SETTING", "VALUE", "FROM"}, grow: 1}
			for _, r := range s.rows() {
				value := a.redact.Text(r.value)
				rows = append(rows, wire.Setting{Setting: r.setting, Value: value, From: string(r.from)})
				t.add(r.setting, value, string(r.from))
			}
			if a.flags.json {
				return a.printJSON(rows)
			}
			a.printTable(t)
			if _, err := os.Stat(s.config); errors.Is(err, fs.ErrNotExist) {
				a.say("there is no configuration file yet; it would be %s", s.config)
			}
			return nil
		})
	cmd.Flags().BoolVar(&example, "example", false, "print a configuration with every key and what it is")
	return cmd
}

// rows lists the settings.
func (s setup) rows() []settingRow {
	inFile := func(is bool) config.Origin {
		if is {
			return config.FromFile
		}
		return config.FromDefault
	}
	grace := s.grace
	if grace == 0 {
		grace = config.DefaultGrace
	}
	reviewer, from := s.reviewer, s.from["reviewer"]
	if reviewer == "" {
		reviewer, from = "the system user", config.FromDefault
	}
	rows := []settingRow{
		{"config", s.config, s.from["config"]},
		{"store", s.store, s.from["store"]},
		{"reviewer", reviewer, from},
		{"theme", s.theme, s.from["theme"]},
		{"workflows", strings.Join(s.workflows, ", "), inFile(len(s.folders) > 0)},
		{"grace", duration.Format(max(0, grace)), inFile(s.grace != 0)},
		{"retention.older_than", kept(s.retention.OlderThan), inFile(s.retention.OlderThan > 0)},
		{"retention.finished_before", kept(s.retention.FinishedBefore), inFile(s.retention.FinishedBefore > 0)},
		switched("mouse", s.is.Mouse, true),
		switched("bell", s.is.Bell, true),
		switched("notify", s.is.Notify, false),
		{"reduced_motion", onOff(s.still), s.from["reduced_motion"]},
		{"ascii", onOff(s.ascii), s.from["ascii"]},
		switched("accessible", s.is.Accessible, false),
		{"redact", onOff(!s.redact.IsOff()), inFile(!reflect.DeepEqual(s.redact, redact.Rules{}))},
		{"state folder", s.state, config.FromDefault},
		{"themes folder", s.themes, config.FromDefault},
	}
	for _, name := range slices.Sorted(maps.Keys(s.models)) {
		m := s.models[name]
		rows = append(rows, settingRow{"models." + name, fmt.Sprintf("%s at %s", m.Model, m.Endpoint()), config.FromFile})
	}
	return append(rows, listed(s.configured)...)
}

// listed are the rules, hooks, views and keys of a configuration file, one row each.
func listed(c *config.Config) []settingRow {
	var rows []settingRow
	add := func(kind, name, value string) {
		rows = append(rows, settingRow{kind + "." + name, value, config.FromFile})
	}
	for _, r := range c.Rules {
		text := string(r.Action) + " when " + r.When.Text
		if r.Grace > 0 {
			text += ", after " + duration.Format(r.Grace)
		}
		add("rules", r.Name, text)
	}
	for _, h := range c.Hooks {
		text := strings.Join(h.Run, " ")
		if h.When.Text != "" {
			text += " when " + h.When.Text
		}
		add("hooks", h.Name, text)
	}
	for _, v := range c.Views {
		text := cmp.Or(v.Filter, "everything")
		if v.Tab != "" {
			text += ", of " + v.Tab
		}
		if v.Sort != "" {
			text += ", by " + v.Sort
		}
		add("views", v.Name, text)
	}
	for _, scope := range slices.Sorted(maps.Keys(c.Keys)) {
		for _, name := range slices.Sorted(maps.Keys(c.Keys[scope])) {
			add("keys."+scope, name, cmp.Or(strings.Join(c.Keys[scope][name], ", "), "no key"))
		}
	}
	return rows
}

func switched(name string, set *bool, otherwise bool) settingRow {
	from := config.FromDefault
	if set != nil {
		from = config.FromFile
	}
	return settingRow{name, onOff(or(set, otherwise)), from}
}

func kept(age time.Duration) string {
	if age == 0 {
		return "keeps everything"
	}
	return duration.Format(age)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (a *app) themesCommand() *cobra.Command {
	return a.command("themes", "List the colour themes", `Lists the themes of the desk, the bundled ones and those in the folder of themes ("hitl-tui config" names it).
"theme: NAME" in the configuration or HITL_TUI_THEME chooses one. A theme of one's own is a file NAME.yaml there, which says
what is to differ from another theme:

    name: mine
    inherits: gruvbox
    tokens:
      accent: {light: "#0b57c2", dark: "#7ab0ff"}

The desk reads it again whenever its window gets the focus.`,
		"hitl-tui themes\nHITL_TUI_THEME=high-contrast hitl-tui", cobra.NoArgs, func(*cobra.Command, []string) error {
			s, err := a.setup()
			if err != nil {
				return err
			}
			shelf := theme.Shelf{Dir: s.themes}
			rows := []wire.Theme{}
			t := table{head: []string{"THEME", "WHAT IT IS"}, grow: 1}
			for _, name := range shelf.Names() {
				f, err := shelf.Load(name)
				if err != nil {
					a.say("hitl-tui: %s", sanitize.Text(err.Error()))
					continue
				}
				rows = append(rows, wire.Theme{Name: name, Description: f.Description})
				t.add(name, f.Description)
			}
			if a.flags.json {
				return a.printJSON(rows)
			}
			a.printTable(t)
			return nil
		})
}
