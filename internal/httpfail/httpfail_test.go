package httpfail_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/httpfail"
)

var now = time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, retryAfter, body, want string
		status                       int
		after                        time.Duration
	}{
		{"nothing said", "", "", "404 Not Found", 404, 0},
		{"unknown status", "", "", "599", 599, 0},
		{"text", "", "no\n  such\tuser\r\n", "404 Not Found: no such user", 404, 0},
		{"seconds", "30", "", "429 Too Many Requests (asks to wait 30s)", 429, 30 * time.Second},
		{"a date", "Sun, 29 Nov 2026 18:02:00 GMT", "slow", "503 Service Unavailable (asks to wait 2m0s): slow", 503, 2 * time.Minute},
		{"an old form of a date", "Sunday, 29-Nov-26 18:00:10 GMT", "", "503 Service Unavailable (asks to wait 10s)", 503, 10 * time.Second},
		{"a past date", "Sun, 29 Nov 2026 17:00:00 GMT", "", "503 Service Unavailable", 503, 0},
		{"no time at all", "soon", "", "503 Service Unavailable", 503, 0},
		{"a negative number", "-5", "", "503 Service Unavailable", 503, 0},
		{"more than a number holds", "99999999999999999999", "", "503 Service Unavailable", 503, 0},
		{"openai", "", `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`, "429 Too Many Requests: Rate limit reached", 429, 0},
		{"anthropic", "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "529: Overloaded", 529, 0},
		{"oauth", "", `{"error":"invalid_client","error_description":"x"}`, "401 Unauthorized: invalid_client", 401, 0},
		{"problem", "", `{"type":"about:blank","title":"Out of credit","detail":"Your balance is 30"}`, "403 Forbidden: Your balance is 30", 403, 0},
		{"other JSON", "", `{"a": [1]}`, `400 Bad Request: {"a": [1]}`, 400, 0},
		{"a page", "", "<!DOCTYPE html><html><head><TITLE>\n502 Bad\nGateway</TITLE></head><body>nginx</body>", "502 Bad Gateway: 502 Bad Gateway", 502, 0},
		{"controls", "", "\x1b[2Jgone\u202e \xff", `400 Bad Request: ^[[2Jgone<U+202E> <\xff>`, 400, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp := &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.body))}
			resp.Header.Set("Retry-After", c.retryAfter)
			got := httpfail.Read(resp, now, nil)
			if got.Error() != c.want || got.After != c.after || got.Status != c.status {
				t.Errorf("got %q, %s\nwant %q, %s", got, got.After, c.want, c.after)
			}
		})
	}
}

func TestReadIsBounded(t *testing.T) {
	endless := &endlessBody{}
	got := httpfail.Read(&http.Response{StatusCode: 500, Body: endless}, now, nil)
	if n := utf8.RuneCountInString(got.Said); n != 400 || endless.read > 1<<20 {
		t.Errorf("%d characters told, %d bytes read", n, endless.read)
	}
	broken := io.NopCloser(io.MultiReader(strings.NewReader("half a sent"), iotest.ErrReader(errors.New("reset"))))
	if got := httpfail.Read(&http.Response{StatusCode: 500, Body: broken}, now, nil); got.Error() != "500 Internal Server Error" {
		t.Errorf("got %q", got)
	}
}

type endlessBody struct{ read int }

func (b *endlessBody) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	b.read += len(p)
	return len(p), nil
}

func (b *endlessBody) Close() error { return nil }

func TestSecretsAreHiddenWhereverTheTextIsCut(t *testing.T) {
	hide := func(s string) string { return strings.ReplaceAll(s, "s3cret/key", "[key]") }
	for _, body := range []string{
		strings.Repeat("x", 395) + "s3cret/key and more",
		`{"error":"` + strings.Repeat("x", 395) + `s3cret\/key and more"}`,
	} {
		if got := httpfail.Said([]byte(body), hide); strings.Contains(got, "s3") {
			t.Errorf("got %q", got)
		}
	}
}

func TestPassing(t *testing.T) {
	for status, want := range map[int]bool{400: false, 401: false, 404: false, 408: true, 409: false, 425: true, 429: true, 500: true, 503: true, 529: true} {
		if httpfail.Passing(status) != want {
			t.Errorf("%d: want %t", status, want)
		}
	}
}

func TestCauseHasNoAddress(t *testing.T) {
	reset := errors.New("connection reset")
	err := httpfail.Cause(&url.Error{Op: "Get", URL: "https://example.org/?key=s3cret", Err: reset})
	if err != reset {
		t.Errorf("got %v", err)
	}
	if httpfail.Cause(reset) != reset {
		t.Error("an error of another kind is changed")
	}
}
