package workflow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

// BenchmarkValidateCSV validates an AgentMap file of 10,000 nodes. The aim is under a second.
func BenchmarkValidateCSV(b *testing.B) {
	file := filepath.Join(b.TempDir(), "big.csv")
	if err := os.WriteFile(file, []byte(largeCSV(10_000)), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := (Library{}).LoadAll(file); err != nil {
			b.Fatal(err)
		}
	}
}
