package server

import "net/http"

// route is one thing that can be asked for.
type route struct {
	method   string
	path     string
	scope    scope // that it needs
	agentmap bool  // it is AgentMap's, whose clients may send their key as X-API-Key
	query    []param
	do       func(*call) (reply, error)
}

// param is one parameter of a query.
type param struct {
	name string
}

const eventsPath = "/v1/events"

func listParams() []param {
	return []param{{"filter"}, {"status"}, {"workflow"}, {"sort"}, {"limit"}, {"after"}}
}

// routes is the table of what there is: the handlers, the documentation and the test are made of it.
func routes() []route {
	return []route{
		{method: http.MethodPost, path: "/v1/runs", scope: write, do: start},
		{method: http.MethodPost, path: "/v1/threads/{id}/resume", scope: write, do: resume},
		{method: http.MethodGet, path: "/v1/threads", scope: read, query: listParams(), do: listThreads},
		{method: http.MethodGet, path: "/v1/threads/{id}", scope: read, query: []param{{"step"}}, do: showThread},
		{method: http.MethodGet, path: "/v1/threads/{id}/history", scope: read, do: showHistory},
		{method: http.MethodGet, path: "/v1/threads/{id}/decisions", scope: read, query: []param{{"limit"}}, do: showDecisions},
		{method: http.MethodGet, path: "/v1/questions", scope: read, query: listParams(), do: listQuestions},
		{method: http.MethodGet, path: eventsPath, scope: read, query: []param{{"thread_id"}, {"last_event_id"}}, do: watch},
		{method: http.MethodGet, path: "/healthz", scope: read, do: health},
		{method: http.MethodGet, path: "/metrics", scope: read, do: showMetrics},
	}
}
