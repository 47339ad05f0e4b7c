// Package actions holds the fifteen things a person can answer to a question, what data each takes, the response
// token that carries an answer from outside, and the validation of an answer against the question it is for.
//
// It knows nothing of graphs, stores or screens: what an action makes the engine do is the engine's business.
package actions

// Action is one of the fifteen response actions. They are AgentMap's; the names are lower case.
type Action string

// The fifteen actions, in the order in which every list shows them.
const (
	Approve   Action = "approve"
	Reject    Action = "reject"
	Choose    Action = "choose"
	Respond   Action = "respond"
	Edit      Action = "edit"
	Continue  Action = "continue"
	Stop      Action = "stop"
	Retry     Action = "retry"
	Skip      Action = "skip"
	Submit    Action = "submit"
	Cancel    Action = "cancel"
	TextInput Action = "text_input"
	Save      Action = "save"
	Reply     Action = "reply"
	End       Action = "end"
)

// Data says what data an action takes.
type Data int

// The kinds of data, from none to any JSON.
const (
	NoData       Data = iota // the action takes none
	OptionalText             // a comment or feedback may come with it
	RequiredText             // a text that is not empty
	AnyText                  // a text, which may be empty
	Option                   // one option, or several where the question says multiple
	Content                  // the edited content: same JSON type as the original
	OptionalContent
	Form    // an object, valid against the question's schema
	AnyJSON // optional, any JSON
)

// Info is the row of one action in the table from which keys, help, docs and errors are made.
type Info struct {
	Action  Action
	Key     string // default key at the desk
	Data    Data
	Title   string // for menus: "Approve"
	Summary string // one line: what the engine does
	Done    string // past participle for reports: "approved"
}

// MaxSize is the limit in bytes, inclusive, of a response token as received and of response data as compact UTF-8
// JSON. It is AgentMap's 64 KiB rule, applied alike by token parser, command line, HTTP and the desk's editor.
const MaxSize = 65536
