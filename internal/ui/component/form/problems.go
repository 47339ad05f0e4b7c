package form

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

var (
	errNoList  = errors.New("the focus is in no list of items")
	errNoItem  = errors.New("the focus is in no item of a list")
	errNothing = errors.New("no item was removed")
)

// SetProblems shows errors at the fields they are about. What is about no field is given back.
func (f *Form) SetProblems(problems []actions.Problem) (others []actions.Problem) {
	for _, n := range f.rows {
		n.problem = ""
	}
	first := -1
	for _, p := range problems {
		n, rest := f.find(p.Pointer)
		i := slices.Index(f.rows, n)
		if i < 0 {
			others = append(others, p)
			continue
		}
		if n.problem != "" {
			continue // the first of several; the others come when it is put right
		}
		n.problem = within(n, rest) + p.Message
		if first < 0 || i < first {
			first = i
		}
	}
	if first >= 0 {
		f.at = first
		f.focus()
	}
	return others
}

// find is the row that a pointer is about, and what of the pointer leads on within it.
func (f *Form) find(pointer string) (*node, string) {
	n, rest := f.root, pointer
	for {
		for n.amiss == nil && n.spec.Kind == actions.VariantField && len(n.under) > 0 && (rest != "" || n.under[0].isRow()) {
			n = n.under[0]
		}
		token, after, more := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		next := n.at(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		if rest == "" || next == nil {
			break
		}
		n, rest = next, ""
		if more {
			rest = "/" + after
		}
	}
	return n.shownAt(f.root), rest
}

func (n *node) isRow() bool {
	return n.amiss != nil || n.spec.Kind != actions.ObjectField || n.folded
}

// at is the property or item of a name; nil for none.
func (n *node) at(token string) *node {
	switch {
	case n.amiss != nil:
		return nil
	case n.spec.Kind == actions.ObjectField:
		return n.property(token)
	case n.spec.Kind == actions.ItemsField:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.under) {
			return n.under[i]
		}
	}
	return nil
}

// shownAt is the row in which a problem with n is told: n, the choice of its variant, or the first field of the object.
func (n *node) shownAt(root *node) *node {
	for !n.isRow() || n.hidden() {
		switch {
		case n.up != nil && n.up.spec.Kind == actions.VariantField:
			return n.up
		case n == root || n.hidden():
			return nil
		}
		i := slices.IndexFunc(n.under, func(u *node) bool { return !u.hidden() })
		if i < 0 {
			return n
		}
		n = n.under[i]
	}
	return n
}

// within says where in a field's own value something is wrong: in which item of a list, at which place in JSON.
func within(n *node, rest string) string {
	i, err := strconv.Atoi(strings.TrimPrefix(rest, "/"))
	switch {
	case rest == "":
		return ""
	case err == nil && (n.spec.Kind == actions.ListField || n.spec.Kind == actions.ManyField):
		return fmt.Sprintf("item %d: ", i+1)
	case n.amiss == nil && n.isFormed():
		return strings.TrimPrefix(rest, "/") + " "
	}
	return "at " + rest + ": "
}

// isFormed tells whether the node is made of others.
func (n *node) isFormed() bool {
	switch n.spec.Kind {
	case actions.ObjectField, actions.ItemsField, actions.VariantField:
		return true
	}
	return false
}
