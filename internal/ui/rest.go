package ui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// How long after the last message the screen is at rest, and how often it is then still looked at.
const (
	restAfter = time.Second
	restEvery = 2 * time.Second
)

// rest slows the renderer of a program down while nothing happens. Bubble Tea looks sixty times a second whether there
// is something to draw, also when there has been nothing for hours, and has no option for it; a desk that is open all
// day would keep a processor awake. Its clock is found by name, and where a later version has none of that name it
// runs on as it does by itself.
type rest struct {
	mu     sync.Mutex
	ticker *time.Ticker
	frame  time.Duration
	last   time.Time // message
	timer  *time.Timer
	slow   bool
}

// moved is called for every message, in the goroutine of the program's loop, which alone sets its clock.
func (r *rest) moved(p *tea.Program) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = time.Now()
	if r.ticker == nil {
		if r.ticker, r.frame = clockOf(p); r.ticker == nil {
			return
		}
	}
	switch {
	case r.timer == nil:
		r.timer = time.AfterFunc(restAfter, r.settle)
	case r.slow:
		r.slow = false
		r.ticker.Reset(r.frame)
		r.timer.Reset(restAfter)
	}
}

// settle slows the clock down once the last message is long enough ago.
func (r *rest) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if left := restAfter - time.Since(r.last); left > 0 {
		r.timer.Reset(left)
		return
	}
	r.slow = true
	r.ticker.Reset(restEvery)
}

// end stops what was set going; the program has ended.
func (r *rest) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.ticker.Stop()
	}
}

// clockOf is the clock of a program's renderer and the time between two frames; nil when there is none.
func clockOf(p *tea.Program) (*time.Ticker, time.Duration) {
	v := reflect.ValueOf(p).Elem()
	ticker, fps := v.FieldByName("ticker"), v.FieldByName("fps")
	if !ticker.IsValid() || ticker.Type() != reflect.TypeFor[*time.Ticker]() || !fps.IsValid() || !fps.CanInt() || fps.Int() < 1 {
		return nil, 0
	}
	return (*time.Ticker)(ticker.UnsafePointer()), time.Second / time.Duration(fps.Int())
}
