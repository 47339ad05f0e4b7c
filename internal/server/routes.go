package server

import (
	"net/http"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/schema"
)

// route is one thing that can be asked for: how it is answered, and what the documentation says of it.
type route struct {
	method   string
	path     string
	scope    scope // that it needs
	agentmap bool  // it is AgentMap's, whose clients may send their key as X-API-Key
	query    []param
	header   []param
	do       func(*call) (reply, error)

	title   string
	about   string
	body    schema.Schema // of the request; nil for none
	answers []answer
}

// param is one parameter of a query, or a header.
type param struct {
	name, about string
	is          schema.Schema
	many        bool // it may be given often
}

// answer is one answer that a route gives.
type answer struct {
	status int
	about  string
	of     any    // a value of the type of its JSON; nil: see media
	media  string // where it is no JSON of ours
}

const eventsPath = "/v1/events"

// refusals are answers with problems, by status.
func refusals(statuses ...int) []answer {
	about := map[int]string{
		http.StatusBadRequest:            "malformed: the body, a parameter or a header",
		http.StatusUnauthorized:          "no token, or one that is not known",
		http.StatusForbidden:             "the token may only read, or the server is read-only",
		http.StatusNotFound:              "no such thread, question or workflow",
		http.StatusConflict:              "not waiting, already answered, another version, claimed, running, or the workflow has changed: nothing was done",
		http.StatusRequestEntityTooLarge: "more than 65,536 bytes",
		http.StatusUnprocessableEntity:   "an action that is unknown or not allowed, data that do not fit, several questions where one must be named, or a workflow that is faulty: nothing was done",
		http.StatusServiceUnavailable:    "the store cannot be used, the server does as much at once as it may, or it is shutting down; Retry-After says when to try again",
	}
	all := make([]answer, len(statuses))
	for i, status := range statuses {
		all[i] = answer{status: status, about: about[status], of: wire.Problem{}, media: problemType}
	}
	return all
}

func answers(good []answer, statuses ...int) []answer { return append(good, refusals(statuses...)...) }

func ok(about string, of any) []answer {
	return []answer{{status: http.StatusOK, about: about, of: of, media: jsonType}}
}

// written are the answers of a start or a resume.
func written(of any) []answer {
	good := append(ok("the thread has ended, waits, failed (success is false) or was stopped on the way; the run may have taken long", of),
		answer{status: http.StatusAccepted, about: "with Prefer: respond-async, once it is kept: the thread runs", of: wire.Envelope{}, media: jsonType})
	return answers(good, 400, 401, 403, 404, 409, 413, 422, 503)
}

func listParams() []param {
	text, number := schema.Schema{"type": "string"}, schema.Schema{"type": "integer", "minimum": 1, "maximum": mostRows, "default": pageRows}
	return []param{
		{name: "filter", about: "the filter language of the desk: status:failed older:2d claimed:none text", is: text},
		{name: "status", about: "only this status; may be given often", is: text, many: true},
		{name: "workflow", about: "only this workflow; may be given often", is: text, many: true},
		{name: "sort", about: "due, waiting, updated or name", is: schema.Schema{"type": "string", "enum": []string{"due", "waiting", "updated", "name"}, "default": "due"}},
		{name: "limit", about: "threads of a page", is: number},
		{name: "after", about: "go on after this cursor; the Link header of a page leads to the next", is: text},
	}
}

func writeHeaders() []param {
	return []param{
		{name: "Idempotency-Key", about: "a text of 1 to 200 bytes: a repeat of the same request gets the first result, while that is remembered word for word", is: schema.Schema{"type": "string", "maxLength": 200}},
		{name: "Prefer", about: "respond-async: answer 202 as soon as what is asked for is kept", is: schema.Schema{"type": "string"}},
	}
}

// routes is the table of what there is: the handlers, the documentation and the tests are made of it.
func routes() []route {
	return append(append(writeRoutes(), readRoutes()...), agentMapRoutes()...)
}

func writeRoutes() []route {
	return []route{
		{method: http.MethodPost, path: "/v1/runs", scope: write, header: writeHeaders(), do: start,
			title: "Start a thread and run it until it ends, waits or fails",
			about: "Only workflows of the configured folders can be started, by name. Programs run in the folder in which the server was started.",
			body:  startSchema(), answers: written(wire.Envelope{})},
		{method: http.MethodPost, path: "/v1/threads/{id}/resume", scope: write, header: writeHeaders(), do: resume,
			title: "Answer a thread and run it on",
			about: "Without an action a question is answered with continue, the wait of a sleeping thread ends, and a stalled or failed thread is carried on. " +
				"Once accepted the run goes on, whether its client stays or leaves. Several answers are taken all or none.",
			body: resumeSchema(), answers: written(wire.Envelope{})},
	}
}

