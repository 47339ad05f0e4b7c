package config_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/config"
)

// TestReferenceHasEveryKey holds the reference to what the reader says that it knows.
func TestReferenceHasEveryKey(t *testing.T) {
	told := map[string]bool{}
	for _, e := range config.Reference() {
		if told[e.Key] {
			t.Errorf("%s is told twice", e.Key)
		}
		told[e.Key] = true
		if e.Is == "" || e.About == "" || strings.HasSuffix(e.About, ".") {
			t.Errorf("%s is not told well: %+v", e.Key, e)
		}
	}
	for below, text := range map[string]string{
		"": "x_x: 1", "retention.": "retention: {x_x: 1}", "redact.": "redact: {x_x: 1}", "models.NAME.": "models: {a: {x_x: 1}}",
		"rules[].": "rules: [{x_x: 1}]", "hooks[].": "hooks: [{x_x: 1}]", "views[].": "views: [{x_x: 1}]",
	} {
		_, err := config.Parse("c.yaml", text, "/home/ann")
		var faults *config.Error
		if !errors.As(err, &faults) {
			t.Fatalf("%s: %v", text, err)
		}
		list := regexp.MustCompile(`\(the keys are ([^)]*)\)`).FindStringSubmatch(err.Error())
		if list == nil {
			t.Fatalf("%s: no list of keys in %v", text, err)
		}
		known := strings.Split(list[1], ", ")
		for _, name := range known {
			if !told[below+name] {
				t.Errorf("%s%s is not told", below, name)
			}
		}
		for key := range told {
			if name, is := strings.CutPrefix(key, below); is && !strings.ContainsAny(name, ".[") && !slices.Contains(known, name) {
				t.Errorf("%s is no key", key)
			}
		}
	}
}

// TestTheExampleIsRead: the example of every key is one that the reader takes.
func TestTheExampleIsRead(t *testing.T) {
	c, err := config.Parse("/etc/c.yaml", config.Example(), "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	if c.Store != "sqlite:/home/ann/team.db" || len(c.Workflows) != 2 || c.Screen.ASCII == nil || len(c.Keys["review"]["approve"]) != 2 || len(c.Rules) != 1 ||
		len(c.Hooks) != 1 || len(c.Views) != 1 || c.Models["default"].Model != "llama3.2" || c.Retention.FinishedBefore == 0 || c.Grace == nil || !c.Redact.Secret("iban") {
		t.Errorf("%+v", c)
	}
}
