package redis_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

// server is a redis-server of the test's own.
type server struct {
	t    *testing.T
	port string
	args []string
	cmd  *exec.Cmd
}

// startServer starts a redis-server with what it keeps in a folder of the test.
func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		missing(t, "no redis-server: %v", err)
	}
	port := freePort(t)
	s := &server{t: t, port: port, args: append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}, args...)}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// freePort finds a port that nobody uses.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", s.args...)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("redis-server does not answer: %v", err)
		}
		time.Sleep(5 * time.Millisecond) // another process has no channel to wait on
	}
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func (s *server) url() string { return "redis://127.0.0.1:" + s.port }

func TestRefusedServers(t *testing.T) {
	free := startServer(t)
	for name, c := range map[string]struct {
		args []string
		url  func(port string) string
		want string
		is   error
	}{
		"cluster":        {args: []string{"--cluster-enabled", "yes"}, want: "Redis Cluster"},
		"evicting":       {args: []string{"--maxmemory-policy", "allkeys-lru"}, want: `maxmemory-policy is "allkeys-lru"`},
		"evicting some":  {args: []string{"--maxmemory-policy", "volatile-ttl"}, want: "set it to noeviction"},
		"replica":        {args: []string{"--replicaof", "127.0.0.1 " + free.port}, want: "name its master, 127.0.0.1:" + free.port, is: checkpoint.ErrReadOnly},
		"no password":    {args: []string{"--requirepass", "secret"}, want: "wants a password"},
		"wrong password": {args: []string{"--requirepass", "right"}, url: func(port string) string { return "redis://:secret@127.0.0.1:" + port }, want: "user or password is wrong"},
		"no such db":     {url: func(port string) string { return "redis://127.0.0.1:" + port + "/99" }, want: "out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			url := startServer(t, c.args...).url()
			if c.url != nil {
				url = c.url(strings.TrimPrefix(url, "redis://127.0.0.1:"))
			}
			s, err := redis.Open(t.Context(), url, redis.Options{})
			if s != nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Fatalf("error %v, want one with %q and no secret", err, c.want)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v is not %v", err, c.is)
			}
		})
	}
}

func TestNoServer(t *testing.T) {
	started := time.Now()
	_, err := redis.Open(t.Context(), "redis://:secret@127.0.0.1:1", redis.Options{BusyTimeout: time.Hour})
	if err == nil || !strings.Contains(err.Error(), "redis://127.0.0.1:1: dial") || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v after %s", err, time.Since(started))
	}
}

func TestWarnings(t *testing.T) {
	for want, args := range map[string][]string{
		"keeps no append-only file":             nil,
		`syncs its append-only file "everysec"`: {"--appendonly", "yes"},
		"":                                      {"--appendonly", "yes", "--appendfsync", "always"},
		`syncs its append-only file "no", so a p`: {"--appendonly", "yes", "--appendfsync", "no"},
	} {
		s := open(t, startServer(t, args...).url(), redis.Options{})
		if got := strings.Join(s.Warnings(), "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%v: warnings %q, want %q", args, got, want)
		}
	}
}

func TestPassword(t *testing.T) {
	srv := startServer(t, "--requirepass", "se/cr:et")
	s := open(t, "redis://:se%2Fcr%3Aet@127.0.0.1:"+srv.port+"/3?prefix=a%20b", redis.Options{})
	if got, want := s.URL(), "redis://127.0.0.1:"+srv.port+"/3?prefix=a+b"; got != want {
		t.Errorf("URL %s, want %s", got, want)
	}
	commit(t, s, first("t"))
	c := client(t, "redis://:se%2Fcr%3Aet@127.0.0.1:"+srv.port+"/3")
	if n := c.Exists(t.Context(), "a bthread:t").Val(); n != 1 {
		t.Error("the thread is not where database and prefix say")
	}
}

