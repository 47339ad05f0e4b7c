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
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

func TestRefusedServers(t *testing.T) {
	free := servers.StartRedis(t)
	for name, c := range map[string]struct {
		args []string
		url  func(port string) string
		want string
		is   error
	}{
		"cluster":        {args: []string{"--cluster-enabled", "yes"}, want: "Redis Cluster"},
		"evicting":       {args: []string{"--maxmemory-policy", "allkeys-lru"}, want: `maxmemory-policy is "allkeys-lru"`},
		"evicting some":  {args: []string{"--maxmemory-policy", "volatile-ttl"}, want: "set it to noeviction"},
		"replica":        {args: []string{"--replicaof", "127.0.0.1 " + free.Port}, want: "name its master, 127.0.0.1:" + free.Port, is: checkpoint.ErrReadOnly},
		"no password":    {args: []string{"--requirepass", "secret"}, want: "wants a password"},
		"wrong password": {args: []string{"--requirepass", "right"}, url: func(port string) string { return "redis://:secret@127.0.0.1:" + port }, want: "user or password is wrong"},
		"no such db":     {url: func(port string) string { return "redis://127.0.0.1:" + port + "/99" }, want: "out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			url := servers.StartRedis(t, c.args...).URL
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
	if err == nil || !strings.Contains(err.Error(), "redis://127.0.0.1:1 cannot be reached: dial") || strings.Contains(err.Error(), "secret") {
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
		s := open(t, servers.StartRedis(t, args...).URL, redis.Options{})
		if got := strings.Join(s.Warnings(), "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%v: warnings %q, want %q", args, got, want)
		}
	}
}

func TestPassword(t *testing.T) {
	srv := servers.StartRedis(t, "--requirepass", "se/cr:et")
	s := open(t, "redis://:se%2Fcr%3Aet@127.0.0.1:"+srv.Port+"/3?prefix=a%20b", redis.Options{})
	if got, want := s.URL(), "redis://127.0.0.1:"+srv.Port+"/3?prefix=a+b"; got != want {
		t.Errorf("URL %s, want %s", got, want)
	}
	commit(t, s, checkpointtest.First("t"))
	c := servers.RedisClient(t, "redis://:se%2Fcr%3Aet@127.0.0.1:"+srv.Port+"/3")
	if n := c.Exists(t.Context(), "a bthread:t").Val(); n != 1 {
		t.Error("the thread is not where database and prefix say")
	}
}

// TestPermissions refuses a user who may do only some of what a write consists of, before anything is written.
func TestPermissions(t *testing.T) {
	srv := servers.StartRedis(t)
	raw := servers.RedisClient(t, srv.URL)
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
		s, err := redis.Open(t.Context(), "redis://"+user+":secret@127.0.0.1:"+srv.Port, redis.Options{})
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
	open(t, srv.URL, redis.Options{})
	if err := raw.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">secret", "%R~hitl:*", "&*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	r := open(t, "redis://reader:secret@127.0.0.1:"+srv.Port, redis.Options{ReadOnly: true})
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
	srv := servers.StartRedis(t, append(files, "--tls-replication", "no")...)
	raw := servers.RedisClient(t, srv.URL)
	port := servers.FreePort(t)
	if err := raw.ConfigSet(t.Context(), "tls-port", port).Err(); err != nil {
		servers.Missing(t, "this redis-server has no TLS: %v", err)
	}
	if _, err := redis.Open(t.Context(), "rediss://127.0.0.1:"+port, redis.Options{BusyTimeout: time.Hour}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error %v, want one of the certificate", err)
	}
	for url, want := range map[string]string{
		"redis://ann:secret@127.0.0.1:" + port + "/3":    "it speaks TLS; write rediss://ann@127.0.0.1:" + port + "/3",
		strings.Replace(srv.URL, "redis:", "rediss:", 1): "it does not speak TLS; write redis://",
	} {
		_, err := redis.Open(t.Context(), url, redis.Options{BusyTimeout: time.Hour})
		if !errors.Is(err, checkpoint.ErrUnreachable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want ErrUnreachable with %q", url, err, want)
		}
	}
	s := open(t, "rediss://127.0.0.1:"+port+"?skip_verify=true&prefix=tls:", redis.Options{})
	checkpointtest.Chain(t, s, "t", 2)
	if got, want := s.URL(), "rediss://127.0.0.1:"+port+"?prefix=tls%3A"; got != want {
		t.Errorf("URL %s, want %s", got, want)
	}
}

// TestReplica reads from a replica, and is told when the server becomes one.
func TestReplica(t *testing.T) {
	master, other := servers.StartRedis(t, "--repl-diskless-sync-delay", "0"), servers.StartRedis(t)
	s := open(t, master.URL, redis.Options{})
	checkpointtest.Chain(t, s, "t", 3)
	replica := servers.RedisClient(t, other.URL)
	if err := replica.ReplicaOf(t.Context(), "127.0.0.1", master.Port).Err(); err != nil {
		t.Fatal(err)
	}
	if err := servers.RedisClient(t, master.URL).Do(t.Context(), "WAIT", 1, 30000).Err(); err != nil {
		t.Fatal(err)
	}
	r := open(t, other.URL, redis.Options{ReadOnly: true})
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
		"commit":     second(r.Commit(t.Context(), checkpointtest.First("u"))),
		"definition": r.PutDefinition(t.Context(), checkpoint.Definition{Fingerprint: "f"}),
		"delete":     r.DeleteThread(t.Context(), "t"),
		"prune":      second(r.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 1})),
	} {
		if !errors.Is(err, checkpoint.ErrReadOnly) {
			t.Errorf("%s: error %v, want ErrReadOnly", name, err)
		}
	}
	if err := servers.RedisClient(t, master.URL).ReplicaOf(t.Context(), "127.0.0.1", other.Port).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), checkpointtest.First("u")); !errors.Is(err, checkpoint.ErrReadOnly) {
		t.Errorf("a server that became a replica: error %v, want ErrReadOnly", err)
	}
}

