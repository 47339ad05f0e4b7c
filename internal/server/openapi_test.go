package server_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hitl-tui/hitl-tui/internal/server"
)

var update = flag.Bool("update", false, "write what is generated")

// document is the OpenAPI document, which every answer to every test is held to.
type document struct {
	raw  []byte
	json map[string]any

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by place
	seen    map[string]bool               // "GET /v1/threads 200"
}

var documented = sync.OnceValue(func() *document {
	raw, err := server.Document("test")
	if err != nil {
		panic(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		panic(err)
	}
	return &document{raw: raw, json: parsed.(map[string]any), schemas: map[string]*jsonschema.Schema{}, seen: map[string]bool{}}
})

// find is the documented path that a request's path is one of; "" none.
func (d *document) find(path string) string {
	path, _, _ = strings.Cut(path, "?")
	have := strings.Split(path, "/")
	for template := range d.json["paths"].(map[string]any) {
		want := strings.Split(template, "/")
		if slices.EqualFunc(have, want, func(h, w string) bool { return h == w || strings.HasPrefix(w, "{") && h != "" }) {
			return template
		}
	}
	return ""
}

// checkDocumented holds an answer to the document: its status has to be there, its type, and its JSON fit the schema.
func checkDocumented(t testing.TB, method, path string, a answered) {
	t.Helper()
	d := documented()
	d.mu.Lock()
	defer d.mu.Unlock()
	template := d.find(path)
	operation, _ := d.at("paths", template, strings.ToLower(method)).(map[string]any)
	if operation == nil {
		if a.status != 404 && a.status != 405 && a.status != 204 && a.status != 401 {
			t.Errorf("%s %s is not documented and answers %d", method, path, a.status)
		}
		return
	}
	status := fmt.Sprint(a.status)
	if d.at("paths", template, strings.ToLower(method), "responses", status) == nil {
		if a.status != 408 && a.status < 500 {
			t.Errorf("%s %s answers %d, which is not documented", method, template, a.status)
		}
		status = "default"
	}
	d.seen[method+" "+template+" "+status] = true
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	place := []string{"paths", template, strings.ToLower(method), "responses", status, "content", media}
	if d.at(place...) == nil {
		t.Errorf("%s %s answers %d as %s, which is not documented", method, template, a.status, media)
		return
	}
	if !strings.HasSuffix(media, "json") {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	if err == nil {
		err = d.schema(t, append(place, "schema")).Validate(value)
	}
	if err != nil {
		t.Errorf("%s %s answers %d with what the document does not say: %v\n%s", method, path, a.status, err, a.body)
	}
	if problem, is := value.(map[string]any); is && a.status >= 400 {
		if flag := server.FlagIn(fmt.Sprint(problem["detail"])); flag != "" {
			t.Errorf("%s %s advises a flag of the command line, %s: %s", method, path, flag, problem["detail"])
		}
	}
}

func (d *document) at(names ...string) any {
	var v any = d.json
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// schema compiles the schema at a place of the document.
func (d *document) schema(t testing.TB, place []string) *jsonschema.Schema {
	t.Helper()
	var pointer strings.Builder
	for _, name := range place {
		pointer.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name)))
	}
	if s := d.schemas[pointer.String()]; s != nil {
		return s
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("mem:///openapi.json", d.json); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("mem:///openapi.json#" + pointer.String())
	if err != nil {
		t.Fatal(err)
	}
	d.schemas[pointer.String()] = s
	return s
}

// TestDocumentIsServed: the document that is served is the one that the tests hold answers to, and the one in schema/.
func TestDocumentIsServed(t *testing.T) {
	w := newWorld(t, setting{server: server.Options{Version: "test"}})
	a := w.call("", "GET", "/openapi.json", "").want(t, 200, "")
	if !bytes.Equal(a.body, documented().raw) {
		t.Error("another document is served")
	}
}

// TestDocumentIsFresh keeps schema/openapi.json what the code says.
func TestDocumentIsFresh(t *testing.T) {
	raw, err := server.Document("1")
	if err != nil {
		t.Fatal(err)
	}
	fresh(t, "../../schema/openapi.json", append(raw, '\n'))
}

// fresh fails unless a file holds what is generated, or writes it with -update.
func fresh(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not what the code says (%v): run make generate", file, err)
	}
}

