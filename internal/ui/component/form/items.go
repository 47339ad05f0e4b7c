package form

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// removed is an item that was taken out, to be put back.
type removed struct {
	list *node
	at   int
	item *node
}

// InList tells whether the focus is in a list, or at something that is added before it is filled in.
func (f *Form) InList() bool {
	n := f.row()
	if n == nil {
		return false
	}
	list, _ := n.list()
	return list != nil || n.folded
}

// list is the innermost list around a row and the item it is in; the item is nil at the list itself.
func (n *node) list() (list, item *node) {
	if n.amiss == nil && n.spec.Kind == actions.ItemsField {
		return n, nil
	}
	for u := n; u.up != nil; u = u.up {
		if u.up.spec.Kind == actions.ItemsField {
			return u.up, u
		}
	}
	return nil, nil
}

// Add puts an empty item below the one that has the focus, or at the end where the list itself has it, and goes there.
// What is folded is unfolded. The error says why it cannot.
func (f *Form) Add() error {
	n := f.row()
	if n == nil {
		return errNoList
	}
	f.made = 0
	if n.folded && n.amiss == nil {
		n.unfold(true)
		n.put, n.null, n.problem = true, nil, ""
		f.goTo(n)
		return nil
	}
	list, item := n.list()
	switch {
	case list == nil:
		return errNoList
	case list.spec.MaxLength > 0 && len(list.under) >= list.spec.MaxLength:
		return fmt.Errorf("%s takes at most %s", list.name(), plural(list.spec.MaxLength, "item"))
	case len(list.under) >= maxItems:
		return fmt.Errorf("%s has %d items: more are added as raw JSON", list.name(), maxItems)
	}
	at := len(list.under)
	if item != nil {
		at = slices.Index(list.under, item) + 1
	}
	fresh := list.child(list.spec.Item(), true)
	list.insert(at, fresh)
	f.goTo(fresh)
	return nil
}

func (n *node) insert(at int, item *node) {
	n.under = slices.Insert(n.under, at, item)
	n.put, n.preset, n.null, n.problem = true, false, nil, ""
}

// Remove takes the item out that has the focus, or the last one where the list itself has it. Restore puts it back.
func (f *Form) Remove() error {
	n := f.row()
	if n == nil {
		return errNoList
	}
	list, item := n.list()
	switch {
	case list == nil:
		return errNoList
	case len(list.under) == 0:
		return fmt.Errorf("%s has no items", list.name())
	case item == nil:
		item = list.under[len(list.under)-1]
	}
	at := slices.Index(list.under, item)
	list.under = slices.Delete(list.under, at, at+1)
	list.put, list.preset, list.problem = true, false, ""
	f.removed = append(f.removed, removed{list, at, item})
	if len(list.under) == 0 || n == list {
		f.goTo(list)
	} else {
		f.goTo(list.under[min(at, len(list.under)-1)])
	}
	return nil
}

// Restore puts the item back that was removed last.
func (f *Form) Restore() error {
	for len(f.removed) > 0 {
		last := f.removed[len(f.removed)-1]
		f.removed = f.removed[:len(f.removed)-1]
		if !f.holds(last.list) {
			continue // its list was removed after it, and is put back with it or not at all
		}
		last.list.insert(min(last.at, len(last.list.under)), last.item)
		f.goTo(last.item)
		return nil
	}
	return errNothing
}

func (f *Form) holds(n *node) bool {
	for ; n.up != nil; n = n.up {
		if !slices.Contains(n.up.under, n) {
			return false
		}
	}
	return n == f.root
}

// Shift moves the item that has the focus up (-1) or down (1) in its list.
func (f *Form) Shift(d int) error {
	n := f.row()
	if n == nil {
		return errNoList
	}
	list, item := n.list()
	for list != nil && item == nil && list.up != nil { // at an inner list: the item that holds it
		list, item = list.up.list()
	}
	if list == nil || item == nil {
		return errNoItem
	}
	at := slices.Index(list.under, item)
	to := at + d
	if to < 0 || to >= len(list.under) {
		return fmt.Errorf("%s is at the end of its list", item.name())
	}
	list.under[at], list.under[to] = list.under[to], list.under[at]
	list.preset = false
	f.arrange()
	return nil
}

// goTo puts the focus on a node, or on the first row within it.
func (f *Form) goTo(n *node) {
	f.arrange()
	for i, r := range f.rows {
		for u := r; u != nil; u = u.up {
			if u == n {
				f.at = i
				f.focus()
				return
			}
		}
	}
}

// structureKey is a key at a list or at something folded, where nothing is typed.
func (f *Form) structureKey(n *node, msg tea.Msg) bool {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return false
	}
	switch key.String() {
	case "space", "+":
		return f.Add() == nil
	case "backspace", "delete", "-":
		return f.Remove() == nil
	}
	return false
}
