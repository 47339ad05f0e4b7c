package checkpointtest

import (
	"slices"
	"strings"
	"testing"
)

// TestEveryCaseOfTheOriginalsIsHere names, for each case of AgentFlow's checkpointer tests and of LangGraph's conformance
// suite that is about a store, the case of this suite that holds it. Namespaces,
// run ids of a checkpoint and copied threads have no counterpart in the contract: frames are channels, and a fork is the engine's.
func TestEveryCaseOfTheOriginalsIsHere(t *testing.T) {
	for origin, where := range map[string]string{
		"AgentFlow: revision starts at 1 and bumps":                                "Put/revision starts at 1 and counts writes",
		"AgentFlow: if_revision=0 on a first write":                                "Put/a condition of absence holds once",
		"AgentFlow: matching if_revision":                                          "Put/a matching revision is overwritten, another is not",
		"AgentFlow: mismatch names expected and actual":                            "Put/a matching revision is overwritten, another is not",
		"AgentFlow: a loser is not applied":                                        "Put/a matching revision is overwritten, another is not",
		"AgentFlow: of two racers one conflicts":                                   "Race/of many who put one revision one wins",
		"AgentFlow: two writers of an absent row, which it lets both":              "Race/of many who put one revision one wins",
		"AgentFlow: delete_thread empties get and history":                         "Retention/a deleted thread is gone but for its tombstone",
		"AgentFlow: prune before_step":                                             "Retention/before a step",
		"AgentFlow: prune older_than":                                              "Retention/older than a time",
		"AgentFlow: prune by mixed time zones":                                     "Retention/times are compared as times",
		"AgentFlow: prune with both bounds":                                        "Retention/two bounds mean both",
		"AgentFlow: prune without a bound":                                         "Retention/no bound or no threads is an error and deletes nothing",
		"AgentFlow: prune of the latest or an interrupted step":                    "Retention/the head stays, whatever the bounds",
		"AgentFlow: list_threads of an empty store":                                "List/an empty store",
		"AgentFlow: list summarises running, done, interrupted, ts":                "Put/the row tells status, questions and times from the checkpoint",
		"AgentFlow: list says what the latest step said":                           "List/a row tells what the commit said",
		"AgentFlow: list order":                                                    "List/changed last first, and by name",
		"AgentFlow: list pages":                                                    "List/pages meet every row once, over ties, in every order",
		"AgentFlow: delete drops a thread from the list":                           "Retention/a deleted thread is gone but for its tombstone",
		"AgentFlow: round trip":                                                    "Put/everything comes back as it was",
		"AgentFlow: a specific step, the latest, history in order":                 "Put/latest is the highest step, whatever the order of writing",
		"AgentFlow: inserts out of order are sorted":                               "Put/latest is the highest step, whatever the order of writing",
		"AgentFlow: an overwrite keeps one index entry":                            "Put/an overwritten step is there once",
		"AgentFlow: a missing thread":                                              "Put/what is absent is not found",
		"AgentFlow: memory stores live objects":                                    "Put/values are not shared with the caller",
		"AgentFlow: a stale worker's heartbeat and completion":                     "Lease/it runs out at its time and not before",
		"AgentFlow: queue claims each run once":                                    "Race/of many who take a lease one wins",
		"AgentFlow: request_cancel":                                                "Lease/a heartbeat brings the wish to cancel",
		"AgentFlow: redaction at put; stored whole here, masked where it is shown": "Put/every kind of value comes back, one that looks like a secret too",

		"LangGraph put: round trip, fields, metadata":            "Put/everything comes back as it was",
		"LangGraph put: value kinds":                             "Put/every kind of value comes back, one that looks like a secret too",
		"LangGraph put: incremental, new and removed channels":   "Put/channels come and go from step to step",
		"LangGraph put: many checkpoints":                        "Commit/any of many steps is rebuilt to the byte",
		"LangGraph put: thread isolation":                        "Put/threads are apart",
		"LangGraph put: parent":                                  "Commit/a parent that is not the head conflicts",
		"LangGraph put_writes: many of a task, many tasks":       "Commit/pending results are one for a run, the last, and their thread's alone",
		"LangGraph put_writes: idempotent":                       "Commit/pending results are one for a run, the last, and their thread's alone",
		"LangGraph put_writes: task id, channel, value":          "Commit/pending results are one for a run, the last, and their thread's alone",
		"LangGraph put_writes: fresh on the next checkpoint":     "Commit/pending results go with the commit",
		"LangGraph get_tuple: latest, by id":                     "Put/latest is the highest step, whatever the order of writing",
		"LangGraph get_tuple: missing thread, missing id":        "Put/what is absent is not found",
		"LangGraph list: by thread, workflow, status, text":      "List/filters",
		"LangGraph list: before, limit":                          "List/pages meet every row once, over ties, in every order",
		"LangGraph list: SQL in a filter":                        "List/filters",
		"LangGraph list: empty":                                  "List/an empty store",
		"LangGraph delete_thread: all of it, others kept":        "Retention/a deleted thread is gone but for its tombstone",
		"LangGraph delete_thread: a missing one; not found here": "Retention/a deleted thread is gone but for its tombstone",
		"LangGraph prune: keeps the latest, of many threads":     "Retention/many threads and a long one",
		"LangGraph prune: others kept, missing":                  "Retention/no bound or no threads is an error and deletes nothing",
		"LangGraph prune: keeps writes":                          "Retention/a leased thread is skipped and told",
		"LangGraph prune: does not cut a delta chain":            "Retention/a pruned thread goes on",
		"LangGraph delta_channel_history":                        "Commit/any of many steps is rebuilt to the byte",
		"LangGraph: two processes resume together":               "Lease/one holder at a time",
	} {
		group, name, _ := strings.Cut(where, "/")
		if !slices.ContainsFunc(groups()[group], func(c testCase) bool { return c.name == name }) {
			t.Errorf("%s: there is no case %q in %s", origin, name, group)
		}
	}
}