// TestEveryRouteIsThere: what is documented is served, and other methods are refused by name of those that are there.
func TestEveryRouteIsThere(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	fill := strings.NewReplacer("{id}", "t-0001", "{workflow}", "notes", "{graph}", "notes", "{graph_id}", "notes")
	for template, operations := range documented().json["paths"].(map[string]any) {
		path := fill.Replace(template)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "BREW"} {
			_, known := operations.(map[string]any)[strings.ToLower(method)]
			if template == "/v1/events" && known {
				continue // a stream: see the tests of events
			}
			a := w.call(writer, method, path, "")
			allow := a.header.Get("Allow")
			switch {
			case known && (a.status == 404 || a.status == 405):
				t.Errorf("%s %s is documented and answers %d", method, path, a.status)
			case !known && (a.status != 405 || allow == "" || strings.Contains(allow, method)):
				t.Errorf("%s %s: %d, Allow: %s", method, path, a.status, allow)
			}
		}
		options := w.call(writer, "OPTIONS", path, "")
		if options.status != 204 || options.header.Get("Allow") == "" {
			t.Errorf("OPTIONS %s: %d %v", path, options.status, options.header)
		}
		if _, gets := operations.(map[string]any)["get"]; gets {
			head, err := w.try(t.Context(), writer, "HEAD", path, "")
			if err != nil || head.status != 200 || len(head.body) > 0 {
				t.Errorf("HEAD %s: %d %q %v", path, head.status, head.body, err)
			}
		}
	}
}

