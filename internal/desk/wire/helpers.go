package wire

// Accepted is `resume --check --json`: the answers would be taken.
type Accepted struct {
	Accepted bool `json:"accepted"`
}

// Asked is `cancel --json`: whoever runs the thread is asked to stop.
type Asked struct {
	ThreadID string `json:"thread_id"`
	Asked    bool   `json:"asked"`
}

// Deleted is `delete --json`.
type Deleted struct {
	Deleted int `json:"deleted"` // threads
}

// Action is one row of `actions --json`.
type Action struct {
	Action  string `json:"action"`
	Key     string `json:"key"`
	Summary string `json:"summary"`
}

// Key is one row of `keys --json`: a command of the desk.
type Key struct {
	Scope   string   `json:"scope"` // where its keys are live
	Command string   `json:"command"`
	Keys    []string `json:"keys"` // none: by the palette only
	Title   string   `json:"title"`
	Help    string   `json:"help"`
	Effect  *string  `json:"effect"` // of one press, where it does more than move and show
}

// Theme is one row of `themes --json`.
type Theme struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Setting is one row of `config --json`.
type Setting struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	From    string `json:"from"` // flag, environment, config or default
}

// Version is `version --json`.
type Version struct {
	Version string `json:"version"`
}
