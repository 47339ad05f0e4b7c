package node

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/httpfail"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// maxRedirects is how many redirects are followed.
const maxRedirects = 10

// HTTP sends a request. The body of the answer is the output, its status the route.
type HTTP struct {
	Method      string // "" is GET
	URL         *lang.Template
	Query       []NamedText // added to that of the URL
	Headers     []NamedText
	JSON        *lang.Expr     // body; nil: Body
	Body        *lang.Template // nil: none
	Accept      []int          // further statuses that are no failure; redirects among them are not followed
	Parse       Parse          // "": JSON where the content type says so, else text
	OutputLimit int64          // bytes, unpacked; 0 is 16 MiB
	Secrets     *Secrets
	Transport   http.RoundTripper // nil: http.DefaultTransport, which follows the usual variables for proxies
}

// Run implements engine.Runner.
func (n *HTTP) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	scope := newScope(call)
	req, called, err := n.request(ctx, call, scope)
	if err != nil {
		return engine.Result{}, engine.Permanent(err)
	}
	result, err := n.exchange(req, scope)
	if err != nil {
		return engine.Result{}, exchangeError(ctx, called, err)
	}
	return result, nil
}

func (n *HTTP) exchange(req *http.Request, scope *callScope) (engine.Result, error) {
	client := http.Client{Transport: n.Transport, CheckRedirect: n.redirect}
	resp, err := client.Do(req)
	if err != nil {
		return engine.Result{}, n.quiet(httpfail.Cause(err))
	}
	defer resp.Body.Close()
	if !n.accepts(resp.StatusCode) {
		return engine.Result{}, httpfail.Read(resp, scope.Now(), n.Secrets.Hide)
	}
	limit := cmp.Or(n.OutputLimit, defaultOutputLimit)
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return engine.Result{}, n.quiet(fmt.Errorf("the answer broke off: %w", err))
	case int64(len(body)) > limit:
		return engine.Result{}, engine.Permanent(fmt.Errorf("the answer is longer than output_limit (%d bytes)", limit))
	}
	output, err := n.parse(resp.Header.Get("Content-Type"), body)
	if err != nil {
		return engine.Result{}, engine.Permanent(n.quiet(fmt.Errorf("%d, but the answer %w", resp.StatusCode, err)))
	}
	return engine.Result{Output: output, Route: strconv.Itoa(resp.StatusCode)}, nil
}

// quiet takes secrets out of an error, which may name the host that was called or show what it sent back.
func (n *HTTP) quiet(err error) error {
	if text := err.Error(); n.Secrets.Hide(text) != text {
		return errors.New(n.Secrets.Hide(text))
	}
	return err
}

func (n *HTTP) accepts(status int) bool {
	return status >= 200 && status < 300 || slices.Contains(n.Accept, status)
}

// parse reads the body as the file says, else as the server says. No body at all is the empty text.
func (n *HTTP) parse(contentType string, body []byte) (engine.Value, error) {
	if n.Parse != "" {
		return parse(n.Parse, body)
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err == nil && len(body) > 0 && (media == "application/json" || strings.HasSuffix(media, "+json")) {
		return parse(ParseJSON, body)
	}
	return parse(ParseText, body)
}

// usesEnv finds templates whose text holds a secret.
var usesEnv = regexp.MustCompile(`\benv\b`)

// request makes the request, and the name by which errors call it: the address without its query, and where it takes
// something from the environment as it is written in the file.
func (n *HTTP) request(ctx context.Context, call *engine.Call, scope *callScope) (*http.Request, string, error) {
	text, err := scope.render("http", n.URL)
	if err != nil {
		return nil, "", err
	}
	method := cmp.Or(n.Method, http.MethodGet)
	address, err := url.Parse(strings.TrimSpace(text))
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return nil, "", fmt.Errorf("http: %q is no address such as https://example.org/path", n.told(text))
	}
	called := method + " " + (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String()
	if usesEnv.MatchString(n.URL.Source()) {
		called = method + " " + n.URL.Source()
	}
	if err := n.query(scope, address); err != nil {
		return nil, "", err
	}
	body, contentType, err := n.body(scope)
	if err != nil {
		return nil, "", err
	}
	req, err := http.NewRequestWithContext(ctx, method, address.String(), body)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", called, n.quiet(httpfail.Cause(err)))
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("User-Agent", "hitl-tui")
	if method != http.MethodGet && method != http.MethodHead {
		req.Header.Set("Idempotency-Key", call.IdempotencyKey)
	}
	return req, called, n.head(scope, req)
}

// told is the text of the URL as an error may show it.
func (n *HTTP) told(text string) string {
	if usesEnv.MatchString(n.URL.Source()) {
		return n.URL.Source()
	}
	return text
}

// query adds to the query of an address. What stands there already stays as it is written.
func (n *HTTP) query(scope *callScope, address *url.URL) error {
	for _, q := range n.Query {
		value, err := scope.render("query."+q.Name, q.Text)
		if err != nil {
			return err
		}
		if address.RawQuery != "" {
			address.RawQuery += "&"
		}
		address.RawQuery += url.QueryEscape(q.Name) + "=" + url.QueryEscape(value)
	}
	return nil
}

func (n *HTTP) body(scope *callScope) (io.Reader, string, error) {
	switch {
	case n.JSON != nil:
		v, err := scope.eval("json", n.JSON)
		if err != nil {
			return nil, "", err
		}
		if v.IsNull() {
			return nil, "", fmt.Errorf("json: %s is null", n.JSON.Source())
		}
		return bytes.NewReader(v.JSON()), "application/json", nil
	case n.Body != nil:
		text, err := scope.render("body", n.Body)
		return strings.NewReader(text), "text/plain; charset=utf-8", err
	}
	return nil, "", nil
}

func (n *HTTP) head(scope *callScope, req *http.Request) error {
	for _, h := range n.Headers {
		value, err := scope.render("headers."+h.Name, h.Text)
		if err != nil {
			return err
		}
		value = strings.TrimSpace(value)
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return fmt.Errorf("headers.%s: a header is one line without control characters", h.Name)
		}
		req.Header.Set(h.Name, value)
		if strings.EqualFold(h.Name, "Host") {
			req.Host = value
		}
	}
	return nil
}

// harmless are headers of the file that another server than the one it names may see.
var harmless = []string{"Accept", "Accept-Language", "Content-Type", "User-Agent"}

// redirect says whether a redirect is followed. What the file says in headers is for the server it names: no other gets
// more than the harmless ones, be a header called Authorization or not, and none is told from where it was called.
func (n *HTTP) redirect(req *http.Request, via []*http.Request) error {
	if slices.Contains(n.Accept, req.Response.StatusCode) {
		return http.ErrUseLastResponse
	}
	if len(via) > maxRedirects {
		return engine.Permanent(n.quiet(fmt.Errorf("more than %d redirects, the last to %s", maxRedirects, req.URL.Host)))
	}
	first := via[0].URL
	if first.Scheme == req.URL.Scheme && first.Host == req.URL.Host {
		return nil
	}
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return engine.Permanent(n.quiet(fmt.Errorf("a redirect leads to an address of the scheme %q", req.URL.Scheme)))
	}
	req.Header.Del("Referer")
	for name := range req.Header {
		given := slices.ContainsFunc(n.Headers, func(h NamedText) bool { return strings.EqualFold(h.Name, name) })
		if given && !slices.Contains(harmless, name) {
			req.Header.Del(name)
		}
	}
	return nil
}