// TestEveryAnswerIsSeen runs what gives each documented answer, over a socket: an answer that is documented and never given
// would be a promise nobody keeps. checkDocumented holds each to its schema.
func TestEveryAnswerIsSeen(t *testing.T) {
	d := documented()
	w := newWorld(t, setting{})
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	w.start("slow", "t-0002", `{}`)
	w.start("slow", "t-0003", `{}`)
	large := `{"data":"` + strings.Repeat("x", 70_000) + `"}`
	async := []string{"Prefer", "respond-async"}
	for _, path := range []string{"/v1/threads/%s/resume", "/resume/%s"} {
		ask := func(token, thread, body string, headers ...string) answered {
			return w.call(token, "POST", fmt.Sprintf(path, thread), body, headers...)
		}
		ask(writer, "t-0001", `{`).want(t, 400, "usage")
		ask("", "t-0001", `{}`).want(t, 401, "unauthorised")
		ask(reader, "t-0001", `{}`).want(t, 403, "unauthorised")
		ask(writer, "nobody", `{}`).want(t, 404, "not_found")
		ask(writer, "t-0001", `{"if_version":"0.1","action":"approve"}`).want(t, 409, "conflict")
		ask(writer, "t-0001", large).want(t, 413, "too_large")
		ask(writer, "t-0001", `{"action":"reject"}`).want(t, 422, "invalid_data")
	}
	w.call(writer, "POST", "/v1/threads/t-0002/resume", `{"action":"approve"}`, async...).want(t, 202, "")
	w.call(writer, "POST", "/resume/t-0003", `{"action":"approve"}`, async...).want(t, 202, "")
	w.call(writer, "POST", "/v1/runs", `{"workflow":"busy"}`, async...).want(t, 202, "")
	w.call(writer, "POST", "/execute/busy/busy", `{}`, async...).want(t, 202, "")
	w.write("go", "")
	w.resume("t-0001", `{"action":"approve"}`).want(t, 200, "")
	w.start("notes", "t-0004", `{"topic":"tea"}`)
	w.call(writer, "POST", "/resume/t-0004", `{"action":"approve"}`).want(t, 200, "")
	for path, inputs := range map[string]string{"/v1/runs": `"workflow":"notes","input"`, "/execute/notes/notes": `"inputs"`, "/execute/notes": `"inputs"`} {
		ask := func(token, body string) answered { return w.call(token, "POST", path, body) }
		ask(writer, `{`+inputs+`:{"topic":"tea"}}`).want(t, 200, "")
		ask(writer, `{`).want(t, 400, "usage")
		ask("", `{}`).want(t, 401, "unauthorised")
		ask(reader, `{}`).want(t, 403, "unauthorised")
		ask(writer, large).want(t, 413, "too_large")
		ask(writer, `{`+inputs+`:{}}`).want(t, 422, "invalid_data")
	}
	w.call(writer, "POST", "/v1/runs", `{"workflow":"nobody"}`).want(t, 404, "not_found")
	w.call(writer, "POST", "/execute/busy", `{}`, async...).want(t, 202, "")
	w.call(writer, "POST", "/execute/nobody/nobody", `{}`).want(t, 404, "not_found")
	w.call(writer, "POST", "/execute/nobody", `{}`).want(t, 404, "not_found")
	w.call(writer, "POST", "/execute/notes", `{"inputs":{"topic":"x"},"execution_id":"t-0001"}`).want(t, 409, "conflict")
	w.call(writer, "POST", "/v1/runs", `{"workflow":"notes","input":{"topic":"x"},"thread_id":"t-0001"}`).want(t, 409, "conflict")
	w.call(writer, "POST", "/execute/notes/notes", `{"inputs":{"topic":"x"},"execution_id":"t-0001"}`).want(t, 409, "conflict")
	for template, operations := range d.json["paths"].(map[string]any) {
		path := strings.ReplaceAll(template, "{id}", "t-0001")
		if _, gets := operations.(map[string]any)["get"]; !gets {
			continue
		}
		if template != "/v1/events" {
			w.call(reader, "GET", path, "").want(t, 200, "")
		}
		w.call("wrong", "GET", path, "").want(t, 401, "unauthorised")
		w.call(reader, "GET", path+"?nonsense=1", "").want(t, 400, "usage")
		if path != template {
			w.call(reader, "GET", strings.ReplaceAll(template, "{id}", "0001"), "").want(t, 404, "not_found")
		}
	}
	unavailable(t)
	crowded(t)
	for _, path := range []string{"/v1/runs", "/execute/notes/notes", "/execute/notes"} {
		refusedAtTheEnd(t, path)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for template, operations := range d.json["paths"].(map[string]any) {
		for method, operation := range operations.(map[string]any) {
			for status := range operation.(map[string]any)["responses"].(map[string]any) {
				answer := strings.ToUpper(method) + " " + template + " " + status
				if !d.seen[answer] && status != "default" && answer != "GET /v1/events 200" {
					t.Errorf("%s is documented and was never given", answer)
				}
			}
		}
	}
}

// unavailable asks all that reads the store first of a server whose store is gone.
func unavailable(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{id}", "t-0001", "{workflow}", "notes", "{graph}", "notes", "{graph_id}", "notes")
	for template, operations := range documented().json["paths"].(map[string]any) {
		for _, method := range slices.Sorted(maps.Keys(operations.(map[string]any))) {
			starts := template == "/v1/runs" || strings.HasPrefix(template, "/execute") // see refusedAtTheEnd
			if starts || template == "/v1/events" || documented().at("paths", template, method, "responses", "503") == nil {
				continue
			}
			method = strings.ToUpper(method)
			if a := w.call(writer, method, fill.Replace(template), ""); a.status != http.StatusServiceUnavailable {
				t.Errorf("%s %s without a store: %d %s", method, template, a.status, a.body)
			}
		}
	}
}
