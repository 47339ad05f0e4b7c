package lang

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// rewording is what a parser says, and what a writer of workflows can act on; $1 is the first group of the pattern.
type rewording struct {
	said  *regexp.Regexp
	plain string
}

func said(pattern, plain string) rewording { return rewording{regexp.MustCompile(pattern), plain} }

// reworded gives the plain words of the first that fits, else the message as it is.
func reworded(message string, list []rewording) string {
	for _, r := range list {
		if m := r.said.FindStringSubmatchIndex(message); m != nil {
			return string(r.said.ExpandString(nil, r.plain, message, m))
		}
	}
	return message
}

// templateSyntax is for the messages of text/template.
var templateSyntax = []rewording{
	said(`^bad character U\+007D|unexpected "\}"`, `a value ends with two braces: {{.name}}`),
	said(`unexpected "\{"`, `"{" has no meaning within braces: a value is written {{.name}}`),
	said(`^unclosed action`, `"{{" is never closed: a value is written {{.name}}`),
	said(`^unexpected EOF`, `an if, range or with has no {{end}}`),
	said(`^unexpected (\{\{(?:end|else.*)\}\})`, `$1 belongs to no if, range or with before it`),
	said(`^missing value for command`, `there is nothing within the braces: a value is written {{.name}}`),
	said(`^missing value for (\w+)`, `$1 says nothing of what: {{$1 .name}}`),
	said(`^(undefined variable "(.*)")`, `$1: set it first, as in {{$2 := .name}}`),
	said(`^unterminated (?:raw )?quoted string`, `a text within the braces has no second quote`),
	said(`^unexpected "="`, `a template compares with functions: {{if eq .name "x"}}, also ne, lt, le, gt, ge`),
	said(`^unexpected "(.)" in operand`, `"$1" has no meaning within braces`),
	said(`^illegal number syntax: "([+-])"`, `a template does not calculate ("$1"): do it in a set node, whose expressions do`),
	said(`^bad character U\+002D`, `a template does not calculate ("-"), and a name has no "-": do it in a set node, whose expressions do`),
	said(`^bad character U\+005B`, `an item of a list is written {{index .name 0}}, not with [ ]`),
	said(`^unclosed left paren`, `"(" is never closed`),
	said(`^unexpected right paren`, `")" closes nothing`),
	said(`^bad character U\+[0-9A-F]+ '(.)'`, `"$1" has no meaning within braces`),
}

// exprSyntax is for the messages of expr-lang.
var exprSyntax = []rewording{
	said(`Operator\("="\)`, `= does not compare: write ==`),
	said(`^unexpected token EOF|^unexpected end of expression`, `the expression is not complete`),
	said(`^unexpected token Operator\("#"\)`, `# is the item of filter, map, any and all, and stands only in their brackets`),
	said(`^unexpected token Operator\("(.*)"\)`, `"$1" cannot stand here: it needs a value before it`),
	said(`^unexpected token Identifier\("is"\)`, `"is" does not compare: write ==`),
	said(`^unexpected token Identifier\("AND"\)`, `write and in small letters`),
	said(`^unexpected token Identifier\("OR"\)`, `write or in small letters`),
	said(`^unexpected token Bracket\("([)\]}])"\)`, `"$1" closes nothing, or a value is missing before it`),
	said(`^unexpected token (?:Identifier|Number|String|Bracket)\("(.*)"\)`, `"$1" cannot stand here: an operator or a comma is missing before it`),
	said(`^Operator \((.+)\) and coalesce expressions`, `?? beside $1 needs brackets: (a ?? b) $1 c`),
	said(`^literal not terminated`, `a text has no second quote`),
	said(`^unrecognized character: U\+[0-9A-F]+ '(.)'`, `"$1" has no meaning in an expression; a text needs quotes of its own`),
	said(`^invalid number of arguments \(expected (\d+), got (\d+)\)`, `this function takes another number of values: $1, not $2`),
}

// hintOf names the nearest of names; where none is near and they are few, all of them.
func hintOf(name string, names []string) string {
	if near := nearest.Hint(name, names); near != "" || len(names) == 0 || len(names) > maxListed {
		return near
	}
	return "; known are " + strings.Join(names, ", ")
}

// maxListed is how many names a message lists where none is near.
const maxListed = 8

// otherFunctions are functions as other languages call them, and ours that do the same, of expressions or of templates.
var otherFunctions = map[string][]string{
	"length": {"len"}, "size": {"len"}, "strlen": {"len"}, "substr": {"slice"}, "substring": {"slice"},
	"str": {"string", "printf"}, "tostring": {"string", "printf"}, "to_json": {"toJSON", "json"}, "tojson": {"toJSON", "json"}, "json": {"toJSON"},
	"toint": {"int"}, "parseint": {"int"}, "tonumber": {"float", "number"}, "number": {"float"}, "contains": {"any"}, "isempty": {"len"},
	"avg": {"mean"}, "average": {"mean"}, "each": {"map"}, "where": {"filter"}, "uppercase": {"upper"}, "toupper": {"upper"},
	"lowercase": {"lower"}, "tolower": {"lower"}, "strip": {"trim"}, "coalesce": {"default"}, "format": {"printf"},
}

// functionHint says which function an unknown one most likely is: the nearest, or the one of another language's name.
func functionHint(name string, known []string) string {
	if near := nearest.Hint(name, known); near != "" {
		return near
	}
	for _, ours := range otherFunctions[strings.ToLower(name)] {
		if slices.Contains(known, ours) {
			return `; here that is "` + ours + `"`
		}
	}
	return ""
}
