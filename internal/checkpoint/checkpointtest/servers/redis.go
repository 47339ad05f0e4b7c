//go:build unix

package servers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

var prefixes counter

// RedisPrefix is a prefix of keys that nobody else uses.
func RedisPrefix() string {
	return fmt.Sprintf("test:%d:%d:%d:", os.Getpid(), time.Now().UnixNano(), prefixes.Add(1))
}

// RedisStore names a store of t's own on the shared server, whose keys are deleted when t ends.
func RedisStore(t testing.TB) string {
	t.Helper()
	server, prefix := cmp.Or(os.Getenv("HITL_TEST_REDIS"), "redis://127.0.0.1:6379/0"), RedisPrefix()
	c := RedisClient(t, server)
	if err := c.Ping(t.Context()).Err(); err != nil {
		Missing(t, "no Redis server at %s (HITL_TEST_REDIS): %v", server, err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		keys := c.Scan(ctx, 0, prefix+"*", 1000).Iterator()
		for keys.Next(ctx) {
			if err := c.Unlink(ctx, keys.Val()).Err(); err != nil {
				t.Errorf("clean up: %v", err)
				return
			}
		}
		if err := keys.Err(); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return server + "?prefix=" + prefix
}

// RedisClient speaks to the server of a store beside it, until t ends. The keys of the store begin with RedisPrefixOf.
func RedisClient(t testing.TB, store string) *redis.Client {
	t.Helper()
	server, _, _ := strings.Cut(store, "?prefix=")
	o, err := redis.ParseURL(server)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

// RedisPrefixOf is what the keys of a store begin with.
func RedisPrefixOf(store string) string {
	if _, prefix, named := strings.Cut(store, "?prefix="); named {
		return prefix
	}
	return "hitl:"
}

// Durable are the arguments of a Redis server that loses nothing it has acknowledged.
func Durable() []string { return []string{"--appendonly", "yes", "--appendfsync", "always"} }

// StartRedis starts a Redis server of t's own with further arguments.
func StartRedis(t testing.TB, args ...string) *Server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		Missing(t, "no redis-server: %v", err)
	}
	port, folder := FreePort(t), t.TempDir()
	s := &Server{t: t, URL: "redis://127.0.0.1:" + port, Port: port, Folder: folder}
	s.argv = append([]string{program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder}, args...)
	s.ready = func(ctx context.Context, pid int) error { return redisReady(ctx, port, pid) }
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// redisReady demands that the process answers at its port, be it that it wants a password, and not another one.
func redisReady(ctx context.Context, port string, pid int) error {
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, MaxRetries: -1})
	defer c.Close()
	info, err := c.Info(ctx, "server").Result()
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "NOAUTH"):
		return nil
	case err != nil:
		return err
	case !strings.Contains(info, fmt.Sprintf("process_id:%d\r", pid)):
		return fmt.Errorf("another server has the port %s", port)
	}
	return c.Ping(ctx).Err() // it has loaded its data
}
