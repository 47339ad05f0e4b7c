package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

func textSchema(about string) schema { return schema{"type": "string", "description": about} }

func objectSchema(properties schema, required ...string) schema {
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func startSchema() schema {
	return objectSchema(schema{
		"workflow":  textSchema("NAME, or NAME::GRAPH"),
		"input":     schema{"type": "object", "description": "by the workflow's input schema"},
		"thread_id": textSchema("of the new thread: letters, digits and . _ - : @ +; a fresh UUID"),
	}, "workflow")
}

// answerProperties are the keys of one answer.
func answerProperties() schema {
	return schema{
		"action":       schema{"type": "string", "enum": actionNames(), "description": "without regard to case; see hitl-tui actions"},
		"data":         schema{"description": "any JSON, as the action takes it"},
		"interrupt_id": textSchema("id or address of the question, where several are open"),
		"response_id":  textSchema("makes a repeat of this very answer harmless"),
	}
}

func resumeSchema() schema {
	properties := answerProperties()
	properties["if_version"] = schema{"type": []string{"string", "integer"}, "description": "answer only if the thread is still at STEP.REVISION, or at STEP"}
	properties["reviewer"] = textSchema("who decides; whoever runs the server")
	properties["steal"] = schema{"type": "boolean", "description": "answer although somebody else has claimed the thread"}
	properties["answers"] = schema{"type": "array", "minItems": 1, "items": objectSchema(answerProperties()), "description": "several answers, all or none, in place of the first four keys"}
	return objectSchema(properties)
}

func executeSchema() schema {
	return objectSchema(schema{
		"inputs":       schema{"type": "object"},
		"execution_id": textSchema("id of the new thread"),
		"force_create": schema{"description": "is read and means nothing here"},
	})
}

func actionNames() []string {
	var names []string
	for _, a := range actions.All() {
		names = append(names, string(a))
	}
	return names
}

// described is what the schemas say beyond the types.
func described() *schemas {
	statuses := desk.All.Statuses()
	return &schemas{
		defs: map[string]schema{},
		enums: map[string][]string{
			"Envelope.status": statuses, "Problem.thread_status": statuses, "Show.status": statuses, "Thread.status": statuses,
			"Error.code": desk.Codes(), "AgentMap.status": {"completed", "suspended", "failed"},
		},
		about: map[string]string{
			"Envelope.success":           "done, waiting as designed, or ended by a person; false on failure",
			"Envelope.interrupted":       "a question is open",
			"Envelope.step":              "the step at which the thread stands",
			"Envelope.interrupt_message": "of the question that has been open longest",
			"Envelope.interrupts":        "every open question, oldest first",
			"Envelope.outputs":           "of a thread that is done",
			"Envelope.already_applied":   "this response was given before; nothing was done again",
			"Problem.status":             "of HTTP; that of the thread is thread_status",
			"Error.details":              "facts for programs, such as by, action, at, candidates, allowed",
			"Interrupt.id":               "to be named as interrupt_id; so can the address",
			"Interrupt.content":          "what is under review",
			"Interrupt.actions":          "those that are allowed",
			"Interrupt.schema":           "JSON Schema of the answer",
			"Interrupt.payload":          "the question as its asker wrote it",
			"Question.version":           "STEP.REVISION, to be named as if_version",
			"Show.origin":                "THREAD@STEP of a fork",
			"Show.next":                  "what runs next",
			"Thread.cursor":              "go on after this row with after",
			"Event.run":                  "ADDRESS@RUN: review@2",
			"Event.text":                 "a line that a program said, or an error",
		},
	}
}

// Document is the OpenAPI description of a server of some version, made of the table by which requests are answered.
func Document(version string) ([]byte, error) {
	known := described()
	paths := map[string]schema{}
	for _, r := range routes() {
		if paths[r.path] == nil {
			paths[r.path] = schema{}
		}
		paths[r.path][strings.ToLower(r.method)] = r.document(known)
	}
	known.of(reflect.TypeFor[wire.Event]())
	return json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "hitl-tui", "version": version, "license": map[string]any{"name": "MIT", "identifier": "MIT"},
			"description": "Starts workflows that stop for people, lists what is asked, takes answers and runs threads on. Threads are named by whole ids. " +
				"Bodies are JSON of at most 65,536 bytes; an unknown key, a key given twice and an unknown parameter are refused. Within a major version fields are only added.",
		},
		"paths": paths,
		"components": map[string]any{
			"schemas": known.defs,
			"securitySchemes": map[string]any{
				"token": map[string]any{"type": "http", "scheme": "bearer", "description": "HITL_TUI_TOKEN writes and reads whole; HITL_TUI_READ_TOKEN reads, secrets masked. " +
					"On the server's own host reading needs none."},
				"key": map[string]any{"type": "apiKey", "in": "header", "name": "X-API-Key"},
			},
		},
	}, "", "  ")
}

// document is the operation of a route.
func (r *route) document(known *schemas) schema {
	responses := map[string]any{
		"default": map[string]any{"description": "any other refusal", "content": content(known, answer{of: wire.Problem{}, media: problemType})},
	}
	for _, a := range r.answers {
		responses[fmt.Sprint(a.status)] = map[string]any{"description": a.about, "content": content(known, a)}
	}
	security := []map[string][]string{{"token": {}}}
	if r.agentmap {
		security = append(security, map[string][]string{"key": {}})
	}
	if r.scope == read {
		security = append(security, map[string][]string{})
	}
	o := schema{"summary": r.title, "operationId": r.operation(), "responses": responses, "security": security}
	if r.about != "" {
		o["description"] = r.about
	}
	if params := r.parameters(); len(params) > 0 {
		o["parameters"] = params
	}
	if r.body != nil {
		o["requestBody"] = map[string]any{"content": map[string]any{jsonType: map[string]any{"schema": r.body}}, "required": r.body["required"] != nil}
	}
	return o
}

func content(known *schemas, a answer) map[string]any {
	s := schema{"type": "string"}
	if a.of != nil {
		s = known.of(reflect.TypeOf(a.of))
		if reflect.TypeOf(a.of).Kind() == reflect.Map {
			s = schema{"type": "object"}
		}
	}
	return map[string]any{a.media: map[string]any{"schema": s}}
}

// operation is a name made of method and path.
func (r *route) operation() string {
	parts := strings.FieldsFunc(strings.TrimPrefix(r.path, "/v1"), func(c rune) bool { return strings.ContainsRune("/{}.", c) })
	return strings.ToLower(r.method) + "_" + strings.Join(parts, "_")
}

func (r *route) parameters() []map[string]any {
	var all []map[string]any
	for _, part := range strings.Split(r.path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			name = strings.TrimSuffix(name, "}")
			about := map[string]string{"id": "whole id of the thread", "workflow": "name of the workflow", "graph": "name of the graph"}[name]
			all = append(all, map[string]any{"name": name, "in": "path", "required": true, "description": about, "schema": schema{"type": "string"}})
		}
	}
	for _, p := range r.query {
		all = append(all, p.document("query"))
	}
	for _, p := range r.header {
		all = append(all, p.document("header"))
	}
	return all
}

func (p *param) document(in string) map[string]any {
	s := p.is
	if p.many {
		s = schema{"type": "array", "items": s}
	}
	return map[string]any{"name": p.name, "in": in, "description": p.about, "schema": s}
}

// showDocument is GET /openapi.json.
func showDocument(c *call) (reply, error) {
	document, err := Document(c.server.o.Version)
	return reply{status: http.StatusOK, body: document}, err
}
