package redact

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Error is err with the secrets in its text masked; it is still err to errors.Is and errors.As. Without a secret it is
// err itself.
func (r Rules) Error(err error) error {
	if err == nil {
		return nil
	}
	whole := err.Error()
	safe := r.Text(whole)
	if safe == whole {
		return err
	}
	return &maskedError{safe, err}
}

type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// Handler masks what is logged, message and attributes at every depth, and hands it on to next.
func (r Rules) Handler(next slog.Handler) slog.Handler {
	if r.off {
		return next
	}
	return &handler{r, next}
}

type handler struct {
	rules Rules
	next  slog.Handler
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	safe := slog.NewRecord(record.Time, record.Level, h.rules.Text(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		safe.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, safe)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	safe := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		safe[i] = h.attr(a)
	}
	return &handler{h.rules, h.next.WithAttrs(safe)}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.rules, h.next.WithGroup(name)}
}

func (h *handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch {
	case v.Kind() == slog.KindGroup:
		members := v.Group()
		safe := make([]slog.Attr, len(members))
		for i, m := range members {
			safe[i] = h.attr(m)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(safe...)}
	case v.Kind() == slog.KindBool:
		return a
	case h.rules.Secret(a.Key):
		return slog.String(a.Key, Mask)
	case v.Kind() == slog.KindString:
		return slog.String(a.Key, h.rules.Text(v.String()))
	case v.Kind() == slog.KindAny:
		return slog.String(a.Key, h.any(v.Any()))
	}
	return a
}

// any is a value of any type as a safe text.
func (h *handler) any(v any) string {
	switch t := v.(type) {
	case error, fmt.Stringer:
		return h.rules.Text(fmt.Sprint(t))
	case json.RawMessage:
		return string(h.rules.JSON(t))
	case []byte:
		return h.rules.Text(string(t))
	}
	if raw, err := json.Marshal(v); err == nil {
		return string(h.rules.JSON(raw))
	}
	return h.rules.Text(fmt.Sprintf("%+v", v))
}
