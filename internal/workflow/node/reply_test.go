package node

import (
	"strings"
	"testing"
)

func TestReplyFaults(t *testing.T) {
	for stdout, want := range map[string]string{
		"":                                       "is empty; with protocol: json a program prints one object",
		"hello":                                  `is not one JSON object: invalid character 'h' looking for beginning of value, at byte 0: "hello"`,
		"[1]":                                    "is not an object: [1]",
		`{"output":1} {}`:                        "is not one JSON object: invalid character '{' after top-level value",
		`{"output":1}garbage`:                    "is not one JSON object: invalid character 'g' after top-level value",
		`{"output":1`:                            "is not one JSON object: unexpected end of JSON input",
		`{"outptu":1}`:                           `has the unknown key "outptu"; did you mean "output"?`,
		`{"output":1,"output":2}`:                `has the key "output" twice`,
		`{"output":1e999}`:                       "is wrong in output: is not one JSON value",
		`{"route":1}`:                            "is wrong in route: must be a text, not 1",
		`{"state":[]}`:                           "is wrong in state: is not an object: []",
		`{"state":{"nmae":1}}`:                   `writes the state key "nmae", which the workflow does not know; did you mean "name"?`,
		`{"state":{"name":1,"name":2}}`:          `is wrong in state: has the key "name" twice`,
		`{"closed":"open"}`:                      "is wrong in closed: must be a list of keys",
		`{"closed":["opne"]}`:                    `is wrong in closed: "opne" is no question that this run asked; did you mean "open"?`,
		`{"interrupts":{}}`:                      "is wrong in interrupts: must be a list",
		`{"interrupts":[1]}`:                     "is wrong in interrupts[0]: is not an object: 1",
		`{"interrupts":[{"payload":1}]}`:         "is wrong in interrupts[0]: key is required",
		`{"interrupts":[{"key":1,"payload":1}]}`: "is wrong in interrupts[0]: key must be a text, not 1",
		`{"interrupts":[{"key":"a"}]}`:           "is wrong in interrupts[0]: payload or kind is required",
		`{"interrupts":[{"key":"a","payload":1,"kind":"text"}]}`:           `is wrong in interrupts[0]: beside payload only key is allowed, not "kind"`,
		`{"interrupts":[{"key":"a","payload":1},{"key":"a","payload":1}]}`: `is wrong in interrupts[1]: the key "a" is used twice`,
		`{"interrupts":[{"key":"a","kind":"chioce","message":"x"}]}`:       `is wrong in interrupts[0]: kind: unknown kind "chioce"; did you mean "choice"?`,
		`{"interrupts":[{"key":"a","kind":"text","mesage":"x"}]}`:          `is wrong in interrupts[0]: unknown key "mesage"; did you mean "message"?`,
		`{"interrupts":[{"key":"open","payload":1}],"closed":["open"]}`:    `asks and closes "open" at once`,
		"{\"output\":\"\xff\"}": "is not UTF-8 text (byte 0xff at offset 11)",
	} {
		r := reply{keys: []string{"name", "amount"}, open: []string{"open"}}
		if _, err := r.read([]byte(stdout)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", stdout, err, want)
		}
	}
}
