package redis_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

var writeEarlier = flag.String("write-earlier", "", "write a store for TestEarlierSchemas to this new file")

// command is a line of such a file: what makes a key, without the prefix of the store.
type command struct {
	Name string   `json:"command"`
	Key  string   `json:"key"`
	Args [][]byte `json:"args"`
}

// TestEarlierSchemas opens the stores that earlier versions wrote, and writes on.
func TestEarlierSchemas(t *testing.T) {
	checkpointtest.EachEarlier(t, "*.jsonl", func(t *testing.T, file string) {
		url := servers.RedisStore(t)
		c := servers.RedisClient(t, url)
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var l command
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			args := []any{l.Name, servers.RedisPrefixOf(url) + l.Key}
			for _, arg := range l.Args {
				args = append(args, arg)
			}
			if err := c.Do(t.Context(), args...).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		clock := checkpointtest.NewClock()
		checkpointtest.RunEarlier(t, open(t, url, redis.Options{Now: clock.Now}))
	})
}

// TestWriteEarlier makes such a store of the present schema, where it is asked to.
func TestWriteEarlier(t *testing.T) {
	if *writeEarlier == "" {
		t.Skip("no -write-earlier")
	}
	clock := checkpointtest.NewClock()
	url := servers.RedisStore(t)
	checkpointtest.FillEarlier(t, open(t, url, redis.Options{Now: clock.Now}), clock)
	c := servers.RedisClient(t, url)
	prefix := servers.RedisPrefixOf(url)
	keys, err := c.Keys(t.Context(), prefix+"*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	var out bytes.Buffer
	for _, key := range keys {
		for _, l := range dump(t, c, key) {
			l.Key = strings.TrimPrefix(key, prefix)
			b, err := json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(append(b, '\n'))
		}
	}
	if err := os.WriteFile(*writeEarlier, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// dump gives the commands that make a key.
func dump(t *testing.T, c *goredis.Client, key string) (list []command) {
	t.Helper()
	ctx := t.Context()
	kind, err := c.Type(ctx, key).Result()
	switch kind {
	case "string":
		list = append(list, command{Name: "SET", Args: [][]byte{[]byte(c.Get(ctx, key).Val())}})
	case "hash":
		all := c.HGetAll(ctx, key).Val()
		for field, value := range all {
			list = append(list, command{Name: "HSET", Args: [][]byte{[]byte(field), []byte(value)}})
		}
		slices.SortFunc(list, func(a, b command) int { return bytes.Compare(a.Args[0], b.Args[0]) })
	case "list":
		for _, value := range c.LRange(ctx, key, 0, -1).Val() {
			list = append(list, command{Name: "RPUSH", Args: [][]byte{[]byte(value)}})
		}
	case "zset":
		for _, z := range c.ZRangeWithScores(ctx, key, 0, -1).Val() {
			score, _ := json.Marshal(z.Score)
			list = append(list, command{Name: "ZADD", Args: [][]byte{score, []byte(z.Member.(string))}})
		}
	default:
		t.Fatalf("key %s is a %s (%v)", key, kind, err)
	}
	return list
}
