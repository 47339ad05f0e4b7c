package lang

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// maxIterations bounds the turns of all ranges of one rendering together.
const maxIterations = 1_000_000

// Template is a checked template, safe for concurrent use.
type Template struct {
	source string
	text   *template.Template // nil: source is plain text
}

// ParseTemplate checks a template: Go's text/template without define, block and template, with the functions of the
// documentation and no others.
func ParseTemplate(source string, names Names) (t *Template, faults []Fault) {
	if !strings.Contains(source, "{{") {
		return &Template{source: source}, nil
	}
	defer func() {
		if r := recover(); r != nil {
			t, faults = nil, []Fault{{Message: fmt.Sprintf("cannot be read as a template: %v", r)}}
		}
	}()
	tree := parse.New("t")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(source, "", "", trees); err != nil {
		return nil, []Fault{syntaxFault(source, err)}
	}
	functions := templateFunctions(names)
	c := &templateCheck{names: names, source: source, functions: functions}
	if len(trees) > 1 || len(trees) == 1 && trees["t"] != tree {
		c.refuseDefinitions()
	}
	c.list(tree.Root, dot{known: true})
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	(&rewriter{}).list(tree.Root)
	text, err := template.New("t").Funcs(functions).Funcs(internalFunctions()).AddParseTree("t", tree)
	if err != nil {
		return nil, []Fault{syntaxFault(source, err)}
	}
	return &Template{source: source, text: text}, nil
}

// Source is the text it was made of.
func (t *Template) Source() string { return t.source }

// Render fills the template in. Printing a null is an error that names it. The error is engine.Permanent.
func (t *Template) Render(scope engine.Scope) (string, error) {
	if t.text == nil {
		return t.source, nil
	}
	out := &limitedText{}
	if err := t.text.Execute(out, &rendering{scope: scope}); err != nil {
		return "", engine.Permanent(plainError(err))
	}
	return out.String(), nil
}

// rendering is the root value of one execution, which the rewritten tree hands to the functions that need it.
type rendering struct {
	scope      engine.Scope
	iterations int
}

// limitedText refuses to grow beyond MaxText.
type limitedText struct{ strings.Builder }

var errTooLong = fmt.Errorf("the text grows beyond %d MiB", MaxText>>20)

func (t *limitedText) Write(p []byte) (int, error) {
	if t.Len()+len(p) > MaxText {
		return 0, errTooLong
	}
	return t.Builder.Write(p)
}

var (
	syntaxPrefix = regexp.MustCompile(`^template: t:(\d+)(?::\d+)?: `)
	execPrefix   = regexp.MustCompile(`^template: t:\d+:\d+: executing "t" at <.*?>: `)
)

// syntaxFault places an error of the template parser, which knows only the line.
func syntaxFault(source string, err error) Fault {
	message, offset := err.Error(), 0
	if m := syntaxPrefix.FindStringSubmatch(message); m != nil {
		message = strings.TrimPrefix(message, m[0])
		var line int
		_, _ = fmt.Sscan(m[1], &line) // digits by the pattern
		for ; line > 1; line-- {
			end := strings.IndexByte(source[offset:], '\n')
			if end < 0 {
				break
			}
			offset += end + 1
		}
		if at := strings.Index(source[offset:], "{{"); at >= 0 {
			offset += at
		}
	}
	return Fault{Offset: offset, Message: reworded(message, templateSyntax)}
}

// templateError is an error whose message is already complete.
type templateError struct{ message string }

func (e *templateError) Error() string { return e.message }

func errorf(format string, args ...any) error {
	return &templateError{fmt.Sprintf(format, args...)}
}

// plainError takes away what the template machinery puts around an error: names of templates and of rewritten nodes.
func plainError(err error) error {
	var own *templateError
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, errTooLong):
		return errTooLong
	}
	return errors.New(execPrefix.ReplaceAllString(err.Error(), ""))
}
