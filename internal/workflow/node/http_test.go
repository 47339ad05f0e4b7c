package node_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// serve is a server on the loopback and a transport to it, both gone with the test.
func serve(t *testing.T, handle http.HandlerFunc) (string, *http.Transport) {
	t.Helper()
	server, transport := httptest.NewServer(handle), &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return server.URL, transport
}

// secret parses a template that may read the environment, which holds NAME=s3cret-value.
func secret(t *testing.T, s *node.Secrets, source string) *lang.Template {
	t.Helper()
	s.Getenv = func(string) (string, bool) { return "s3cret-value", true }
	names := names
	names.Getenv = s.Lookup
	tmpl, faults := lang.ParseTemplate(source, names)
	if len(faults) > 0 {
		t.Fatalf("%s: %v", source, faults)
	}
	return tmpl
}

func TestHTTPSends(t *testing.T) {
	var got, body string
	url, transport := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		got = fmt.Sprintf("%s %s [%s] [%s] [%s]", r.Method, r.URL, r.Header.Get("Content-Type"), r.Header.Get("Idempotency-Key"), r.Header.Get("X-Name"))
		w.WriteHeader(201)
	})
	named := func(name, source string) []node.NamedText {
		return []node.NamedText{{Name: name, Text: text(t, source)}}
	}
	for _, c := range []struct {
		n          node.HTTP
		want, body string
	}{
		{node.HTTP{URL: text(t, url+"/a b")}, "GET /a%20b [] [] []", ""},
		{node.HTTP{URL: text(t, " "+url+"/{{.name}}?x=1&x=2\n"), Query: append(named("q", "{{.text}}"), named("n", "1")...)},
			"GET /Ada?x=1&x=2&q=a%26b%3D%C3%BC+%2F&n=1 [] [] []", ""},
		{node.HTTP{URL: text(t, url), Method: "HEAD"}, "HEAD / [] [] []", ""},
		{node.HTTP{URL: text(t, url), Method: "DELETE"}, "DELETE / [] [key] []", ""},
		{node.HTTP{URL: text(t, url), Method: "POST", JSON: expr(t, "{a: list, b: name}")}, "POST / [application/json] [key] []", `{"a":[1],"b":"Ada"}`},
		{node.HTTP{URL: text(t, url), Method: "PUT", Body: text(t, "Dear {{.name}}")}, "PUT / [text/plain; charset=utf-8] [key] []", "Dear Ada"},
		{node.HTTP{URL: text(t, url), Method: "PATCH", Body: text(t, "x"), Headers: append(named("content-type", "text/x"), named("X-Name", " {{.name}}\n")...)},
			"PATCH / [text/x] [key] [Ada]", "x"},
		{node.HTTP{URL: text(t, url), Method: "POST", Headers: named("Idempotency-Key", "mine")}, "POST / [] [mine] []", ""},
	} {
		c.n.Transport = transport
		call, _ := callOn(t, `{"name":"Ada","text":"a&b=ü /","list":[1]}`)
		result, err := run(t, &c.n, call)
		if err != nil || result.Route != "201" || got != c.want || body != c.body {
			t.Errorf("got %s %q, route %s, %v\nwant %s %q", got, body, result.Route, err, c.want, c.body)
		}
	}
}

