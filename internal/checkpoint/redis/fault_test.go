package redis_test

import (
	"errors"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

// damage changes keys of a store behind its back; prefix begins them.
type damage func(t *testing.T, c *goredis.Client, prefix string) error

// hurt gives a store with two threads of which "bad" is damaged.
func hurt(t *testing.T, d damage) *redis.Store {
	t.Helper()
	url := servers.RedisStore(t)
	s := open(t, url, redis.Options{})
	checkpointtest.Chain(t, s, "bad", 5)
	checkpointtest.Chain(t, s, "good", 5)
	base, prefix, _ := strings.Cut(url, "?prefix=")
	if err := d(t, servers.RedisClient(t, base), prefix); err != nil {
		t.Fatal(err)
	}
	return s
}

// field damages a field of a hash.
func field(key, name string, change func(string) string) damage {
	return func(t *testing.T, c *goredis.Client, prefix string) error {
		return c.HSet(t.Context(), prefix+key, name, change(c.HGet(t.Context(), prefix+key, name).Val())).Err()
	}
}

func TestCorruptStep(t *testing.T) {
	for name, d := range map[string]damage{
		"state":   field("states:bad", "2", func(s string) string { return s[:len(s)-1] + "x" }),
		"cut off": field("states:bad", "2", func(string) string { return "" }),
		"record":  field("records:bad", "2", func(s string) string { return s[1:] }),
		"no state": func(t *testing.T, c *goredis.Client, p string) error {
			return c.HDel(t.Context(), p+"states:bad", "2").Err()
		},
		"no record": func(t *testing.T, c *goredis.Client, p string) error {
			return c.HDel(t.Context(), p+"records:bad", "2").Err()
		},
		"no frame": func(t *testing.T, c *goredis.Client, p string) error {
			return c.ZRemRangeByScore(t.Context(), p+"steps:bad", "0", "0").Err()
		},
		"no sense": func(t *testing.T, c *goredis.Client, p string) error {
			c.ZRemRangeByScore(t.Context(), p+"steps:bad", "2", "2")
			return c.ZAdd(t.Context(), p+"steps:bad", goredis.Z{Score: 2, Member: "operations two"}).Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := hurt(t, d)
			_, err := s.Get(t.Context(), "bad", 2)
			var corrupt *checkpoint.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Thread != "bad" {
				t.Fatalf("error %v, want a CorruptError that names the thread", err)
			}
			if !strings.HasPrefix(name, "no ") && corrupt.Step != 2 {
				t.Errorf("it names step %d, want 2", corrupt.Step)
			}
			found, whole := 0, 0
			for _, err := range s.History(t.Context(), "bad", true) {
				if errors.Is(err, checkpoint.ErrCorrupt) {
					found++
				} else if err == nil {
					whole++
				}
			}
			if found == 0 || found+whole > 5 {
				t.Errorf("the history tells of %d steps that are hurt and %d that are not", found, whole)
			}
			if c, err := s.Latest(t.Context(), "good"); err != nil || c.Step != 4 {
				t.Errorf("the other thread: %v", err)
			}
			if page, err := s.Threads(t.Context(), checkpoint.Query{}); err != nil || len(page.Threads) != 2 {
				t.Errorf("the list: %v", err)
			}
		})
	}
}

// TestCorruptRow has a row that does not read as it was written: other threads stay readable by their names.
func TestCorruptRow(t *testing.T) {
	s := hurt(t, field("thread:bad", "row", func(s string) string { return s[2:] }))
	var corrupt *checkpoint.CorruptError
	for name, err := range map[string]error{
		"thread": second(s.Thread(t.Context(), "bad")), "latest": second(s.Latest(t.Context(), "bad")), "commit": second(s.Commit(t.Context(), checkpointtest.First("bad"))),
		"list": second(s.Threads(t.Context(), checkpoint.Query{})), "changes": second(s.Changes(t.Context(), 0, 0)),
	} {
		if !errors.As(err, &corrupt) || corrupt.Thread != "bad" {
			t.Errorf("%s: error %v, want a CorruptError that names the thread", name, err)
		}
	}
	if c, err := s.Latest(t.Context(), "good"); err != nil || c.Step != 4 {
		t.Errorf("the other thread: %v", err)
	}
}

func TestMissingHead(t *testing.T) {
	s := hurt(t, func(t *testing.T, c *goredis.Client, p string) error {
		return c.ZRemRangeByScore(t.Context(), p+"steps:bad", "4", "4").Err()
	})
	var corrupt *checkpoint.CorruptError
	if _, err := s.Latest(t.Context(), "bad"); !errors.As(err, &corrupt) || corrupt.Step != 4 {
		t.Errorf("error %v, want a CorruptError that names the step", err)
	}
}

func TestTamperedDecisions(t *testing.T) {
	at := func(t *testing.T, c *goredis.Client, p string, i int64) string {
		return c.LIndex(t.Context(), p+"decisions:bad", i).Val()
	}
	for name, c := range map[string]struct {
		damage damage
		names  string
	}{
		"changed": {func(t *testing.T, c *goredis.Client, p string) error {
			return c.LSet(t.Context(), p+"decisions:bad", 1, strings.Replace(at(t, c, p, 1), "badb", "evil", 1)).Err()
		}, "evil"},
		"first removed": {func(t *testing.T, c *goredis.Client, p string) error {
			return c.LPop(t.Context(), p+"decisions:bad").Err()
		}, "badb"},
		"last removed": {func(t *testing.T, c *goredis.Client, p string) error {
			return c.RPop(t.Context(), p+"decisions:bad").Err()
		}, "row 3"},
		"reordered": {func(t *testing.T, c *goredis.Client, p string) error {
			second := at(t, c, p, 1)
			c.LSet(t.Context(), p+"decisions:bad", 1, at(t, c, p, 2))
			return c.LSet(t.Context(), p+"decisions:bad", 2, second).Err()
		}, "badc"},
		"added": {func(t *testing.T, c *goredis.Client, p string) error {
			return c.RPush(t.Context(), p+"decisions:bad", at(t, c, p, 2)).Err()
		}, "row 4"},
		"unreadable": {func(t *testing.T, c *goredis.Client, p string) error {
			return c.LSet(t.Context(), p+"decisions:bad", 1, "x").Err()
		}, "row 2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := hurt(t, c.damage)
			info, err := s.Thread(t.Context(), "bad")
			if err != nil {
				t.Fatal(err)
			}
			err = checkpoint.VerifyChain("bad", s.Decisions(t.Context(), "bad"), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash})
			if !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("error %v, want one that names %s", err, c.names)
			}
		})
	}
}
