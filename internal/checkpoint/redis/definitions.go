package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// tellDefinition names what a definition holds.
func tellDefinition(d *checkpoint.Definition) func(*packer) {
	return func(p *packer) {
		p.text(&d.Workflow)
		p.text(&d.Graph)
		p.text(&d.Source)
		n := len(d.Files)
		if p.count(&n); p.reading {
			d.Files = make([]checkpoint.File, 0)
		}
		for i := 0; i < n && p.err == nil; i++ {
			if p.reading {
				d.Files = append(d.Files, checkpoint.File{})
			}
			p.text(&d.Files[i].Path)
			p.text(&d.Files[i].Text)
		}
	}
}

// PutDefinition implements checkpoint.Store. What is stored under a fingerprint stays.
func (s *Store) PutDefinition(ctx context.Context, d checkpoint.Definition) error {
	return s.patiently(ctx, func() error {
		known, err := s.client.HExists(ctx, s.keys.definitions(), d.Fingerprint).Result()
		if err != nil || known {
			return err
		}
		if s.o.ReadOnly {
			return s.readOnly()
		}
		return s.client.HSetNX(ctx, s.keys.definitions(), d.Fingerprint, pack(tellDefinition(&d))).Err()
	})
}

// Definition implements checkpoint.Store.
func (s *Store) Definition(ctx context.Context, fingerprint string) (*checkpoint.Definition, error) {
	var stored string
	err := s.patiently(ctx, func() (err error) {
		stored, err = s.client.HGet(ctx, s.keys.definitions(), fingerprint).Result()
		return err
	})
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("definition %s: %w", fingerprint, checkpoint.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	d := checkpoint.Definition{Fingerprint: fingerprint}
	if err := unpack(stored, tellDefinition(&d)); err != nil {
		return nil, &checkpoint.CorruptError{Where: "field " + fingerprint + " of definitions", Err: err}
	}
	return d.Verified(fingerprint)
}