// TestRestart restarts the server in the middle of a call, which waits for it.
func TestRestart(t *testing.T) {
	srv := servers.StartRedis(t, servers.Durable()...)
	s := open(t, srv.URL, redis.Options{BusyTimeout: time.Minute})
	c := checkpointtest.First("t")
	commit(t, s, c)
	wake, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	srv.Kill()
	done := make(chan error)
	go func() {
		_, err := s.Commit(t.Context(), checkpointtest.Next(c))
		done <- err
	}()
	srv.Start()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, err := s.Latest(t.Context(), "t"); err != nil || string(got.Channels["log"]) != "[0,1]" {
		t.Errorf("%v (%v)", got, err)
	}
	seen := seqOf(t, s)
	commit(t, open(t, srv.URL, redis.Options{}), checkpointtest.First("u"))
	waitFor(t, s, wake, seen)
}

func second[T any](_ T, err error) error { return err }

// TestMemoryFull has a server at its limit refuse a write whole and take what makes room.
func TestMemoryFull(t *testing.T) {
	srv := servers.StartRedis(t)
	s := open(t, srv.URL, redis.Options{})
	checkpointtest.Chain(t, s, "long", 60)
	c := checkpointtest.First("t")
	commit(t, s, c)
	before, err := s.Thread(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	limit := func(bytes string) {
		t.Helper()
		if err := servers.RedisClient(t, srv.URL).ConfigSet(t.Context(), "maxmemory", bytes).Err(); err != nil {
			t.Fatal(err)
		}
	}
	limit("1mb")
	c = checkpointtest.Next(c)
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
			url := servers.RedisStore(t)
			base, prefix, _ := strings.Cut(url, "?prefix=")
			raw := servers.RedisClient(t, base)
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
	for _, o := range []redis.Options{{ReadOnly: true}, {Existing: true}} {
		url := servers.RedisStore(t)
		base, prefix, _ := strings.Cut(url, "?prefix=")
		if _, err := redis.Open(t.Context(), url, o); !errors.Is(err, checkpoint.ErrNotFound) {
			t.Errorf("%+v without a store: %v", o, err)
		}
		if n := servers.RedisClient(t, base).Exists(t.Context(), prefix+"store").Val(); n != 0 {
			t.Errorf("%+v made a store", o)
		}
	}
}

// TestPrefixes keeps two stores of one database apart.
func TestPrefixes(t *testing.T) {
	a, b := open(t, servers.RedisStore(t), redis.Options{}), open(t, servers.RedisStore(t), redis.Options{})
	checkpointtest.Chain(t, a, "t", 2)
	checkpointtest.Chain(t, b, "t", 5)
	if err := a.DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if c, err := b.Latest(t.Context(), "t"); err != nil || c.Step != 4 {
		t.Errorf("%v (%v)", c, err)
	}
}

func TestClosed(t *testing.T) {
	s := open(t, servers.RedisStore(t), redis.Options{})
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"commit": second(s.Commit(t.Context(), checkpointtest.First("t"))), "watch": second(s.Watch(t.Context())), "list": second(s.Threads(t.Context(), checkpoint.Query{})),
	} {
		if !errors.Is(err, checkpoint.ErrClosed) {
			t.Errorf("%s: error %v, want ErrClosed", name, err)
		}
	}
}
