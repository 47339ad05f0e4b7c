package engine

import "fmt"

// follow works out where each completion leads, over the state after the step; false when a condition failed one.
func (f *frame) follow(done []*completion, m *merge) bool {
	m.errors = f.errorsAfter(done)
	for _, c := range done {
		switch {
		case c.failure != nil:
			c.targets = nil
			if !c.held() {
				c.targets = c.run.node.Failure
			}
			continue
		case c.isFixed:
			c.targets = c.fixed
			continue
		}
		targets, err := c.run.node.edge(f, m, c)
		if err != nil {
			c.fail(f.tree.now(), err)
			return false
		}
		c.targets = targets
	}
	return true
}

// edge takes exactly one edge: by route, else by the first condition that holds, else the default.
func (n *Node) edge(f *frame, m *merge, c *completion) (targets []string, err error) {
	defer caught(&err)
	if c.route != "" {
		if targets, ok := n.Routes[c.route]; ok {
			return targets, nil
		}
	}
	if len(n.When) > 0 {
		var scope Scope = f
		if len(m.changed) > 0 || m.errors != nil {
			scope = overlay{f, m.changed, m.errors}
		}
		for i, b := range n.When {
			holds, err := b.If(scope, c.output)
			if err != nil {
				return nil, fmt.Errorf("when, entry %d: %w", i+1, err)
			}
			if holds {
				return b.Then, nil
			}
		}
	}
	return n.Then, nil
}
