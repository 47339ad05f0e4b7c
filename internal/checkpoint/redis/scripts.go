package redis

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

//go:embed apply.lua
var applyText string

//go:embed chain.lua
var chainText string

//go:embed history.lua
var historyText string

//go:embed changes.lua
var changesText string

//go:embed counts.lua
var countsText string

//go:embed moment.lua
var momentText string

//go:embed permitted.lua
var permittedText string

// The first lines of scripts: whether Redis lets them run when memory is full, and on a replica. Such a line also has
// Redis refuse a script before it begins, instead of a command in its middle.
const (
	writes  = "#!lua\n"
	frees   = "#!lua flags=allow-oom\n"
	readsOf = "#!lua flags=no-writes\n"
)

// scripts are what Redis runs for the store. The client sends a text anew when the server has forgotten it.
type scripts struct {
	apply, free                     *redis.Script // the same, but that free may run when memory is full: it makes room
	chain, history, changes, counts *redis.Script
	permitted, moment               *redis.Script
}

func newScripts() scripts {
	return scripts{
		apply: redis.NewScript(writes + applyText), free: redis.NewScript(frees + applyText),
		chain: redis.NewScript(readsOf + chainText), history: redis.NewScript(readsOf + historyText),
		permitted: redis.NewScript(readsOf + permittedText), moment: redis.NewScript(readsOf + momentText),
		changes: redis.NewScript(readsOf + changesText), counts: redis.NewScript(readsOf + countsText),
	}
}
