package server_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const httpPage = "../../docs/http.md"

// TestHTTPPageIsFresh keeps the part of docs/http.md that is made of the OpenAPI document what that says.
func TestHTTPPageIsFresh(t *testing.T) {
	raw, err := os.ReadFile(httpPage)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := bytes.Cut(raw, []byte("<!-- generated: routes -->\n"))
	if !found {
		t.Fatalf("%s has no place for the routes", httpPage)
	}
	fresh(t, httpPage, append(head, []byte("<!-- generated: routes -->\n"+routesPage()+"<!-- end -->\n")...))
}

func routesPage() string {
	var b strings.Builder
	paths := documented().json["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, v := range paths[path].(map[string]any) {
			operation := v.(map[string]any)
			fmt.Fprintf(&b, "### %s %s\n\n%s. ", strings.ToUpper(method), path, operation["summary"])
			if about, is := operation["description"].(string); is {
				b.WriteString(about)
			}
			b.WriteString("\n\n")
			writeParameters(&b, operation)
			writeAnswers(&b, operation)
		}
	}
	return b.String()
}

func writeParameters(b *strings.Builder, operation map[string]any) {
	list, _ := operation["parameters"].([]any)
	body, _ := operation["requestBody"].(map[string]any)
	if len(list) == 0 && body == nil {
		return
	}
	b.WriteString("| takes | in | is |\n|---|---|---|\n")
	for _, v := range list {
		p := v.(map[string]any)
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", p["name"], p["in"], p["description"])
	}
	if body != nil {
		schema := body["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
		properties := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			about, _ := properties[name].(map[string]any)["description"].(string)
			fmt.Fprintf(b, "| `%s` | body | %s |\n", name, about)
		}
	}
	b.WriteString("\n")
}

func writeAnswers(b *strings.Builder, operation map[string]any) {
	b.WriteString("| answers | with | when |\n|---|---|---|\n")
	responses := operation["responses"].(map[string]any)
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		response := responses[status].(map[string]any)
		for media, content := range response["content"].(map[string]any) {
			fmt.Fprintf(b, "| %s | %s | %s |\n", status, shapeOf(media, content.(map[string]any)["schema"].(map[string]any)), response["description"])
		}
	}
	b.WriteString("\n")
}

// shapeOf names the JSON of an answer.
func shapeOf(media string, schema map[string]any) string {
	name := func(s map[string]any) string {
		ref, _ := s["$ref"].(string)
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if items, is := schema["items"].(map[string]any); is {
		return "list of " + name(items)
	}
	if n := name(schema); n != "" {
		return n
	}
	return media
}
