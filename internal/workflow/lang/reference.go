package lang

// Word is a name of one of the languages and what it means; docs/workflows.md lists them.
type Word struct {
	Name string
	Form string // how it is written: join ", " .names
	Doc  string
}

// namesOf are the names of words.
func namesOf(words []Word) []string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = w.Name
	}
	return names
}

// AnswerFields are what answers.NODE, or answers.NODE.QUESTION, has.
func AnswerFields() []Word {
	return []Word{
		{"action", "answers.review.action", "the action: approve, retry, ..."},
		{"value", "answers.review.value", "what the answer gives: the content, the option, the text, the form; any depth below it"},
		{"comment", "answers.review.comment", "the comment with it, the feedback of a retry or the reason of a rejection; an empty text if there is none"},
		{"by", "answers.review.by", "who answered"},
		{"at", "answers.review.at", "when, as in RFC 3339"},
	}
}

// ErrorFields are what errors.NODE has.
func ErrorFields() []Word {
	return []Word{
		{"message", "errors.verify.message", "what went wrong, or that the node was rejected or cancelled"},
		{"ended", "errors.verify.ended", "`failed`, `rejected` or `cancelled`"},
		{"by", "errors.verify.by", "who rejected or cancelled"},
		{"comment", "errors.verify.comment", "why, in that person's words"},
		{"attempts", "errors.verify.attempts", "how often it was tried"},
		{"at", "errors.verify.at", "when, as in RFC 3339"},
	}
}

// ErrorNames are the names of these fields.
func ErrorNames() []string { return namesOf(ErrorFields()) }

// RunFields are what run has.
func RunFields() []Word {
	return []Word{
		{"id", "run.id", "the thread"},
		{"workflow", "run.workflow", "the name of the workflow"},
		{"started", "run.started", "when the thread was started, as in RFC 3339"},
	}
}

// TemplateFunctions are the functions of templates. Those that work on a value take it last, so that it can be piped in.
func TemplateFunctions() []Word {
	return []Word{
		{"and", "and .a .b", "the first that is empty, else the last"},
		{"or", "or .a .b", "the first that is not empty, else the last"},
		{"not", "not .a", "true for false, 0, null, an empty text, list or object"},
		{"eq", "eq .a 1 2", "whether the first equals one of the others; numbers by value"},
		{"ne", "ne .a .b", "whether they differ"},
		{"lt", "lt .a .b", "less than; numbers, or texts"},
		{"le", "le .a .b", "at most"},
		{"gt", "gt .a .b", "greater than"},
		{"ge", "ge .a .b", "at least"},
		{"len", "len .names", "characters of a text, items of a list, keys of an object"},
		{"index", "index .rows 0 \"name\"", "what lies there, from 0 in lists; null for a key that an object does not have"},
		{"slice", "slice .names 1 3", "a part of a list, or of a text by characters"},
		{"printf", "printf \"%05.1f\" .x", "text by a format of Go"},
		{"lines", "lines .text", "the lines of a text as a list; a list as text, an item a line"},
		{"json", "json .rows", "as JSON"},
		{"join", "join \", \" .names", "a list as one text"},
		{"trim", "trim .text", "without space at both ends"},
		{"upper", "upper .text", "in capitals"},
		{"lower", "lower .text", "in small letters"},
		{"replace", "replace \"a\" \"b\" .text", "every a by b"},
		{"indent", "indent 4 .text", "each line moved by so many blanks"},
		{"truncate", "truncate 80 .text", "at most so many characters, the last an ellipsis"},
		{"number", "number 2 .amount", "a number with so many decimals"},
		{"first", "first .names", "the first item, null if there is none"},
		{"last", "last .names", "the last item"},
		{"date", "date \"2 January 2006\" .at", "a time in a layout of Go"},
		{"default", "default \"-\" .x", "the first for null and the empty text"},
		{"env", "env \"NAME\"", "a variable of the environment; only under env and headers and in an http URL"},
	}
}

