package redis

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// A row is kept as one value, its fields one behind the other, each as text with its length: bytes that are no UTF-8 come
// back as they were, and a listing reads a row in one piece. Which fields there are, and in which order, is told once for
// both directions, by a function that names them to a packer.

var errPacked = errors.New("it does not read as it was written")

// packer writes fields, or reads them.
type packer struct {
	fields  []json.RawMessage
	reading bool
	err     error
}

// pack writes the fields that tell names.
func pack(tell func(*packer)) []byte {
	p := packer{fields: make([]json.RawMessage, 0, 40)}
	tell(&p)
	return codec.EncodeList(p.fields)
}

// unpack reads the fields that tell names.
func unpack[T ~string | ~[]byte](b T, tell func(*packer)) error {
	fields, err := codec.DecodeList([]byte(b))
	if err != nil {
		return err
	}
	p := packer{fields: fields, reading: true}
	tell(&p)
	if p.err == nil && len(p.fields) > 0 {
		p.err = errPacked
	}
	return p.err
}

// field writes what text gives, or hands the next field to read.
func (p *packer) field(text func() string, read func(string) error) {
	switch {
	case !p.reading:
		p.fields = append(p.fields, json.RawMessage(text()))
	case p.err != nil:
	case len(p.fields) == 0:
		p.err = errPacked
	default:
		if read(string(p.fields[0])) != nil {
			p.err = errPacked
		}
		p.fields = p.fields[1:]
	}
}

func (p *packer) text(v *string) {
	p.field(func() string { return *v }, func(s string) error { *v = s; return nil })
}

func (p *packer) raw(v *json.RawMessage) {
	p.field(func() string { return string(*v) }, func(s string) error {
		if *v = nil; s != "" {
			*v = json.RawMessage(s)
		}
		return nil
	})
}

func (p *packer) number(v *int64) {
	p.field(func() string { return strconv.FormatInt(*v, 10) }, func(s string) (err error) {
		*v, err = strconv.ParseInt(s, 10, 64)
		return err
	})
}

func (p *packer) count(v *int) {
	n := int64(*v)
	p.number(&n)
	*v = int(n)
}

func (p *packer) flag(v *bool) {
	p.field(func() string { return strconv.FormatBool(*v) }, func(s string) (err error) {
		*v, err = strconv.ParseBool(s)
		return err
	})
}

// float keeps every bit.
func (p *packer) float(v *float64) {
	n := int64(math.Float64bits(*v))
	p.number(&n)
	*v = math.Float64frombits(uint64(n))
}

func (p *packer) time(v *time.Time) {
	n := checkpoint.ToMicros(*v)
	p.number(&n)
	*v = checkpoint.FromMicros(n)
}

// timeOrNil keeps a time that may be missing.
func (p *packer) timeOrNil(v **time.Time) {
	p.field(func() string {
		if *v == nil {
			return ""
		}
		return strconv.FormatInt(checkpoint.ToMicros(**v), 10)
	}, func(s string) error {
		if *v = nil; s == "" {
			return nil
		}
		n, err := strconv.ParseInt(s, 10, 64)
		t := checkpoint.FromMicros(n)
		*v = &t
		return err
	})
}
