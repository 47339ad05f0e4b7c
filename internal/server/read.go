package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

const (
	pageRows = 50
	mostRows = 1000
)

// number reads a parameter that is a whole number between two bounds.
func (c *call) number(name string, otherwise, least, most int64) (int64, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("%s=%.40q is not a number between %d and %d", name, text, least, most)}
	}
	return n, nil
}

// query reads the parameters of a list.
func (c *call) query() (desk.Query, error) {
	given := c.r.URL.Query()
	limit, err := c.number("limit", pageRows, 1, mostRows)
	return desk.Query{
		Filter: desk.Filtered(given.Get("filter"), given["status"], given["workflow"]), Sort: given.Get("sort"), Limit: int(limit), After: given.Get("after"),
	}, err
}

// page is a reply with one page of a list, and a link to the next.
func (c *call) page(rows any, next string) (reply, error) {
	p, err := jsonReply(http.StatusOK, rows)
	if next == "" || err != nil {
		return p, err
	}
	given := c.r.URL.Query()
	given.Set("after", next)
	link := url.URL{Path: c.r.URL.Path, RawQuery: given.Encode()}
	return p.with("Link", "<"+link.String()+`>; rel="next"`), nil
}

// listThreads is GET /v1/threads.
func listThreads(c *call) (reply, error) {
	q, err := c.query()
	if err != nil {
		return reply{}, err
	}
	page, err := c.desk.Threads(c.r.Context(), q)
	if err != nil {
		return reply{}, err
	}
	return c.page(wire.Threads(page.Threads), page.Next)
}

// listQuestions is GET /v1/questions.
func listQuestions(c *call) (reply, error) {
	q, err := c.query()
	if err != nil {
		return reply{}, err
	}
	questions, next, err := c.desk.Questions(c.r.Context(), q)
	if err != nil {
		return reply{}, err
	}
	return c.page(wire.Questions(questions), next)
}

// showThread is GET /v1/threads/{id}.
func showThread(c *call) (reply, error) {
	step, err := c.number("step", -1, 0, 1<<53)
	if err != nil {
		return reply{}, err
	}
	id, err := c.whole()
	if err != nil {
		return reply{}, err
	}
	detail, err := c.desk.Open(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	state, err := c.desk.StateAt(c.r.Context(), id, step)
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.FromState(detail, state))
}

// showHistory is GET /v1/threads/{id}/history.
func showHistory(c *call) (reply, error) {
	id, err := c.whole()
	if err != nil {
		return reply{}, err
	}
	steps, err := c.desk.History(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.Steps(steps))
}

// showGraph is GET /v1/threads/{id}/graph.
func showGraph(c *call) (reply, error) {
	id, err := c.whole()
	if err != nil {
		return reply{}, err
	}
	g, err := c.desk.Graph(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.FromGraph(g))
}

// showDecisions is GET /v1/threads/{id}/decisions.
func showDecisions(c *call) (reply, error) {
	limit, err := c.number("limit", 0, 1, mostRows)
	if err != nil {
		return reply{}, err
	}
	id, err := c.whole()
	if err != nil {
		return reply{}, err
	}
	rows, err := c.desk.Decisions(c.r.Context(), id, int(limit))
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.Decisions(rows))
}

// health is GET /healthz: whether the store answers and the server takes requests.
func health(c *call) (reply, error) {
	if c.server.runs.refusing() {
		return reply{}, errShuttingDown
	}
	counts, err := c.desk.Counts(c.r.Context())
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.Health{Status: "ok", Version: c.server.o.Version, Waiting: counts[desk.Waiting], Running: counts[desk.Running]})
}
