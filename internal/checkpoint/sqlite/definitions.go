package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// PutDefinition implements checkpoint.Store. What is stored under a fingerprint stays.
func (s *Store) PutDefinition(ctx context.Context, d checkpoint.Definition) error {
	var one int
	known, err := rowOf(ctx, s.readers, "SELECT 1 FROM definitions WHERE fingerprint = ?", []any{d.Fingerprint}, &one)
	if err != nil || known {
		return classify(err)
	}
	files, err := json.Marshal(d.Files)
	if err != nil {
		return fmt.Errorf("definition %s: %w", d.Fingerprint, err)
	}
	return s.write(ctx, func(t *tx) error {
		return t.exec(`INSERT INTO definitions (fingerprint, workflow, graph, source, files) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (fingerprint) DO NOTHING`, d.Fingerprint, d.Workflow, d.Graph, d.Source, files)
	})
}

// Definition implements checkpoint.Store.
func (s *Store) Definition(ctx context.Context, fingerprint string) (*checkpoint.Definition, error) {
	d := checkpoint.Definition{Fingerprint: fingerprint}
	var files []byte
	found, err := rowOf(ctx, s.readers, "SELECT workflow, graph, source, files FROM definitions WHERE fingerprint = ?",
		[]any{fingerprint}, &d.Workflow, &d.Graph, &d.Source, &files)
	if err != nil {
		return nil, classify(err)
	}
	if !found {
		return nil, fmt.Errorf("definition %s: %w", fingerprint, checkpoint.ErrNotFound)
	}
	if err := json.Unmarshal(files, &d.Files); err != nil {
		return nil, &checkpoint.CorruptError{Where: "definitions.files of " + fingerprint, Err: err}
	}
	return d.Verified(fingerprint)
}
