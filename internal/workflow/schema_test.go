package workflow

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the generated and golden files anew")

const schemaFile = "../../schema/workflow.schema.json"

// TestSchemaIsFresh: the committed schema is what the tables make.
func TestSchemaIsFresh(t *testing.T) { golden(t, schemaFile, Schema()) }

// golden compares with a file, or with -update writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go generate ./internal/workflow. It would be\n%s", file, got)
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("workflow.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("workflow.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is a workflow file as other readers of YAML see it.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	src := newSource("t.yaml", text)
	root := parseYAML(src, text)
	if root == nil {
		t.Fatal(src.faults)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(src.toRaw(root)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestExamplesFitTheSchema: what the reader takes, an editor that knows the schema takes.
func TestExamplesFitTheSchema(t *testing.T) {
	s := compiledSchema(t)
	for _, file := range examples(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asJSON(t, string(text))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := s.Validate(asJSON(t, strings.Replace(everything, "010x", "n", 1))); err != nil {
		t.Errorf("all keys at once: %v", err)
	}
}

// TestSchemaRefuses: the schema knows the mistakes that concern one place.
func TestSchemaRefuses(t *testing.T) {
	s := compiledSchema(t)
	for name, text := range map[string]string{
		"unknown key":         wf("  a: {fail: x, oops: y}\n"),
		"two kinds":           wf("  a: {fail: x, template: y}\n"),
		"no kind":             wf("  a: {then: END}\n"),
		"key of another kind": wf("  a: {fail: x, stdin: y}\n"),
		"question kind":       wf("  a: {human: aproval, message: x}\n"),
		"action":              wf("  a: {human: approval, message: x, actions: [aprove]}\n"),
		"duration":            wf("  a: {wait: 5 minutes}\n"),
		"boolean":             wf("  a: {human: choice, message: x, options: [a], multiple: yes}\n"),
		"state key":           wf("  a: {set: {my-key: 1}}\n"),
		"reducer":             "workflow: t\nstate: {x: apend}\nnodes: {a: {fail: x}}\n",
		"no nodes":            "workflow: t\n",
		"format":              "workflow: t\nformat: 2\nnodes: {a: {fail: x}}\n",
	} {
		if err := s.Validate(asJSON(t, text)); err == nil {
			t.Errorf("%s: the schema takes\n%s", name, text)
		}
	}
}

// TestEveryKeyIsTold: each key of each table has a line of documentation and a schema that compiles.
func TestEveryKeyIsTold(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	keys := 0
	for name, def := range doc.Defs {
		for key, p := range def.Properties {
			if keys++; p.Description == "" {
				t.Errorf("%s.%s has no description", name, key)
			}
		}
	}
	if keys < 80 {
		t.Errorf("only %d keys", keys)
	}
}