// ExpressionFunctions are the functions of expressions; in their brackets # is the item.
func ExpressionFunctions() []Word {
	return []Word{
		{"all", "all(rows, .paid)", "whether it holds for each"},
		{"none", "none(rows, .paid)", "whether it holds for none"},
		{"any", "any(rows, # > 3)", "whether it holds for one or more"},
		{"one", "one(rows, # > 3)", "whether it holds for exactly one"},
		{"filter", "filter(rows, .amount > 100)", "the items for which it holds"},
		{"map", "map(rows, .amount)", "what it makes of each item"},
		{"find", "find(rows, .id == 7)", "the first item for which it holds, else null"},
		{"findIndex", "findIndex(rows, .id == 7)", "its place, from 0"},
		{"findLast", "findLast(rows, .id == 7)", "the last such item"},
		{"findLastIndex", "findLastIndex(rows, .id == 7)", "its place"},
		{"count", "count(rows, .paid)", "for how many it holds"},
		{"sum", "sum(map(rows, .amount))", "of numbers"},
		{"groupBy", "groupBy(rows, .person)", "an object of lists"},
		{"sortBy", "sortBy(rows, .amount, \"desc\")", "the items by what it makes of each"},
		{"reduce", "reduce(rows, #acc + #, 0)", "all items one after the other"},
		{"len", "len(names)", "characters, items or keys"},
		{"type", "type(x)", "\"nil\", \"bool\", \"int\", \"float\", \"string\", \"array\" or \"map\""},
		{"abs", "abs(x)", "without sign"},
		{"ceil", "ceil(x)", "rounded up"},
		{"floor", "floor(x)", "rounded down"},
		{"round", "round(x)", "rounded"},
		{"int", "int(x)", "a whole number of a number or a text"},
		{"float", "float(x)", "a number of a text"},
		{"string", "string(x)", "as text"},
		{"trim", "trim(text)", "without space, or without given characters, at both ends"},
		{"trimPrefix", "trimPrefix(text, \"a\")", "without that beginning"},
		{"trimSuffix", "trimSuffix(text, \"a\")", "without that end"},
		{"upper", "upper(text)", "in capitals"},
		{"lower", "lower(text)", "in small letters"},
		{"split", "split(text, \",\")", "a list of the parts"},
		{"splitAfter", "splitAfter(text, \",\")", "the parts with what divides them"},
		{"replace", "replace(text, \"a\", \"b\")", "every a by b"},
		{"repeat", "repeat(text, 3)", "so often"},
		{"join", "join(names, \", \")", "a list of texts as one text"},
		{"indexOf", "indexOf(text, \"a\")", "where it first stands, else -1"},
		{"lastIndexOf", "lastIndexOf(text, \"a\")", "where it last stands"},
		{"hasPrefix", "hasPrefix(text, \"a\")", "whether it begins so"},
		{"hasSuffix", "hasSuffix(text, \"a\")", "whether it ends so"},
		{"max", "max(a, b)", "the greatest, of numbers or of a list"},
		{"min", "min(a, b)", "the least"},
		{"mean", "mean(numbers)", "the average"},
		{"median", "median(numbers)", "the middle one"},
		{"toJSON", "toJSON(x)", "as JSON"},
		{"fromJSON", "fromJSON(text)", "what a JSON text says"},
		{"now", "now()", "the time"},
		{"duration", "duration(\"48h\")", "a time span: now() + duration(\"48h\")"},
		{"date", "date(text)", "a time of a text"},
		{"timezone", "timezone(\"Europe/Berlin\")", "a zone, for date"},
		{"first", "first(rows)", "the first item, null if there is none"},
		{"last", "last(rows)", "the last item"},
		{"get", "get(rows, 3)", "what lies there, null if nothing does"},
		{"take", "take(rows, 3)", "so many from the beginning"},
		{"keys", "keys(object)", "its keys"},
		{"values", "values(object)", "its values"},
		{"toPairs", "toPairs(object)", "[[key, value], ...]"},
		{"toBase64", "toBase64(text)", "in base 64"},
		{"fromBase64", "fromBase64(text)", "from base 64"},
		{"fromPairs", "fromPairs(pairs)", "an object of such a list"},
		{"reverse", "reverse(rows)", "from the end"},
		{"uniq", "uniq(rows)", "each once"},
		{"concat", "concat(a, b)", "one list of several"},
		{"flatten", "flatten(lists)", "one list of lists"},
		{"sort", "sort(numbers, \"desc\")", "in order"},
		{"bitand", "bitand(a, b)", "bit by bit, as bitor, bitxor, bitnand, bitnot, bitshl, bitshr and bitushr"},
	}
}