func readRoutes() []route {
	step := param{name: "step", about: "as it was at this step", is: schema.Schema{"type": "integer", "minimum": 0}}
	limit := param{name: "limit", about: "rows; all", is: schema.Schema{"type": "integer", "minimum": 1, "maximum": mostRows}}
	return []route{
		{method: http.MethodGet, path: "/v1/threads", scope: read, query: listParams(), do: listThreads,
			title: "List threads", about: "Those that wait first: by deadline, then by how long they have waited.", answers: answers(ok("one page", []wire.Thread{}), 400, 401, 503)},
		{method: http.MethodGet, path: "/v1/threads/{id}", scope: read, query: []param{step}, do: showThread,
			title: "Show a thread", about: "Its state and its open questions.", answers: answers(ok("the thread", wire.Show{}), 400, 401, 404, 503)},
		{method: http.MethodGet, path: "/v1/threads/{id}/history", scope: read, do: showHistory,
			title: "List the steps of a thread", about: "Oldest first.", answers: answers(ok("the steps", []wire.Step{}), 400, 401, 404, 503)},
		{method: http.MethodGet, path: "/v1/threads/{id}/graph", scope: read, do: showGraph,
			title: "Show the workflow of a thread as a graph", about: "Of the thread's own definition: nodes and edges, how each node stands, how often each edge was taken and which decisions took it.",
			answers: answers(ok("the graph", wire.Graph{}), 400, 401, 404, 503)},
		{method: http.MethodGet, path: "/v1/threads/{id}/decisions", scope: read, query: []param{limit}, do: showDecisions,
			title: "List the decisions of a thread", about: "Newest first.", answers: answers(ok("the record", []wire.Decision{}), 400, 401, 404, 503)},
		{method: http.MethodGet, path: "/v1/questions", scope: read, query: listParams(), do: listQuestions,
			title: "List open questions", about: "Thread by thread; the limit is one of threads.", answers: answers(ok("the questions of one page of threads", []wire.Question{}), 400, 401, 503)},
		watchRoute(),
		{method: http.MethodGet, path: "/healthz", scope: read, do: health,
			title: "Tell whether the store answers", answers: answers(ok("it does", wire.Health{}), 400, 401, 503)},
		{method: http.MethodGet, path: "/metrics", scope: read, do: showMetrics,
			title: "Metrics for Prometheus", answers: answers([]answer{{status: http.StatusOK, about: "the text format of Prometheus", media: "text/plain"}}, 400, 401)},
		{method: http.MethodGet, path: "/openapi.json", scope: read, do: showDocument,
			title: "This document", answers: answers([]answer{{status: http.StatusOK, about: "OpenAPI 3.1", of: map[string]any{}, media: jsonType}}, 400, 401)},
	}
}

func watchRoute() route {
	text := schema.Schema{"type": "string"}
	return route{method: http.MethodGet, path: eventsPath, scope: read, do: watch,
		query: []param{{name: "thread_id", about: "only what concerns this thread", is: text},
			{name: "last_event_id", about: "as the header Last-Event-ID, for clients that cannot send it", is: text}},
		header: []param{{name: "Last-Event-ID", about: "go on after this event", is: text}},
		title:  "Watch what happens",
		about: "A stream of server-sent events, of the kinds store_changed (a thread was written, whoever did it; without a thread_id: any may have been), " +
			"progress (what runs in this server, line by line) and retention_applied; data is an Event. The stream begins with ready, or with reset where the last " +
			"event id is not known: then whatever was read before has to be read again. Ids name the server's process and a number in it, and the latest 4,096 " +
			"events are kept; after a restart, or after more than that, the answer is reset. A comment comes at least every 15 seconds.",
		answers: answers([]answer{{status: http.StatusOK, about: "the stream", media: "text/event-stream"}}, 400, 401, 503)}
}

func agentMapRoutes() []route {
	about := " Answers as AgentMap's clients expect, errors as problems. The key may also be sent as X-API-Key."
	return []route{
		{method: http.MethodPost, path: "/execute/{workflow}/{graph}", scope: write, agentmap: true, header: writeHeaders(), do: execute,
			title: "AgentMap: start a graph", about: "A workflow file of one graph has that under its own name." + about,
			body: executeSchema(), answers: written(wire.AgentMap{})},
		{method: http.MethodPost, path: "/execute/{graph_id}", scope: write, agentmap: true, header: writeHeaders(), do: execute,
			title: "AgentMap: start a graph by its id", about: "WORKFLOW::GRAPH, WORKFLOW%2FGRAPH, or the WORKFLOW of a file of one graph." + about,
			body: executeSchema(), answers: written(wire.AgentMap{})},
		{method: http.MethodPost, path: "/resume/{id}", scope: write, agentmap: true, header: writeHeaders(), do: resumeAgentMap,
			title: "AgentMap: answer a thread", about: "An empty object as data is none. Data without an action, or with continue or submit, are the text, the choice, the edit or the reply that is asked for." + about, body: resumeSchema(), answers: written(wire.AgentMap{})},
	}
}
