package redis

import "github.com/hitl-tui/hitl-tui/internal/checkpoint"

// keys makes the names of the store's keys from their prefix; the package comment tells what they hold.
type keys string

func (k keys) store() string       { return string(k) + "store" }
func (k keys) seq() string         { return string(k) + "seq" }
func (k keys) bySeq() string       { return string(k) + "by:seq" }
func (k keys) gone() string        { return string(k) + "gone" }
func (k keys) byName() string      { return string(k) + "by:name" }
func (k keys) byTail() string      { return string(k) + "by:tail" }
func (k keys) leased() string      { return string(k) + "leased" }
func (k keys) answered() string    { return string(k) + "answered" }
func (k keys) tombstones() string  { return string(k) + "tombstones" }
func (k keys) definitions() string { return string(k) + "definitions" }
func (k keys) totals() string      { return string(k) + "totals" }
func (k keys) changes() string     { return string(k) + "changes" }

func (k keys) byDue(p checkpoint.Status) string     { return string(k) + "by:due:" + string(p) }
func (k keys) byWaiting(p checkpoint.Status) string { return string(k) + "by:waiting:" + string(p) }

func (k keys) thread(id string) string    { return string(k) + "thread:" + id }
func (k keys) steps(id string) string     { return string(k) + "steps:" + id }
func (k keys) records(id string) string   { return string(k) + "records:" + id }
func (k keys) states(id string) string    { return string(k) + "states:" + id }
func (k keys) results(id string) string   { return string(k) + "results:" + id }
func (k keys) decisions(id string) string { return string(k) + "decisions:" + id }
func (k keys) responses(id string) string { return string(k) + "responses:" + id }

// of are the keys of a thread that go with it.
func (k keys) of(id string) []string {
	return []string{k.thread(id), k.steps(id), k.records(id), k.states(id), k.results(id), k.decisions(id), k.responses(id)}
}

// inPhase are the sorted sets of the threads in a phase, in the two orders that begin with the phase.
func (k keys) inPhase(p checkpoint.Status) map[checkpoint.Sort]string {
	return map[checkpoint.Sort]string{checkpoint.SortDue: k.byDue(p), checkpoint.SortWaiting: k.byWaiting(p)}
}
