package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCommands runs what the pages show. The blocks of a page are worked off in order, in one folder: one whose
// first line names a file in a comment is that file; in a console block lines that begin with $ are run by a shell and the
// lines below must be what is printed, where ... stands for anything. A command without lines below must succeed.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, page := range append(pages, "../../README.md") {
		blocks := blocksOf(t, page)
		var sessions int
		for _, b := range blocks {
			if b.kind == "console" {
				sessions++
				commands += len(b.commands())
			}
		}
		if sessions == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			needs(t, blocks, "python3")
			runPage(t, blocks)
		})
	}
	if commands < 10 {
		t.Errorf("the pages show %d commands that can be run; the tutorial alone has more", commands)
	}
}

// block is a fenced block of a page.
type block struct {
	kind string // what stands behind the fence
	line int    // of the fence
	text string
}

func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var open *block
	for i, line := range strings.Split(string(raw), "\n") {
		kind, fence := strings.CutPrefix(line, "```")
		switch {
		case open == nil && fence:
			open = &block{kind: kind, line: i + 1}
		case open != nil && line == "```":
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: this block is not closed", page, open.line)
	}
	return blocks
}

// needs skips a page with a program that is not here.
func needs(t *testing.T, blocks []block, program string) {
	t.Helper()
	for _, b := range blocks {
		if _, err := exec.LookPath(program); err != nil && strings.Contains(b.text, program) {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is missing, and CI skips nothing", program)
			}
			t.Skipf("%s is missing", program)
		}
	}
}

// file is the name in the comment on the first line, "" for none.
func (b block) file() string {
	name := regexp.MustCompile(`^(?:#|//) ([\w.-]+\.\w+)\n`).FindStringSubmatch(b.text)
	if name == nil || b.kind == "console" {
		return ""
	}
	return name[1]
}

// shown is a command and what the page says it prints.
type shown struct{ command, output string }

func (b block) commands() []shown {
	var all []shown
	for _, line := range strings.SplitAfter(b.text, "\n") {
		if command, is := strings.CutPrefix(line, "$ "); is {
			all = append(all, shown{command: strings.TrimSpace(command)})
		} else if len(all) > 0 {
			all[len(all)-1].output += line
		}
	}
	return all
}

func runPage(t *testing.T, blocks []block) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if name := b.file(); name != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if b.kind != "console" {
			continue
		}
		for _, c := range b.commands() {
			cmd := exec.Command("sh", "-c", c.command)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "HITL_TUI_REVIEWER=you")
			out, err := cmd.CombinedOutput()
			got := strings.TrimRight(string(out), "\n")
			if err != nil || !matches(strings.TrimRight(c.output, "\n"), got) {
				t.Errorf("the block at line %d: %s\nprints\n%s\n(%v), the page says\n%s", b.line, c.command, got, err, c.output)
			}
		}
	}
}

// matches reports whether got is what a page shows; nothing shown is anything.
func matches(want, got string) bool {
	if want == "" {
		return true
	}
	parts := strings.Split(want, "...")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(fmt.Sprintf(`(?s)\A%s\z`, strings.Join(parts, ".*"))).MatchString(got)
}

// TestLinksOfPages: a link from one page to another, to a part of it or to a file leads somewhere.
func TestLinksOfPages(t *testing.T) {
	const root = "../.."
	var pages []string
	for _, pattern := range []string{"*.md", "*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	links := 0
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(proseOf(t, page), -1) {
			target, part, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") { // on the web
				continue
			}
			links++
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(target))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", page, m[1], err)
			} else if part != "" && !anchorsOf(t, file)[part] {
				t.Errorf("%s: the link %s leads to no heading of %s", page, m[1], file)
			}
		}
	}
	if links < 50 {
		t.Errorf("%d links were found in %v; the pages have more", links, pages)
	}
}

// proseOf is a page without its fenced blocks.
func proseOf(t *testing.T, page string) string {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(string(raw), "")
}

// anchorsOf are the names by which links find the headings of a page: in small letters, with a hyphen for each blank, and
// without marks, as the hosts of repositories make them.
func anchorsOf(t *testing.T, page string) map[string]bool {
	t.Helper()
	marks := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#{1,6} +(.+)$`).FindAllStringSubmatch(proseOf(t, page), -1) {
		anchors[strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return anchors
}
