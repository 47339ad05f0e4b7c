//go:build crashpoints && unix

package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// What a build for the crash tests takes from its environment.
const (
	crashAtEnv     = "HITL_TUI_CRASH_AT"     // POINT or POINT:N: dies at the point, or when it gets there for the Nth time
	leaseTTLEnv    = "HITL_TUI_LEASE_TTL"    // how long a lease lasts
	busyTimeoutEnv = "HITL_TUI_BUSY_TIMEOUT" // how long to wait for another process's write
)

// forTests lets the crash tests kill this program at a named point of the engine and shorten its waits.
func (m *machine) forTests(e *engine.Options, s *open.Options) error {
	for _, wait := range []struct {
		env string
		to  *time.Duration
	}{{leaseTTLEnv, &e.LeaseTTL}, {busyTimeoutEnv, &s.BusyTimeout}} {
		text := m.getenv(wait.env)
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s: %w", wait.env, err)
		}
		*wait.to = d
	}
	at := m.getenv(crashAtEnv)
	if at == "" {
		return nil
	}
	point, nth, counted := strings.Cut(at, ":")
	left := int64(1)
	if counted {
		n, err := strconv.ParseInt(nth, 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: %q is no number of times", crashAtEnv, nth)
		}
		left = n
	}
	var passed atomic.Int64
	e.CrashPoint = func(name string) {
		if name == point && passed.Add(1) == left {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
			select {} // no further instruction of this goroutine before the signal arrives
		}
	}
	return nil
}
