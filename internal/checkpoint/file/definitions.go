package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// definitionPage is definition.json; the texts are in files beside it.
type definitionPage struct {
	Fingerprint text             `json:"fingerprint"`
	Workflow    text             `json:"workflow"`
	Graph       text             `json:"graph,omitempty"`
	Source      text             `json:"source,omitempty"`
	Files       []definitionFile `json:"files"`
}

type definitionFile struct {
	Path text   `json:"path"`
	File string `json:"file"`
	Sum  string `json:"crc32c"`
}

var plainSuffix = regexp.MustCompile(`^\.[a-z0-9]{1,8}$`)

func textSum(b []byte) string { return fmt.Sprintf("%08x", verbatim.Sum(b)) }

func (s *Store) definitionFolder(fingerprint string) string {
	return join(s.definitions(), escape(fingerprint))
}

const definitionName = "definition.json"

// PutDefinition implements checkpoint.Store. What is stored under a fingerprint stays. The folder is written under another
// name first, so that it is there whole or not at all.
func (s *Store) PutDefinition(ctx context.Context, d checkpoint.Definition) error {
	if err := s.beginWrite(ctx); err != nil {
		return err
	}
	folder := s.definitionFolder(d.Fingerprint)
	release, err := s.take(ctx, s.stripe(d.Fingerprint), false)
	if err != nil {
		return classify(err)
	}
	defer release()
	found, err := exists(s.disk, join(folder, definitionName))
	if err != nil || found {
		return classify(err)
	}
	return classify(s.writeDefinition(&d, folder))
}

func (s *Store) writeDefinition(d *checkpoint.Definition, folder string) error {
	making := folder + temporary
	if err := removeTree(s.disk, making); err != nil {
		return err
	}
	if err := s.disk.Mkdir(making); err != nil {
		return err
	}
	p := definitionPage{Fingerprint: text(d.Fingerprint), Workflow: text(d.Workflow), Graph: text(d.Graph), Source: text(d.Source),
		Files: []definitionFile{}}
	for i, f := range d.Files {
		name := fmt.Sprintf("%d", i+1)
		if suffix := path.Ext(f.Path); plainSuffix.MatchString(suffix) {
			name += suffix
		}
		if err := s.disk.Write(join(making, name), []byte(f.Text)); err != nil {
			return err
		}
		p.Files = append(p.Files, definitionFile{Path: text(f.Path), File: name, Sum: textSum([]byte(f.Text))})
	}
	o, err := verbatim.PageOf(p)
	if err != nil {
		return err
	}
	if err := s.disk.Write(join(making, definitionName), o.Seal()); err != nil {
		return err
	}
	if err := s.disk.Sync(making); err != nil {
		return err
	}
	if err := s.disk.Rename(making, folder); err != nil {
		return err
	}
	return s.disk.Sync(s.definitions())
}

// Definition implements checkpoint.Store.
func (s *Store) Definition(ctx context.Context, fingerprint string) (*checkpoint.Definition, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	d, err := s.definitionIn(s.definitionFolder(fingerprint))
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, checkpoint.ErrCorrupt) {
		err = fmt.Errorf("definition %s: %w", fingerprint, checkpoint.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return d.Verified(fingerprint)
}

func (s *Store) definitionIn(folder string) (*checkpoint.Definition, error) {
	b, err := s.disk.Read(join(folder, definitionName))
	if err != nil {
		return nil, err
	}
	var p definitionPage
	if err := verbatim.Open(b, verbatim.PageSeal, &p); err != nil {
		return nil, s.hurtDefinition(join(folder, definitionName), err)
	}
	d := &checkpoint.Definition{Fingerprint: string(p.Fingerprint), Workflow: string(p.Workflow), Graph: string(p.Graph), Source: string(p.Source)}
	for _, f := range p.Files {
		file := join(folder, path.Base(f.File))
		b, err := s.disk.Read(file)
		if err == nil && textSum(b) != f.Sum {
			err = verbatim.ErrBytes
		}
		if err != nil {
			return nil, s.hurtDefinition(file, err)
		}
		d.Files = append(d.Files, checkpoint.File{Path: string(f.Path), Text: string(b)})
	}
	return d, nil
}

// hurtDefinition is the error of a file of a definition, which belongs to no one thread.
func (s *Store) hurtDefinition(file string, err error) error {
	if _, outside := errors.AsType[*os.PathError](err); outside && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("definition: %w: %s: %w", checkpoint.ErrCorrupt, s.relative(file), err)
}
