package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/config"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// TestTheExamplesOfTheDocsLoad: what docs/models.md shows can be copied.
func TestTheExamplesOfTheDocsLoad(t *testing.T) {
	text, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 3 {
		t.Fatalf("only %d examples", len(blocks))
	}
	var s setup
	for _, block := range blocks {
		if strings.HasPrefix(block[1], "models:") {
			c, err := config.Parse("config.yaml", block[1], "/home/ann")
			if err != nil {
				t.Fatal(err)
			}
			s.models = c.Models
			continue
		}
		file := filepath.Join(t.TempDir(), "example.yaml")
		if err := os.WriteFile(file, []byte(block[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		library := workflow.Library{Services: workflow.Services{Models: s.models}}
		if _, err := library.Load(file); err != nil {
			t.Errorf("%v", err)
		}
	}
}