func TestHTTPReads(t *testing.T) {
	for _, c := range []struct {
		name, contentType, body string
		status                  int
		n                       node.HTTP
		want                    string // JSON, or an error after "!"
		permanent               bool
	}{
		{"text", "text/plain", "hello\n", 200, node.HTTP{}, `"hello"`, false},
		{"no content type", "", `{"a":1}`, 200, node.HTTP{}, `"{\"a\":1}"`, false},
		{"JSON", "application/json; charset=utf-8", `{"a": 1}`, 200, node.HTTP{}, `{"a":1}`, false},
		{"a kind of JSON", "application/problem+json", `[1]`, 200, node.HTTP{}, `[1]`, false},
		{"text by order", "application/json", `{"a": 1}`, 200, node.HTTP{Parse: node.ParseText}, `"{\"a\": 1}"`, false},
		{"JSON by order", "text/html", `{"a": 1}`, 200, node.HTTP{Parse: node.ParseJSON}, `{"a":1}`, false},
		{"CSV", "text/csv", "a\n1\n", 200, node.HTTP{Parse: node.ParseCSV}, `[{"a":"1"}]`, false},
		{"nothing", "", "", 204, node.HTTP{}, `""`, false},
		{"nothing of JSON", "application/json", "", 200, node.HTTP{}, `""`, false},
		{"nothing where JSON is due", "application/json", "", 200, node.HTTP{Parse: node.ParseJSON}, "!200, but the answer is empty, where one JSON value is expected", true},
		{"no JSON", "application/json", "<html>", 200, node.HTTP{}, `!200, but the answer is not one JSON value: invalid character '<' looking for beginning of value, at byte 0: "<html>"`, true},
		{"no text", "image/png", "\x89PNG", 200, node.HTTP{}, "!200, but the answer is not UTF-8 text (byte 0x89 at offset 0); let the sender encode it, with base64 for example", true},
		{"just small enough", "", "12345", 200, node.HTTP{OutputLimit: 5}, `"12345"`, false},
		{"too large", "", "123456", 200, node.HTTP{OutputLimit: 5}, "!the answer is longer than output_limit (5 bytes)", true},
		{"not found", "application/json", `{"message":"no such user"}`, 404, node.HTTP{}, "!404 Not Found: no such user", true},
		{"not found and accepted", "", "none", 404, node.HTTP{Accept: []int{404}}, `"none"`, false},
		{"broken", "", "oops", 500, node.HTTP{}, "!500 Internal Server Error: oops", false},
		{"broken and accepted", "", "oops", 500, node.HTTP{Accept: []int{500}}, `"oops"`, false},
		{"too early", "", "", 425, node.HTTP{}, "!425 Too Early", false},
		{"a redirect to nowhere", "", "", 304, node.HTTP{}, "!304 Not Modified", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, transport := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if c.contentType != "" {
					w.Header().Set("Content-Type", c.contentType)
				}
				w.WriteHeader(c.status)
				if c.status != 204 && c.status != 304 {
					_, _ = io.WriteString(w, c.body)
				}
			})
			c.n.URL, c.n.Transport = text(t, url+"/path?q=1"), transport
			call, _ := callOn(t, `{}`)
			result, err := run(t, &c.n, call)
			if want, fails := strings.CutPrefix(c.want, "!"); fails {
				want = "GET " + url + "/path: " + want
				if err == nil || err.Error() != want || permanent(err) != c.permanent {
					t.Errorf("got %v (permanent: %t)\nwant %s (%t)", err, permanent(err), want, c.permanent)
				}
				return
			}
			if got := string(result.Output.JSON()); err != nil || got != c.want || result.Route != fmt.Sprint(c.status) {
				t.Errorf("got %s, route %s, %v; want %s", got, result.Route, err, c.want)
			}
		})
	}
}

