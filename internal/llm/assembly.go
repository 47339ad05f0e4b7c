package llm

import "strings"

// assembly is an answer in the making.
type assembly struct {
	stream     func(string)
	structured bool // JSON is due
	maxTokens  int  // that were asked for; 0 none

	said    strings.Builder // text
	json    strings.Builder // arguments of the tool by which JSON is asked for
	refusal strings.Builder
	usage   Usage
	tool    bool   // it called a tool
	ended   bool   // the server said that the answer is complete
	stop    ending // and why it ended there
}

// ending says why a model stopped.
type ending int

const (
	finished ending = iota
	outOfTokens
	outOfContext
	refused
	wantsTool
	broken
)

func (a *assembly) add(to *strings.Builder, text string) {
	if text == "" {
		return
	}
	to.WriteString(text)
	if a.stream != nil && (to == &a.said || to == &a.json) {
		a.stream(text)
	}
}

// text is the whole answer. A server that knows no tools answers with text where JSON is due.
func (a *assembly) text() string {
	if a.structured && a.tool {
		if a.json.Len() == 0 {
			return "{}" // a call without arguments
		}
		return a.json.String()
	}
	return a.said.String()
}

// complete says why the answer cannot be used; nil when it can.
func (a *assembly) complete() error {
	if a.refusal.Len() > 0 && a.stop == finished {
		a.stop = refused
	}
	switch {
	case !a.ended:
		return passing("the stream ended before the answer was complete")
	case a.stop == outOfTokens:
		return cutOff(a.maxTokens)
	case a.stop == outOfContext:
		return lasting("the answer was cut off, since what was asked and answered is more than the model can hold")
	case a.stop == refused:
		if said := brief(a.refusal.String() + a.said.String()); said != "" {
			return lasting("the model refused to answer: %s", said)
		}
		return lasting("the model refused to answer")
	case a.stop == wantsTool && !a.structured, a.tool && !a.structured:
		return passing("the model called a tool, and none was offered to it")
	case a.stop == broken:
		return passing("the server broke the answer off")
	case a.text() == "":
		return passing("the model answered with nothing")
	}
	return nil
}