// TestPermissions refuses a user who may do only some of what a write consists of, before anything is written.
func TestPermissions(t *testing.T) {
	srv := startServer(t)
	raw := client(t, srv.url())
	for name, c := range map[string]struct {
		rules []any
		want  string
	}{
		"a command":  {[]any{"~hitl:*", "&*", "+@all", "-zrem", "-unlink"}, "may not use ZREM, UNLINK"},
		"other keys": {[]any{"~other:*", "&*", "+@all"}, "may not"},
		"reading":    {[]any{"%R~hitl:*", "&*", "+@all"}, "may not use HSET, "},
	} {
		user := strings.ReplaceAll(name, " ", "-")
		if err := raw.Do(t.Context(), append([]any{"ACL", "SETUSER", user, "on", ">secret"}, c.rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
		s, err := redis.Open(t.Context(), "redis://"+user+":secret@127.0.0.1:"+srv.port, redis.Options{})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	if n := raw.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys were written", n)
	}
	open(t, srv.url(), redis.Options{})
	if err := raw.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">secret", "%R~hitl:*", "&*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	r := open(t, "redis://reader:secret@127.0.0.1:"+srv.port, redis.Options{ReadOnly: true})
	if _, err := r.Threads(t.Context(), checkpoint.Query{}); err != nil {
		t.Errorf("a reader: %v", err)
	}
}

// TestTLS connects to a server that speaks TLS alone, and not to one whose certificate nobody vouches for.
func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: cert}, "key": {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"--tls-cert-file", filepath.Join(folder, "cert"), "--tls-key-file", filepath.Join(folder, "key"), "--tls-auth-clients", "no"}
	srv := startServer(t, append(files, "--tls-replication", "no")...)
	raw := client(t, srv.url())
	port := freePort(t)
	if err := raw.ConfigSet(t.Context(), "tls-port", port).Err(); err != nil {
		missing(t, "this redis-server has no TLS: %v", err)
	}
	if _, err := redis.Open(t.Context(), "rediss://127.0.0.1:"+port, redis.Options{BusyTimeout: time.Hour}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error %v, want one of the certificate", err)
	}
	s := open(t, "rediss://127.0.0.1:"+port+"?skip_verify=true&prefix=tls:", redis.Options{})
	chain(t, s, "t", 2)
	if got, want := s.URL(), "rediss://127.0.0.1:"+port+"?prefix=tls%3A"; got != want {
		t.Errorf("URL %s, want %s", got, want)
	}
}

