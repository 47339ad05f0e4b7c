package workflow

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// Graphs implements engine.Graphs over the definitions that threads keep. It reads no file. The zero value works;
// it is safe for concurrent use.
type Graphs struct {
	Library Library // whose services the graphs use

	mu    sync.Mutex
	cache map[string]*cached
}

// cached is the graph of one definition; once makes racing callers wait for one parse.
type cached struct {
	once  sync.Once
	graph *engine.Graph
	err   error
}

// maxCached bounds the cache. A store rarely keeps threads of more definitions, and a graph is soon made again.
const maxCached = 256

// Graph makes the graph of a definition, or returns the one made before under the same fingerprint.
func (g *Graphs) Graph(_ context.Context, d checkpoint.Definition) (*engine.Graph, error) {
	if d.Fingerprint == "" {
		d.Fingerprint = checkpoint.Fingerprint(d.Files)
	}
	c := g.entry(d.Fingerprint + "::" + d.Graph)
	c.once.Do(func() { c.graph, c.err = g.Library.graph(d) })
	return c.graph, c.err
}

func (g *Graphs) entry(name string) *cached {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.cache[name]
	if c == nil {
		if g.cache == nil || len(g.cache) >= maxCached {
			g.cache = map[string]*cached{}
		}
		c = &cached{}
		g.cache[name] = c
	}
	return c
}

// FromDefinition makes a workflow of the text that a thread keeps, without services.
func FromDefinition(d checkpoint.Definition) (*Loaded, error) { return Library{}.FromDefinition(d) }

// FromDefinition makes a workflow of the text that a thread keeps, without reading any file. A model that is no longer
// configured does not keep a thread from being read and answered: the node that asks it fails when it runs.
func (l Library) FromDefinition(d checkpoint.Definition) (*Loaded, error) {
	if len(d.Files) == 0 {
		return nil, errors.New("the definition holds no file")
	}
	loaded, err := (&bundle{source: kept(d.Files), services: l.Services}).root(d.Files[0].Path)
	if err != nil {
		return nil, fmt.Errorf("the workflow kept under %.12s cannot be read: %w", d.Fingerprint, err)
	}
	loaded.Definition = d
	loaded.Graph.Fingerprint = d.Fingerprint
	return loaded, nil
}

func (l Library) graph(d checkpoint.Definition) (*engine.Graph, error) {
	loaded, err := l.FromDefinition(d)
	if err != nil {
		return nil, err
	}
	return loaded.Graph, nil
}
