package node_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

func TestTemplate(t *testing.T) {
	call, _ := callOn(t, `{"name":"Ada"}`)
	result, err := run(t, &node.Template{Text: text(t, "Dear {{.name}}\n")}, call)
	if err != nil || result.Output.Any() != "Dear Ada\n" {
		t.Errorf("got %s, %v", result.Output.JSON(), err)
	}
	_, err = run(t, &node.Template{Text: text(t, "{{.missing}}")}, call)
	if err == nil || !strings.HasPrefix(err.Error(), ".missing is null") || !permanent(err) {
		t.Errorf("null: %v", err)
	}
}

func TestSetSeesTheLinesAbove(t *testing.T) {
	call, _ := callOn(t, `{"amount":10}`)
	n := &node.Set{Lines: []node.Named{
		{Name: "amount", Expr: expr(t, "amount + 1")},
		{Name: "text", Expr: expr(t, "amount > 10 ? 'more' : 'less'")},
		{Name: "list", Expr: literal(`[]`)},
		{Name: "draft", Expr: expr(t, "now()")},
	}}
	result, err := run(t, n, call)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"amount": "11", "text": `"more"`, "list": "[]", "draft": `"2026-11-29T18:00:00Z"`} {
		if got := string(result.Updates[key].JSON()); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
	if len(result.Updates) != 4 || !result.Output.IsNull() {
		t.Errorf("got %+v", result)
	}
	if v, _ := call.Scope.Lookup("amount"); v.Any() != 10 {
		t.Error("the state itself was changed")
	}
	n.Lines = append(n.Lines, node.Named{Name: "name", Expr: expr(t, "missing + 1")})
	if _, err := run(t, n, call); err == nil || !strings.HasPrefix(err.Error(), "set.name: missing + 1: ") || !permanent(err) {
		t.Errorf("got %v", err)
	}
}

func TestFail(t *testing.T) {
	call, _ := callOn(t, `{"name":"v1"}`)
	_, err := run(t, &node.Fail{Message: text(t, "Nothing after {{.name}}.")}, call)
	if err == nil || err.Error() != "Nothing after v1." || !permanent(err) {
		t.Errorf("got %v", err)
	}
}

func TestWait(t *testing.T) {
	for _, c := range []struct {
		n     node.Wait
		slept time.Duration
		wake  time.Duration // from start
		err   string
	}{
		{node.Wait{For: 30 * time.Second}, 30 * time.Second, 0, ""},
		{node.Wait{For: time.Minute}, time.Minute, 0, ""},
		{node.Wait{For: 61 * time.Second}, 0, 61 * time.Second, ""},
		{node.Wait{Until: expr(t, "'2026-11-29T18:00:20Z'")}, 20 * time.Second, 0, ""},
		{node.Wait{Until: expr(t, "'2026-11-29T20:00:00+01:00'")}, 0, time.Hour, ""},
		{node.Wait{Until: expr(t, "now() + duration('2h')")}, 0, 2 * time.Hour, ""},
		{node.Wait{Until: expr(t, "'2020-01-01T00:00:00Z'")}, 0, 0, ""},
		{node.Wait{Until: expr(t, "'tomorrow'")}, 0, 0, `wait.until: "tomorrow" is no time like 2026-11-29T18:00:00Z (RFC 3339, with a zone)`},
		{node.Wait{Until: expr(t, "missing")}, 0, 0, "wait.until: null is no time: give a text like 2026-11-29T18:00:00Z"},
	} {
		call, _ := callOn(t, `{}`)
		var slept time.Duration
		call.Sleep = func(_ context.Context, d time.Duration) error { slept += d; return nil }
		result, err := run(t, &c.n, call)
		if c.err != "" {
			if err == nil || err.Error() != c.err || !permanent(err) {
				t.Errorf("got %v, want %s", err, c.err)
			}
			continue
		}
		var wake time.Duration
		if !result.WakeAt.IsZero() {
			wake = result.WakeAt.Sub(start)
		}
		if err != nil || slept != c.slept || wake != c.wake {
			t.Errorf("%+v: slept %v, wake after %v, %v", c, slept, wake, err)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	call, _ := callOn(t, `{}`)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errStop)
	if _, err := (&node.Wait{For: time.Minute}).Run(ctx, call); !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
}

var _ = []engine.Runner{&node.Exec{}, &node.Shell{}, &node.Template{}, &node.Set{}, &node.Human{}, &node.Wait{}, &node.Fail{}}