// TestReplica reads from a replica, and is told when the server becomes one.
func TestReplica(t *testing.T) {
	master, other := startServer(t, "--repl-diskless-sync-delay", "0"), startServer(t)
	s := open(t, master.url(), redis.Options{})
	chain(t, s, "t", 3)
	replica := client(t, other.url())
	if err := replica.ReplicaOf(t.Context(), "127.0.0.1", master.port).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client(t, master.url()).Do(t.Context(), "WAIT", 1, 30000).Err(); err != nil {
		t.Fatal(err)
	}
	r := open(t, other.url(), redis.Options{ReadOnly: true})
	if c, err := r.Latest(t.Context(), "t"); err != nil || string(c.Channels["log"]) != "[0,1,2]" {
		t.Errorf("latest %v (%v)", c, err)
	}
	if page, err := r.Threads(t.Context(), checkpoint.Query{}); err != nil || len(page.Threads) != 1 {
		t.Errorf("list %v (%v)", page, err)
	}
	if _, err := r.Counts(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.Changes(t.Context(), 0, 1); err != nil {
		t.Error(err)
	}
	if got, err := r.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 2, DryRun: true}); err != nil || got.Steps != 2 {
		t.Errorf("a dry run: %v (%v)", got, err)
	}
	for name, err := range map[string]error{
		"commit":     second(r.Commit(t.Context(), first("u"))),
		"definition": r.PutDefinition(t.Context(), checkpoint.Definition{Fingerprint: "f"}),
		"delete":     r.DeleteThread(t.Context(), "t"),
		"prune":      second(r.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 1})),
	} {
		if !errors.Is(err, checkpoint.ErrReadOnly) {
			t.Errorf("%s: error %v, want ErrReadOnly", name, err)
		}
	}
	if err := client(t, master.url()).ReplicaOf(t.Context(), "127.0.0.1", other.port).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), first("u")); !errors.Is(err, checkpoint.ErrReadOnly) {
		t.Errorf("a server that became a replica: error %v, want ErrReadOnly", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestMemoryFull has a server at its limit refuse a write whole and take what makes room.
func TestMemoryFull(t *testing.T) {
	srv := startServer(t)
	s := open(t, srv.url(), redis.Options{})
	chain(t, s, "long", 60)
	c := first("t")
	commit(t, s, c)
	before, err := s.Thread(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	limit := func(bytes string) {
		t.Helper()
		if err := client(t, srv.url()).ConfigSet(t.Context(), "maxmemory", bytes).Err(); err != nil {
			t.Fatal(err)
		}
	}
	limit("1mb")
	c = next(c)
	c.Decisions = []checkpoint.Decision{{ID: "d", ResponseID: "r"}}
	if _, err := s.Commit(t.Context(), c); !errors.Is(err, checkpoint.ErrFull) || !strings.Contains(err.Error(), "maxmemory") {
		t.Errorf("error %v, want ErrFull that says what to do", err)
	}
	if after, err := s.Thread(t.Context(), "t"); err != nil || cmp.Diff(before, after) != "" {
		t.Errorf("the refused write left %v where %v was (%v)", after, before, err)
	}
	if got, err := s.Prune(t.Context(), checkpoint.PruneQuery{Threads: []string{"long"}, BeforeStep: 50}); err != nil || got.Steps != 50 {
		t.Errorf("prune: %v (%v)", got, err)
	}
	if err := s.DeleteThread(t.Context(), "long"); err != nil {
		t.Errorf("delete: %v", err)
	}
	limit("0")
	commit(t, s, c)
}

// TestMark refuses what is no store of ours, or a newer one, and leaves it as it is.
func TestMark(t *testing.T) {
	for name, c := range map[string]struct {
		key    string
		values []any
		is     error
		want   string
	}{
		"newer":        {"store", []any{"application", "hitl-tui", "schema", "2"}, checkpoint.ErrNewerSchema, "its schema is 2, this program knows 1"},
		"foreign":      {"store", []any{"application", "other"}, checkpoint.ErrForeign, "?prefix="},
		"foreign type": {"store", nil, checkpoint.ErrForeign, "?prefix="},
	} {
		t.Run(name, func(t *testing.T) {
			url := freshURL(t)
			base, prefix, _ := strings.Cut(url, "?prefix=")
			raw := client(t, base)
			var err error
			if c.values == nil {
				err = raw.Set(t.Context(), prefix+c.key, "x", 0).Err()
			} else {
				err = raw.HSet(t.Context(), prefix+c.key, c.values...).Err()
			}
			if err != nil {
				t.Fatal(err)
			}
			before := raw.Dump(t.Context(), prefix+c.key).Val()
			s, err := redis.Open(t.Context(), url, redis.Options{})
			if s != nil {
				s.Close()
			}
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %v with %q", err, c.is, c.want)
			}
			if after := raw.Dump(t.Context(), prefix+c.key).Val(); after != before {
				t.Error("it was changed")
			}
		})
	}
	if _, err := redis.Open(t.Context(), freshURL(t), redis.Options{ReadOnly: true}); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Errorf("read-only without a store: %v", err)
	}
}

// TestPrefixes keeps two stores of one database apart.
func TestPrefixes(t *testing.T) {
	a, b := open(t, freshURL(t), redis.Options{}), open(t, freshURL(t), redis.Options{})
	chain(t, a, "t", 2)
	chain(t, b, "t", 5)
	if err := a.DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if c, err := b.Latest(t.Context(), "t"); err != nil || c.Step != 4 {
		t.Errorf("%v (%v)", c, err)
	}
}

func TestClosed(t *testing.T) {
	s := open(t, freshURL(t), redis.Options{})
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"commit": second(s.Commit(t.Context(), first("t"))), "watch": second(s.Watch(t.Context())), "list": second(s.Threads(t.Context(), checkpoint.Query{})),
	} {
		if !errors.Is(err, checkpoint.ErrClosed) {
			t.Errorf("%s: error %v, want ErrClosed", name, err)
		}
	}
}
