package node

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		parse  Parse
		output string
		want   string // JSON, or an error after "!"
	}{
		{"", "a\n", `"a"`},
		{ParseText, "a\n\n", `"a\n"`},
		{ParseText, "1e3\r\n", `"1e3"`},
		{ParseText, "", `""`},
		{ParseRaw, "a\n", `"a\n"`},
		{ParseLines, "a\nb\r\n\nc", `["a","b","","c"]`},
		{ParseLines, "", `[]`},
		{ParseJSON, " {\"a\": 1}\n", `{"a":1}`},
		{ParseJSON, "{} x", "!is not one JSON value: invalid character 'x' after top-level value, at byte 3: \"x\""},
		{ParseJSON, "", "!is empty, where one JSON value is expected"},
		{ParseJSON, "1e999", "!is not one JSON value: "},
		{ParseCSV, "id,reason\n1,\"a, b\"\n2,1e3\n", `[{"id":"1","reason":"a, b"},{"id":"2","reason":"1e3"}]`},
		{ParseCSV, "\uFEFFid\n", `[]`},
		{ParseCSV, "", "!has no header row"},
		{ParseCSV, "a,b\n1,2,3\n", "!is not CSV: record on line 2: wrong number of fields"},
		{ParseCSV, "a,b\n1\n", "!is not CSV: record on line 2: wrong number of fields"},
		{ParseCSV, "a,a\n", `!two columns are named "a"`},
		{ParseCSV, "a,\n", "!column 2 has no name in the header row"},
		{ParseCSV, "a\n\"x", "!is not CSV: "},
		{ParseText, "a\xffb", "!is not UTF-8 text (byte 0xff at offset 1)"},
		{ParseJSON, "\"\xff\"", "!is not UTF-8 text"},
	} {
		v, err := parse(c.parse, []byte(c.output))
		got := string(v.JSON())
		if after, isError := strings.CutPrefix(c.want, "!"); isError {
			if err == nil || !strings.HasPrefix(err.Error(), after) {
				t.Errorf("%s %q: got %s, %v; want %s", c.parse, c.output, got, err, after)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s %q: got %s, %v; want %s", c.parse, c.output, got, err, c.want)
		}
	}
}
