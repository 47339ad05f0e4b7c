package redis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

// TestWatchByMessage sees what another wrote by its message alone.
func TestWatchByMessage(t *testing.T) {
	url := servers.RedisStore(t)
	s := open(t, url, redis.Options{WatchEvery: time.Hour})
	wake, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	commit(t, open(t, url, redis.Options{}), checkpointtest.First("t"))
	waitFor(t, s, wake, 0)
}

// TestWatchConnectsAnew breaks the subscription and changes something before it is there again.
func TestWatchConnectsAnew(t *testing.T) {
	srv := servers.StartRedis(t)
	s := open(t, srv.URL, redis.Options{WatchEvery: time.Hour})
	wake, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-wake // the subscription is there
	raw := servers.RedisClient(t, srv.URL)
	for _, thread := range []string{"a", "b"} {
		seen := seqOf(t, s)
		if n, err := raw.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Int(); err != nil || n != 1 {
			t.Fatalf("%d subscriptions were broken (%v)", n, err)
		}
		commit(t, s, checkpointtest.First(thread))
		waitFor(t, s, wake, seen)
		for n := 0; n == 0; { // subscribed again
			<-wake
			channels, err := raw.PubSubNumSub(t.Context(), "hitl:changes").Result()
			if err != nil {
				t.Fatal(err)
			}
			n = int(channels["hitl:changes"])
		}
	}
}

// TestWatchWithoutMessages has a user who may not publish, whose changes are still seen.
func TestWatchWithoutMessages(t *testing.T) {
	srv := servers.StartRedis(t)
	raw := servers.RedisClient(t, srv.URL)
	if err := raw.Do(t.Context(), "ACL", "SETUSER", "mute", "on", ">pass", "~hitl:*", "+@all", "-publish", "&*").Err(); err != nil {
		t.Fatal(err)
	}
	mute := open(t, "redis://mute:pass@127.0.0.1:"+srv.Port, redis.Options{})
	if got := strings.Join(mute.Warnings(), "\n"); !strings.Contains(got, "may not publish") {
		t.Errorf("warnings %q do not tell it", got)
	}
	s := open(t, srv.URL, redis.Options{WatchEvery: time.Millisecond})
	wake, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for seen, thread := range []string{"a", "b"} {
		commit(t, mute, checkpointtest.First(thread))
		waitFor(t, s, wake, int64(seen))
	}
}
