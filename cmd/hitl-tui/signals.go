package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// signalError is the cause of a context that a signal ended. Ctrl-C is a person who cancels the run; the others are
// a shutdown, which keeps the answers.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "received " + e.signal.String() }

// Is makes the cause what the desk looks for.
func (e *signalError) Is(target error) bool {
	if e.signal == os.Interrupt {
		return target == desk.ErrCancelled
	}
	return target == desk.ErrShutdown
}

func (e *signalError) exit() int {
	switch e.signal {
	case syscall.SIGTERM:
		return 143
	case syscall.SIGHUP:
		return 129
	default:
		return desk.ExitCancelled
	}
}

// signals ends the context at the first signal, with the signal as cause. A second one ends the program at once: the
// thread is then as after a crash, and the next to look at it carries it on.
func (a *app) signals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case s := <-caught:
				if !first {
					os.Exit((&signalError{s}).exit())
				}
				cancel(&signalError{s})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		close(done)
		cancel(errors.New("finished"))
	}
}
