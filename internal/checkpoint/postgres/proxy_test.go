package postgres_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
)

// proxy stands between a store and the server and cuts connections where it is told to.
type proxy struct {
	t      *testing.T
	server string
	listen net.Listener

	mu    sync.Mutex
	cut   cut
	times int // how often yet
	conns map[net.Conn]struct{}
	away  bool
	mute  bool // what is sent is swallowed
	done  sync.WaitGroup
}

// cut says when a connection is to be cut.
type cut int

const (
	never        cut = iota
	beforeCommit     // the COMMIT does not reach the server
	afterCommit      // the server has carried it out, its answer does not reach the store
)

// through starts a proxy to the server of a URL and gives the URL that leads through it. Statements are sent with their
// text each time, so that the proxy can read it.
func through(t *testing.T, raw string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, server: u.Host, listen: listen, conns: make(map[net.Conn]struct{})}
	p.done.Go(p.accept)
	t.Cleanup(func() {
		listen.Close()
		p.drop()
		p.done.Wait()
	})
	u.Host = listen.Addr().String()
	return p, servers.With(t, u.String(), "default_query_exec_mode", "exec")
}

// arm has the next connections cut that send a COMMIT, so many times.
func (p *proxy) arm(c cut, times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.times = c, times
}

// left is how many cuts are still to come.
func (p *proxy) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.times
}

// setAway drops all connections and, while away, each new one.
func (p *proxy) setAway(away bool) {
	p.mu.Lock()
	p.away = away
	p.mu.Unlock()
	if away {
		p.drop()
	}
}

// setSilent has the server seem to take what is sent and to say nothing, and drops what was sent meanwhile.
func (p *proxy) setSilent(silent bool) {
	p.mu.Lock()
	p.mute = silent
	p.mu.Unlock()
	if !silent {
		p.drop()
	}
}

func (p *proxy) silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mute
}

func (p *proxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			p.t.Error(err)
			client.Close()
			return
		}
		p.mu.Lock()
		away := p.away
		p.conns[client], p.conns[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		if away {
			client.Close()
			server.Close()
			continue
		}
		l := &link{p: p, client: client, server: server}
		p.done.Go(l.requests)
		p.done.Go(l.answers)
	}
}

// link is one connection through the proxy.
type link struct {
	p              *proxy
	client, server net.Conn

	mu     sync.Mutex
	silent bool // the answer to a COMMIT is awaited, and kept
}

func (l *link) close() {
	l.client.Close()
	l.server.Close()
}

// requests passes on what the store sends.
func (l *link) requests() {
	defer l.close()
	buf := make([]byte, 1<<20)
	for {
		n, err := l.client.Read(buf)
		if err != nil {
			return
		}
		if l.p.silent() {
			continue
		}
		if bytes.Contains(buf[:n], []byte("COMMIT\x00")) {
			switch l.take() {
			case beforeCommit:
				return
			case afterCommit:
				l.mu.Lock()
				l.silent = true
				l.mu.Unlock()
			case never:
			}
		}
		if _, err := l.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// take uses up one of the cuts the proxy is armed with.
func (l *link) take() cut {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if l.p.times == 0 {
		return never
	}
	l.p.times--
	return l.p.cut
}

// answers passes on what the server sends, but cuts once it has answered a COMMIT that is to be kept.
func (l *link) answers() {
	defer l.close()
	buf := make([]byte, 1<<20)
	var kept bytes.Buffer
	for {
		n, err := l.server.Read(buf)
		if err != nil {
			return
		}
		l.mu.Lock()
		silent := l.silent
		l.mu.Unlock()
		if silent {
			kept.Write(buf[:n])
			if bytes.Contains(kept.Bytes(), []byte("COMMIT\x00")) {
				return
			}
			continue
		}
		if _, err := io.Copy(l.client, bytes.NewReader(buf[:n])); err != nil {
			return
		}
	}
}
