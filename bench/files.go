package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// fileRows show what reading workflow files costs.
func fileRows() []row {
	return []row{
		{name: "validate CSV", target: "under 1 s, ratio 10", ours: "an AgentMap file of 10000 nodes", peer: "of 1000 nodes", rounds: 5, calls: 1,
			setup: validateLarge},
	}
}

func validateLarge(dir string) (*pair, error) {
	p := pair{close: func() error { return nil }}
	for nodes, load := range map[int]*func() error{10_000: &p.ours, 1000: &p.peer} {
		file := filepath.Join(dir, fmt.Sprintf("%d.csv", nodes))
		if err := os.WriteFile(file, []byte(largeCSV(nodes)), 0o600); err != nil {
			return nil, err
		}
		*load = func() error {
			_, err := workflow.Library{}.LoadAll(file)
			return err
		}
	}
	return &p, nil
}

// largeCSV is a graph of so many nodes of five kinds, with branches that lead back.
func largeCSV(nodes int) string {
	var b strings.Builder
	b.WriteString("GraphName,Node,AgentType,Edge,Success_Next,Failure_Next,Input_Fields,Output_Field,Prompt,Context\n")
	for i := range nodes {
		next, in, out := "", fmt.Sprintf("f%d", i%50), fmt.Sprintf("f%d", (i+1)%50)
		if i+1 < nodes {
			next = fmt.Sprintf("N%d", i+1)
		}
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "Big,N%d,echo,%s,,,%s,%s,Step {%s},\n", i, next, in, out, in)
		case 1:
			fmt.Fprintf(&b, "Big,N%d,default,%s,,,%s,%s,Do it,\n", i, next, in, out)
		case 2:
			fmt.Fprintf(&b, "Big,N%d,branching,,%s,N%d,%s,%s,,\n", i, next, max(0, i-3), in, out)
		case 3:
			fmt.Fprintf(&b, "Big,N%d,human,,%s,,%s,%s,Approve {%s}?,\"{\"\"interaction_type\"\": \"\"approval\"\", \"\"timeout_seconds\"\": 60}\"\n", i, next, in, out, in)
		default:
			fmt.Fprintf(&b, "Big,N%d,echo,%s,,,%s|other,%s,,\n", i, next, in, out)
		}
	}
	return b.String()
}
