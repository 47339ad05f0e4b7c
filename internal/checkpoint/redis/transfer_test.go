package redis_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

// TestAnImportPutsNothingHalfInPlace has a key that was put aside expire before the script runs that gives it its name.
func TestAnImportPutsNothingHalfInPlace(t *testing.T) {
	url := servers.RedisStore(t)
	s := open(t, url, redis.Options{})
	c := servers.RedisClient(t, url)
	_, prefix, _ := strings.Cut(url, "prefix=")
	from := open(t, servers.RedisStore(t), redis.Options{})
	large := checkpointtest.First("t")
	large.Ops = []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "large", Value: []byte(`"` + strings.Repeat("x", 2<<20) + `"`)}}
	commit(t, from, large)
	b, err := from.Export(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	aside := func() []string {
		keys, err := c.Keys(t.Context(), prefix+"import:*").Result()
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	b.Decisions = func(func(*checkpoint.Decision, error) bool) {
		for _, key := range aside() {
			if ttl, err := c.TTL(t.Context(), key).Result(); err != nil || ttl <= 0 {
				t.Errorf("%s would stay: %v, %v", key, ttl, err)
			}
			if strings.HasSuffix(key, "states:") {
				c.Del(t.Context(), key)
			}
		}
	}
	if err := s.Import(t.Context(), b, checkpoint.ImportOptions{}); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Fatalf("error %v", err)
	}
	if _, err := s.Thread(t.Context(), "t"); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	if left := aside(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	b.Decisions = func(func(*checkpoint.Decision, error) bool) {}
	if err := s.Import(t.Context(), b, checkpoint.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
}
