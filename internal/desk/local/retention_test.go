package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

const day = 24 * time.Hour

// keeper is a desk over a store in memory, in virtual time, with a thread of each kind.
type keeper struct {
	t     *testing.T
	store *memory.Store
	desk  *desk.Desk
	log   bytes.Buffer
}

// newKeeper fills a store over five days: a thread that waits, one that ended on the third day, one that runs.
func newKeeper(t *testing.T, o desk.Options) *keeper {
	t.Helper()
	k := &keeper{t: t, store: memory.New(memory.Options{})}
	for step := range int64(5) {
		for _, thread := range []string{"waits", "ended", "runs"} {
			c := checkpoint.Checkpoint{Thread: thread, Step: step, TS: time.Now(), Next: []string{"a"}, Channels: checkpoint.Channels{"a": []byte("1")}}
			if thread == "ended" {
				if step > 2 {
					continue
				}
				if step == 2 {
					c.Next, c.Ended = nil, checkpoint.Done
				}
			}
			if _, err := k.store.Put(t.Context(), c, nil); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(day)
	}
	head, err := k.store.Thread(t.Context(), "runs")
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.store.AcquireLease(t.Context(), checkpoint.LeaseRequest{
		Thread: "runs", Token: "token", Holder: "elsewhere", TTL: 100 * day, Head: checkpoint.Version{Step: head.Step, Revision: head.Revision},
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Log = slog.New(slog.NewTextHandler(&k.log, nil))
	if k.desk, err = desk.New(local.New(k.store, engine.Options{}), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.desk.Close(context.Background()); k.store.Close() })
	return k
}

// steps tells what is left of each thread.
func (k *keeper) steps() string {
	k.t.Helper()
	var left []string
	for _, thread := range []string{"waits", "ended", "runs"} {
		var steps []int64
		for c, err := range k.store.History(k.t.Context(), thread, true) {
			if errors.Is(err, checkpoint.ErrNotFound) {
				break
			}
			if err != nil {
				k.t.Fatal(err)
			}
			steps = append(steps, c.Step)
		}
		left = append(left, fmt.Sprint(thread, steps))
	}
	return strings.Join(left, " ")
}

func TestRetentionInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper(t, desk.Options{Retention: desk.Retention{OlderThan: 3*day + time.Hour, FinishedBefore: 5 * day}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { k.desk.KeepRetention(ctx); close(ended) }()
		events := k.desk.Subscribe(ctx)
		synctest.Wait()
		const all = "waits[0 1 2 3 4] ended[0 1 2] runs[0 1 2 3 4]"
		if got := k.steps(); got != all {
			t.Errorf("at once: %s", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := k.steps(); got != "waits[2 3 4] ended[2] runs[0 1 2 3 4]" {
			t.Errorf("after a minute: %s", got)
		}
		if log := k.log.String(); !strings.Contains(log, "msg=retention") || !strings.Contains(log, "steps=4") || !strings.Contains(log, "skipped=[runs") {
			t.Errorf("the log says %q", log)
		}
		info, err := k.desk.Info(ctx)
		if err != nil || info.Retained.Steps != 4 || info.Retention.OlderThan == 0 {
			t.Errorf("the desk says %+v, %v", info, err)
		}
		heard := false
		for !heard {
			for _, e := range <-events {
				heard = heard || e.Kind == desk.RetentionApplied && strings.Contains(e.Text, "4 steps")
			}
		}
		time.Sleep(day)
		synctest.Wait()
		if got := k.steps(); got != "waits[3 4] ended[2] runs[0 1 2 3 4]" {
			t.Errorf("after a day: %s", got)
		}
		time.Sleep(3 * day)
		synctest.Wait()
		if got := k.steps(); got != "waits[4] ended[] runs[0 1 2 3 4]" {
			t.Errorf("after four days: %s", got)
		}
		stop()
		<-ended
	})
}

// TestRetentionIsOffByDefault: without one, and read-only, nothing goes and nothing runs.
func TestRetentionIsOffByDefault(t *testing.T) {
	for name, o := range map[string]desk.Options{
		"none": {}, "read-only": {ReadOnly: true, Retention: desk.Retention{OlderThan: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeeper(t, o)
				k.desk.KeepRetention(t.Context())
				time.Sleep(10 * day)
				if got := k.steps(); got != "waits[0 1 2 3 4] ended[0 1 2] runs[0 1 2 3 4]" || k.log.Len() > 0 {
					t.Errorf("%s, log %q", got, k.log.String())
				}
				// of what waits the steps 0 to 2, of what ended all three, none of them twice
				would, err := k.desk.Prunable(t.Context(), desk.Retention{OlderThan: 12*day + time.Hour, FinishedBefore: 11 * day})
				if err != nil || would.Steps != 6 || would.Threads != 1 {
					t.Errorf("%+v, %v", would, err)
				}
			})
		})
	}
}

func TestInspectAndCompact(t *testing.T) {
	b := newBench(t)
	b.start("note.yaml", nil)
	x, err := b.desk.Inspect(t.Context(), true, nil)
	if err != nil || x.Threads != 1 || x.Steps < 2 || !x.States || len(x.Faults) > 0 || x.PerDay() <= 0 {
		t.Errorf("%+v, %v", x, err)
	}
	if err := b.desk.Compact(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