// TestHTTPFaultsBeforeTheRequest: what is wrong with the state is told, and no retry mends it.
func TestHTTPFaultsBeforeTheRequest(t *testing.T) {
	named := func(name, source string) []node.NamedText {
		return []node.NamedText{{Name: name, Text: text(t, source)}}
	}
	for want, n := range map[string]node.HTTP{
		"http: .missing is null":                  {URL: text(t, "http://x/{{.missing}}")},
		`http: "Ada" is no address such as`:       {URL: text(t, "{{.name}}")},
		`http: "file:///etc" is no address`:       {URL: text(t, "file:///etc")},
		"query.q: .missing is null":               {URL: text(t, "http://x"), Query: named("q", "{{.missing}}")},
		"headers.X: .missing is null":             {URL: text(t, "http://x"), Headers: named("X", "{{.missing}}")},
		"headers.X: a header is one line":         {URL: text(t, "http://x"), Headers: named("X", "a\r\nEvil: 1")},
		"json: missing is null":                   {URL: text(t, "http://x"), Method: "POST", JSON: expr(t, "missing")},
		"body: .missing is null":                  {URL: text(t, "http://x"), Method: "POST", Body: text(t, "{{.missing}}")},
		`http: "http://x\x7f" is no address such`: {URL: text(t, "http://x\x7f")},
	} {
		n.Transport = refusing{t}
		call, _ := callOn(t, `{"name":"Ada"}`)
		if _, err := run(t, &n, call); err == nil || !strings.HasPrefix(err.Error(), want) || !permanent(err) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// refusing is a transport that must not be used.
type refusing struct{ t *testing.T }

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("%s was called", req.URL)
	return nil, errors.New("refused")
}

// TestSecretsStayOutOfErrors: whatever of the environment was sent, no error tells it, not even when the server does.
func TestSecretsStayOutOfErrors(t *testing.T) {
	url, transport := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "you sent "+r.Header.Get("Authorization")+" and "+r.URL.String(), 400)
	})
	for name, c := range map[string]struct{ url, want string }{
		"echo":       {url + `/hook/{{env "X"}}?key={{env "X"}}`, `GET ` + url + `/hook/{{env "X"}}?key={{env "X"}}: 400 Bad Request: you sent Bearer [env] and /hook/[env]?key=[env]`},
		"no address": {`{{env "X"}}`, `http: "{{env \"X\"}}" is no address such as https://example.org/path`},
		"no host":    {`http://{{env "X"}}.invalid/`, `GET http://{{env "X"}}.invalid/: `},
		"no server":  {`http://127.0.0.1:1/{{env "X"}}`, `GET http://127.0.0.1:1/{{env "X"}}: dial tcp 127.0.0.1:1: `},
	} {
		t.Run(name, func(t *testing.T) {
			secrets := &node.Secrets{}
			n := &node.HTTP{URL: secret(t, secrets, c.url), Secrets: secrets, Transport: transport}
			n.Headers = []node.NamedText{{Name: "Authorization", Text: secret(t, secrets, `Bearer {{env "X"}}`)}}
			call, _ := callOn(t, `{}`)
			_, err := run(t, n, call)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestSecretsAreHiddenInEachFormInWhichTheyAreSent: without the line end that a file left in the variable, and escaped in
// an address; and a failure that no retry mends stays one.
func TestSecretsAreHiddenInEachFormInWhichTheyAreSent(t *testing.T) {
	address, transport := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/header":
			http.Error(w, "token "+r.Header.Get("X-Token")+" is unknown", 403)
		case "/loop":
			http.Redirect(w, r, "/loop", 302)
		default:
			http.Error(w, "no such page: "+r.URL.String()+" and "+r.URL.Path, 404)
		}
	})
	for _, c := range []struct{ name, value, url, header, want string }{
		{"a line end", "s3cret\n", address + "/header", `{{env "X"}}`, "403 Forbidden: token [env] is unknown"},
		{"spaces", " s3cret  ", address + "/header", `a{{env "X"}}b`, "403 Forbidden: token a [env] b is unknown"},
		{"in a path", "s3c ret/ü", address + `/x/{{env "X"}}`, "", "404 Not Found: no such page: /x/[env] and /x/[env]"},
		{"in a query", "s3c-ret+/=", address + `/x?key={{env "X"}}`, "", "404 Not Found: no such page: /x?key=[env] and /x"},
		{"the host", strings.TrimPrefix(address, "http://"), `http://{{env "X"}}/loop`, "", "more than 10 redirects, the last to [env]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			secrets := &node.Secrets{}
			n := &node.HTTP{URL: secret(t, secrets, c.url), Secrets: secrets, Transport: transport}
			n.Headers = []node.NamedText{{Name: "X-Token", Text: secret(t, secrets, c.header)}}
			secrets.Getenv = func(string) (string, bool) { return c.value, true }
			call, _ := callOn(t, `{}`)
			if _, err := run(t, n, call); err == nil || !strings.HasSuffix(err.Error(), c.want) || !permanent(err) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	var heard http.Header
	other, transport := serve(t, func(w http.ResponseWriter, r *http.Request) {
		heard = r.Header
		_, _ = io.WriteString(w, r.Method+" elsewhere")
	})
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		heard = r.Header
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/end", 302)
		case "/there":
			http.Redirect(w, r, other+"/end", 307)
		case "/loop":
			http.Redirect(w, r, "/loop", 302)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", 302)
		default:
			_, _ = io.WriteString(w, r.Method+" "+r.URL.Path)
		}
	})
	for path, c := range map[string]struct {
		accept []int
		want   string // output, or an error after "!"
		route  string
		sent   []string // of the headers given
	}{
		"/here":  {nil, "GET /end", "200", []string{"Accept", "Authorization", "X-Api-Key"}},
		"/there": {nil, "GET elsewhere", "200", []string{"Accept"}},
		"/loop":  {nil, "!more than 10 redirects, the last to 127.0.0.1", "", nil},
		"/file":  {nil, `!a redirect leads to an address of the scheme "file"`, "", nil},
		"/end":   {nil, "GET /end", "200", []string{"Accept", "Authorization", "X-Api-Key"}},
	} {
		n := &node.HTTP{URL: text(t, url+path+"?key=1"), Accept: c.accept, Transport: transport}
		for _, h := range []string{"accept", "authorization", "x-api-key"} {
			n.Headers = append(n.Headers, node.NamedText{Name: h, Text: text(t, "v")})
		}
		heard = nil
		call, _ := callOn(t, `{}`)
		result, err := run(t, n, call)
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), want) || !permanent(err) {
				t.Errorf("%s: got %v, want %s", path, err, want)
			}
			continue
		}
		var sent []string
		for _, h := range []string{"Accept", "Authorization", "X-Api-Key"} {
			if heard.Get(h) != "" {
				sent = append(sent, h)
			}
		}
		if path == "/there" && heard.Get("Referer") != "" {
			t.Errorf("another server is told %s", heard.Get("Referer"))
		}
		if diff := cmp.Diff(c.sent, sent); err != nil || result.Output.Any() != c.want || result.Route != c.route || diff != "" {
			t.Errorf("%s: got %s, route %s, %v; headers (-want +got)\n%s", path, result.Output.JSON(), result.Route, err, diff)
		}
	}
	n := &node.HTTP{URL: text(t, url+"/there"), Accept: []int{307}, Transport: transport}
	call, _ := callOn(t, `{}`)
	if result, err := run(t, n, call); err != nil || result.Route != "307" {
		t.Errorf("an accepted redirect: %+v, %v", result, err)
	}
}

