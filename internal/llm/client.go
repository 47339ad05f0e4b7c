package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/httpfail"
)

// maxAnswer is the number of bytes of an answer beyond which it is refused, where the client says no other.
const maxAnswer = 16 << 20

// Client asks models. The zero value works.
type Client struct {
	Transport http.RoundTripper // nil: http.DefaultTransport, which follows the usual variables for proxies
	Now       func() time.Time  // nil: time.Now
	MaxAnswer int64             // bytes of an answer, all that comes with it included; 0 is 16 MiB
}

// protocol is what differs between the wires.
type protocol interface {
	body(m Model, r *Request) any
	sign(h http.Header, key string)
	// take reads one event; done says that it was the last.
	take(data []byte, a *assembly) (done bool, err error)
	// whole reads an answer that did not come as a stream.
	whole(data []byte, a *assembly) error
}

func (m Model) protocol() (protocol, error) {
	switch m.Wire {
	case OpenAI:
		return &openAI{}, nil
	case Anthropic:
		return &anthropic{}, nil
	}
	return nil, lasting("%s speaks the wire %q, which is not known", m, m.Wire)
}

// Ask asks a model once. key is its key, "" for none; it is sent to the server and is part of no answer's error. stream,
// which may be nil, gets the text piece by piece as it comes; it must return at once.
//
// Errors are *httpfail.Error for a status that is a failure, *Failure for an answer that is none, the cause of ctx when it
// has ended, else that of the network.
func (c *Client) Ask(ctx context.Context, m Model, key string, r *Request, stream func(text string)) (*Answer, error) {
	p, err := m.protocol()
	if err != nil {
		return nil, err
	}
	key = strings.TrimSpace(key)
	a := &assembly{stream: stream, structured: r.Schema != nil, maxTokens: r.maxTokens(m)}
	if err := c.ask(ctx, p, m, key, r, a); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var failure *Failure
		if errors.As(err, &failure) {
			failure.Message = hiding(key)(failure.Message)
		}
		return nil, err
	}
	return &Answer{Text: a.text(), Usage: a.usage}, nil
}

func (c *Client) ask(ctx context.Context, p protocol, m Model, key string, r *Request, a *assembly) error {
	resp, err := c.send(ctx, p, m, key, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := c.refused(resp, m, key); err != nil {
		return err
	}
	most := cmp.Or(c.MaxAnswer, maxAnswer)
	limited := &io.LimitedReader{R: resp.Body, N: most + 1}
	err = read(bufio.NewReader(limited), resp.Header.Get("Content-Type"), p, a)
	if limited.N <= 0 {
		return lasting("the answer is longer than %d bytes", most)
	}
	return err
}

func (c *Client) send(ctx context.Context, p protocol, m Model, key string, r *Request) (*http.Response, error) {
	body, err := json.Marshal(p.body(m, r))
	if err != nil {
		return nil, lasting("the request cannot be written: %v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.Endpoint(), bytes.NewReader(body))
	if err != nil {
		return nil, lasting("url: %v", httpfail.Cause(err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "hitl-tui")
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, lasting("the key holds characters that no key has: look at %s", m.KeyEnv)
	}
	p.sign(req.Header, key)
	client := http.Client{Transport: c.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the key is for this server only
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, httpfail.Cause(err)
	}
	return resp, nil
}

// refused says why a response is no answer.
func (c *Client) refused(resp *http.Response, m Model, key string) error {
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode < 400:
		to := "elsewhere"
		if u, err := resp.Location(); err == nil {
			to = "to " + u.Scheme + "://" + u.Host
		}
		return lasting("%s leads %s (%d): configure the url at which the model answers", m.Endpoint(), to, resp.StatusCode)
	}
	now := c.Now
	if now == nil {
		now = time.Now
	}
	err := httpfail.Read(resp, now(), hiding(key))
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		if m.KeyEnv == "" {
			return fmt.Errorf("%w (no key is configured for it: key_env)", err)
		}
		return fmt.Errorf("%w (the key comes from %s)", err, m.KeyEnv)
	case http.StatusNotFound:
		return fmt.Errorf("%w (asked for %q at %s)", err, m.Model, m.Endpoint())
	}
	return err
}

// read reads an answer. Servers differ in what they call it, so that the first character says what it is.
func read(r *bufio.Reader, contentType string, p protocol, a *assembly) error {
	first, err := firstByte(r)
	switch {
	case errors.Is(err, io.EOF):
		return passing("the server sent an empty answer")
	case err != nil:
		return err
	case first == '<':
		return lasting("the server sent a web page (%s) where a model would answer: look at the url", contentType)
	case first != '{':
		return readEvents(newEventReader(r), p, a)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := p.whole(data, a); err != nil {
		return err
	}
	return a.complete()
}

func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, r.UnreadByte()
		}
	}
}

func readEvents(events *eventReader, p protocol, a *assembly) error {
	for {
		e, err := events.next()
		if errors.Is(err, io.EOF) {
			return a.complete()
		}
		if err != nil {
			return err
		}
		done, err := p.take([]byte(e.data), a)
		if err != nil {
			return err
		}
		if done {
			return a.complete()
		}
	}
}

// hiding takes a key out of texts that come from a server, which may be what it was sent.
func hiding(key string) func(string) string {
	return func(text string) string {
		if key == "" {
			return text
		}
		return strings.ReplaceAll(text, key, "[key]")
	}
}

// host is the name of the server, "" when the URL has none.
func (m Model) host() string {
	u, err := url.Parse(m.Endpoint())
	if err != nil {
		return ""
	}
	return u.Hostname()
}
