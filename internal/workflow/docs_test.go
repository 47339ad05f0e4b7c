package workflow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/config"
)

// TestDocumentedWorkflowsAreValid: every workflow that the README or a page under docs prints can be copied and run, with
// the models that the page configures before it. Of AgentMap's own examples a part does not load, of those in its pages
// most.
func TestDocumentedWorkflowsAreValid(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, "../../README.md") {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var library Library
		for _, part := range strings.Split(string(raw), "```yaml\n")[1:] {
			text, _, closed := strings.Cut(part, "\n```")
			if strings.HasPrefix(text, "models:") {
				c, err := config.Parse(page, text, "/home/ann")
				if err != nil {
					t.Fatal(err)
				}
				library.Services.Models = c.Models
			}
			if !strings.HasPrefix(text, "workflow:") && !strings.Contains(text, "\nworkflow:") {
				continue // a part of a file, or another kind of file
			}
			found++
			file := filepath.Join(t.TempDir(), "page.yaml")
			if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := library.Load(file); err != nil || !closed {
				t.Errorf("%s, the workflow that begins %q: %v", filepath.Base(page), text[:min(len(text), 40)], err)
			}
		}
	}
	if found == 0 {
		t.Error("no page prints a workflow; the README should")
	}
}