// TestABodyIsBoundedAsItIsUnpacked: a small answer can hold a large one.
func TestABodyIsBoundedAsItIsUnpacked(t *testing.T) {
	size := 1 << 10
	url, transport := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		z := gzip.NewWriter(w)
		defer z.Close()
		_, _ = io.WriteString(z, strings.Repeat("0", size))
	})
	n := &node.HTTP{URL: text(t, url), OutputLimit: 1 << 20, Transport: transport}
	call, _ := callOn(t, `{}`)
	if result, err := run(t, n, call); err != nil || len(result.Output.Any().(string)) != size {
		t.Errorf("%v", err)
	}
	size = 8 << 20
	if _, err := run(t, n, call); err == nil || !strings.Contains(err.Error(), "longer than output_limit") {
		t.Errorf("%v", err)
	}
}

// TestTheNetworkFails: it may be back by the next attempt.
func TestTheNetworkFails(t *testing.T) {
	url, transport := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if r.URL.Path == "/reset" {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		_ = conn.Close()
	})
	for _, address := range []string{url + "/cut", url + "/reset", "http://127.0.0.1:1/"} {
		n := &node.HTTP{URL: text(t, address), Transport: transport}
		call, _ := callOn(t, `{}`)
		_, err := run(t, n, call)
		if err == nil || permanent(err) || !strings.HasPrefix(err.Error(), "GET "+address+": ") {
			t.Errorf("%s: %v (permanent: %t)", address, err, permanent(err))
		}
	}
}

// TestARequestEndsWithItsContext: while an answer is awaited, and in the midst of it.
func TestARequestEndsWithItsContext(t *testing.T) {
	for _, begun := range []bool{false, true} {
		reached, gone := make(chan struct{}), make(chan struct{})
		url, transport := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if begun {
				_, _ = io.WriteString(w, "half")
				w.(http.Flusher).Flush()
			}
			close(reached)
			<-r.Context().Done()
			close(gone)
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { <-reached; cancel(errStop) }()
		call, _ := callOn(t, `{}`)
		_, err := (&node.HTTP{URL: text(t, url), Transport: transport}).Run(ctx, call)
		if !errors.Is(err, errStop) || err.Error() != "GET "+url+": "+errStop.Error() {
			t.Errorf("got %v", err)
		}
		<-gone
	}
}

// TestTheNextAttempt: the pause that a server asks for is kept, on the engine's clock.
func TestTheNextAttempt(t *testing.T) {
	var attempts int
	var keys []string
	url, transport := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch attempts++; attempts {
		case 1:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(429)
		case 2:
			w.Header().Set("Retry-After", start.Add(90*time.Second).Format(http.TimeFormat))
			w.WriteHeader(503)
		case 3:
			w.WriteHeader(502)
		}
	})
	var slept []time.Duration
	e := engine.New(nil, engine.Options{
		Now:   func() time.Time { return start },
		Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil },
	})
	g := &engine.Graph{Name: "t", Start: []string{"a"}, Nodes: []*engine.Node{{
		Name: "a", Runner: &node.HTTP{URL: text(t, url), Method: "POST", Transport: transport},
		Retry: engine.RetryPolicy{MaxAttempts: 4, InitialDelay: time.Second, Backoff: 1, MaxDelay: time.Minute},
	}}}
	out, err := e.Start(t.Context(), engine.StartRequest{Graph: g})
	if err != nil || out.Error != nil {
		t.Fatalf("%+v, %v", out, err)
	}
	if diff := cmp.Diff([]time.Duration{7 * time.Second, 90 * time.Second, time.Second}, slept); diff != "" {
		t.Errorf("pauses (-want +got)\n%s", diff)
	}
	if keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[3] {
		t.Errorf("keys %q", keys)
	}
}
