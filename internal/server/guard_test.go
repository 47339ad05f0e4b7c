package server_test

import (
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/redact"
	"github.com/hitl-tui/hitl-tui/internal/server"
)

// TestTokens: who may do what, by token, address and the way a request came.
func TestTokens(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	beyond := newWorld(t, setting{address: "0.0.0.0:0"})
	resume := "/v1/threads/t-0001/resume"
	for _, test := range []struct {
		what         string
		w            *world
		token        string
		method, path string
		header       []string
		status       int
	}{
		{"no token reads on this host", w, "", "GET", "/v1/threads", nil, 200},
		{"by the name of this host", w, "", "GET", "/v1/threads", []string{"Host", "localhost:1"}, 200},
		{"by its other address", w, "", "GET", "/v1/threads", []string{"Host", "[::1]:8321"}, 200},
		{"a page whose name leads here", w, "", "GET", "/v1/threads", []string{"Host", "evil.example:8321"}, 401},
		{"a name that looks like it", w, "", "GET", "/v1/threads", []string{"Host", "127.0.0.1.evil.example"}, 401},
		{"by way of a proxy", w, "", "GET", "/v1/threads", []string{"X-Forwarded-For", "10.0.0.1"}, 401},
		{"by way of a proxy, with a token", w, reader, "GET", "/v1/threads", []string{"X-Forwarded-For", "10.0.0.1"}, 200},
		{"no token writes", w, "", "POST", resume, nil, 401},
		{"the reader's token writes", w, reader, "POST", resume, nil, 403},
		{"a wrong token reads", w, "wrong", "GET", "/v1/threads", nil, 401},
		{"half a token", w, writer[:10], "GET", "/v1/threads", nil, 401},
		{"a token and more", w, writer + "x", "GET", "/v1/threads", nil, 401},
		{"another scheme", w, "", "GET", "/v1/threads", []string{"Authorization", "Basic " + writer}, 401},
		{"the scheme in capitals", w, "", "GET", "/v1/threads", []string{"Authorization", "BEARER " + reader}, 200},
		{"two tokens", w, reader, "GET", "/v1/threads", []string{"Authorization", "Bearer " + writer}, 401},
		{"an empty one", w, "", "GET", "/v1/threads", []string{"Authorization", "Bearer "}, 401},
		{"AgentMap's key elsewhere", w, "", "POST", resume, []string{"X-API-Key", writer}, 401},
		{"AgentMap's key", w, "", "POST", "/resume/nobody", []string{"X-API-Key", writer}, 404},
		{"AgentMap's key, wrong", w, "", "POST", "/resume/nobody", []string{"X-API-Key", "wrong"}, 401},
		{"what is not there", w, "", "GET", "/nothing", nil, 404},
		{"beyond this host", beyond, "", "GET", "/v1/threads", nil, 401},
		{"beyond this host, health", beyond, "", "GET", "/healthz", nil, 401},
		{"beyond this host, metrics", beyond, "", "GET", "/metrics", nil, 401},
		{"beyond this host, the document", beyond, "", "GET", "/openapi.json", nil, 401},
		{"beyond this host, what is not there", beyond, "", "GET", "/nothing", nil, 401},
		{"beyond this host, another method", beyond, "", "OPTIONS", "/v1/threads", nil, 401},
		{"beyond this host, a reader", beyond, reader, "GET", "/healthz", nil, 200},
	} {
		a := test.w.call(test.token, test.method, test.path, "", test.header...)
		if a.status != test.status {
			t.Errorf("%s: %d, want %d\n%s", test.what, a.status, test.status, a.body)
		}
		if a.status == 401 && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: 401 without a challenge", test.what)
		}
	}
	if w.status("t-0001") != "interrupted" {
		t.Error("somebody answered")
	}
	if strings.Contains(w.log.String(), writer) || strings.Contains(w.log.String(), reader) {
		t.Errorf("a token stands in the log:\n%s", w.log)
	}
}

// TestReadersSeeSecretsMasked: those who may only read see no secrets, nor do those without a token; who may write sees all.
func TestReadersSeeSecretsMasked(t *testing.T) {
	w := newWorld(t, setting{server: server.Options{Redact: redact.Rules{}}})
	const secret = "hunter2-hunter2"
	w.start("notes", "t-0001", `{"topic":"Bearer abcdefghijklmnopqrstuvwxyz0123456789","api_key":"`+secret+`"}`)
	for path, has := range map[string]string{"/v1/threads/t-0001": secret, "/v1/questions": "abcdefghijklmnopqrstuvwxyz0123456789"} {
		if whole := w.call(writer, "GET", path, ""); !strings.Contains(string(whole.body), has) {
			t.Errorf("%s hides it from who may write: %s", path, whole.body)
		}
		for _, token := range []string{reader, ""} {
			if masked := w.call(token, "GET", path, ""); strings.Contains(string(masked.body), has) {
				t.Errorf("%s shows it to %q: %s", path, token, masked.body)
			}
		}
	}
	if strings.Contains(w.log.String(), secret) {
		t.Error("it stands in the log")
	}
}

// TestReadOnlyServer writes for nobody.
func TestReadOnlyServer(t *testing.T) {
	w := newWorld(t, setting{readOnly: true})
	w.call(writer, "POST", "/v1/runs", `{"workflow":"notes","input":{"topic":"x"}}`).want(t, 403, "unauthorised")
	w.call(writer, "GET", "/v1/threads", "").want(t, 200, "")
}

func TestTokensThatCannotBe(t *testing.T) {
	for what, o := range map[string]server.Options{
		"the same for both":   {WriteToken: "a", ReadToken: "a"},
		"a space":             {WriteToken: "a b"},
		"a line":              {ReadToken: "a\nb"},
		"beyond what is sent": {WriteToken: "schlüssel"},
	} {
		if _, err := server.New(nil, o); desk.Code(err) != desk.CodeUsage {
			t.Errorf("%s: %v", what, err)
		}
	}
}
