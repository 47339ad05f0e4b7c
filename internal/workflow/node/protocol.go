package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

// request is what a program with protocol: json reads from stdin.
type request struct {
	Node            string                     `json:"node" doc:"the name of the node"`
	RunID           string                     `json:"run_id" doc:"the path of this run, as main@1/agent@2: the number grows with every fresh run, not with an answer"`
	Attempt         int                        `json:"attempt" doc:"from 1; counts the tries"`
	IdempotencyKey  string                     `json:"idempotency_key" doc:"the same whenever the run is tried again, after a failure or a crash, and another one once somebody has answered: give it to servers that must not do a thing twice"`
	Input           json.RawMessage            `json:"input" doc:"the object made by in, else the output of the node before; of a join an object, predecessor: output; after a routed retry that answer"`
	State           map[string]json.RawMessage `json:"state" doc:"every state key the node may see, null where nothing was written"`
	ResumeInputs    map[string]heard           `json:"resume_inputs" doc:"key: answer, for every question of this run that has been answered so far"`
	Feedback        map[string]heard           `json:"feedback" doc:"the retry that began this run, key: answer; where it was given at another node, the key is NODE or NODE.KEY. Else empty"`
	Discarded       map[string]heard           `json:"discarded" doc:"key: answer, what had been answered in the run which that retry took away; a program that uses them need ask nobody twice"`
	PriorOutput     json.RawMessage            `json:"prior_output" doc:"the output it last printed beside its questions, null before"`
	PriorInterrupts []string                   `json:"prior_interrupt_ids" doc:"the keys of its questions that are still open"`
}

// Member is a member of the objects that a program and the engine exchange; docs/programs.md lists them.
type Member struct{ Name, Doc string }

// RequestMembers are those of what a program reads.
func RequestMembers() []Member {
	var list []Member
	for t, i := reflect.TypeFor[request](), 0; i < t.NumField(); i++ {
		tag := t.Field(i).Tag
		list = append(list, Member{tag.Get("json"), tag.Get("doc")})
	}
	return list
}

// ReplyMembers are those of what a program prints.
func ReplyMembers() []Member {
	return []Member{
		{"output", "any JSON: the output of the node; beside questions it is kept, and comes back as prior_output"},
		{"state", "object: state keys to write, of those the file mentions; beside questions they are written once the run completes"},
		{"route", "text: the line of routes to take (the exit code)"},
		{"interrupts", "list: questions to ask; those asked before may be left out, and stay open"},
		{"closed", "list: keys of questions that are no longer needed; only this withdraws an open one"},
	}
}

// converse runs a program that speaks the JSON protocol: one object on stdin, one on stdout.
func (n *Exec) converse(ctx context.Context, call *engine.Call, scope *callScope, argv []string) (engine.Result, error) {
	stdin, err := n.request(call, scope)
	if err != nil {
		return engine.Result{}, err
	}
	ended, err := n.run(ctx, call, scope, argv, stdin)
	if err != nil {
		return engine.Result{}, err
	}
	reply := reply{keys: n.Keys, open: call.PriorInterrupts, answered: call.Resume}
	result, err := reply.read(ended.stdout)
	if err != nil {
		return engine.Result{}, fmt.Errorf("%s: the answer on stdout %w", argv[0], err)
	}
	if result.Route == "" && len(result.Interrupts) == 0 {
		result.Route = strconv.Itoa(ended.code)
	}
	return result, nil
}

func (n *Exec) request(call *engine.Call, scope *callScope) ([]byte, error) {
	input := call.Input.JSON()
	if n.In != nil {
		object, err := scope.object("in", n.In)
		if err != nil {
			return nil, err
		}
		if input, err = marshal(object); err != nil {
			return nil, fmt.Errorf("in: %w", err)
		}
	}
	state := make(map[string]json.RawMessage, len(n.Sees))
	for _, key := range n.Sees {
		v, _ := scope.Lookup(key)
		state[key] = v.JSON()
	}
	stdin, err := marshal(request{
		Node: call.Node, RunID: call.Path, Attempt: call.Attempt, IdempotencyKey: call.IdempotencyKey,
		Input: input, State: state,
		ResumeInputs: records(call.Resume), Feedback: records(call.Feedback), Discarded: records(call.Discarded),
		PriorOutput: call.PriorOutput.JSON(), PriorInterrupts: append([]string{}, call.PriorInterrupts...),
	})
	if err != nil {
		return nil, fmt.Errorf("the request of the program: %w", err)
	}
	return append(stdin, '\n'), nil
}

// heard is an answer as a program hears it: in the shape of the payload with which it asked, else its record.
type heard engine.AnswerRecord

// MarshalJSON writes what is heard.
func (h heard) MarshalJSON() ([]byte, error) {
	if h.Own != nil {
		return h.Own, nil
	}
	if h.Value == nil {
		h.Value = json.RawMessage("null")
	}
	return marshal(engine.AnswerRecord(h))
}

// records are the answers of a run as its program hears them, an object also where there are none.
func records(answers map[string]engine.AnswerRecord) map[string]heard {
	all := make(map[string]heard, len(answers))
	for key, a := range answers {
		all[key] = heard(a)
	}
	return all
}

// reply reads what a program printed into a Result. Errors continue the sentence "the answer on stdout ...".
type reply struct {
	keys     []string // that the program may write
	open     []string // questions still open
	answered map[string]engine.AnswerRecord
	result   engine.Result
}

func (r *reply) read(stdout []byte) (engine.Result, error) {
	if at := firstInvalid(stdout); at >= 0 {
		return engine.Result{}, fmt.Errorf("is not UTF-8 text (byte 0x%02x at offset %d)", stdout[at], at)
	}
	if len(bytes.TrimSpace(stdout)) == 0 {
		return engine.Result{}, errors.New("is empty; with protocol: json a program prints one object")
	}
	members, err := objectMembers(stdout)
	if err != nil {
		return engine.Result{}, err
	}
	for _, m := range members {
		if err := r.member(m); err != nil {
			return engine.Result{}, err
		}
	}
	for _, ask := range r.result.Interrupts {
		if slices.Contains(r.result.Closed, ask.Key) {
			return engine.Result{}, fmt.Errorf("asks and closes %q at once", ask.Key)
		}
	}
	return r.result, nil
}

func (r *reply) member(m member) error {
	switch m.name {
	case "output":
		var err error
		r.result.Output, err = parseJSON(m.value)
		return within("output", err)
	case "state":
		return r.state(m.value)
	case "route":
		return within("route", r.route(m.value))
	case "interrupts":
		return r.interrupts(m.value)
	case "closed":
		return within("closed", r.closed(m.value))
	}
	var names []string
	for _, known := range ReplyMembers() {
		names = append(names, known.Name)
	}
	return fmt.Errorf("has the unknown key %q%s (known are output, state, route, interrupts and closed)", m.name, nearest.Hint(m.name, names))
}

func within(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("is wrong in %s: %w", name, err)
}

func (r *reply) state(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	updates, err := objectMembers(raw)
	if err != nil {
		return within("state", err)
	}
	r.result.Updates = make(map[string]engine.Value, len(updates))
	for _, u := range updates {
		if !slices.Contains(r.keys, u.name) {
			return fmt.Errorf("writes the state key %q, which the workflow does not know%s", u.name, nearest.Hint(u.name, r.keys))
		}
		v, err := parseJSON(u.value)
		if err != nil {
			return within("state."+u.name, err)
		}
		r.result.Updates[u.name] = v
	}
	return nil
}

func (r *reply) route(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	if json.Unmarshal(raw, &r.result.Route) != nil {
		return fmt.Errorf("must be a text, not %.40s", raw)
	}
	return nil
}

func (r *reply) closed(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	if json.Unmarshal(raw, &r.result.Closed) != nil {
		return errors.New("must be a list of keys")
	}
	for _, key := range r.result.Closed {
		if _, answered := r.answered[key]; !answered && !slices.Contains(r.open, key) {
			return fmt.Errorf("%q is no question that this run asked%s", key, nearest.Hint(key, r.open))
		}
	}
	return nil
}

func (r *reply) interrupts(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return within("interrupts", errors.New("must be a list"))
	}
	for i, item := range list {
		ask, err := readAsk(item)
		if err != nil {
			return within(fmt.Sprintf("interrupts[%d]", i), err)
		}
		if slices.ContainsFunc(r.result.Interrupts, func(a engine.Ask) bool { return a.Key == ask.Key }) {
			return within(fmt.Sprintf("interrupts[%d]", i), fmt.Errorf("the key %q is used twice", ask.Key))
		}
		r.result.Interrupts = append(r.result.Interrupts, ask)
	}
	return nil
}

// readAsk reads {key, payload}, a payload of any shape, or {key, kind, ...}, a question with the keys of workflow files.
func readAsk(raw json.RawMessage) (engine.Ask, error) {
	members, err := objectMembers(raw)
	if err != nil {
		return engine.Ask{}, err
	}
	var ask engine.Ask
	var others []string
	native := false
	for _, m := range members {
		switch m.name {
		case "key":
			if json.Unmarshal(m.value, &ask.Key) != nil {
				return engine.Ask{}, fmt.Errorf("key must be a text, not %.40s", m.value)
			}
		case "payload":
			if ask.Payload, err = compact(m.value); err != nil {
				return engine.Ask{}, err
			}
		default:
			native = native || m.name == "kind"
			others = append(others, m.name)
		}
	}
	switch {
	case ask.Key == "":
		return engine.Ask{}, errors.New("key is required: it names the question within the run")
	case ask.Payload != nil && len(others) > 0:
		return engine.Ask{}, fmt.Errorf("beside payload only key is allowed, not %q", others[0])
	case ask.Payload != nil:
		return ask, nil
	case !native:
		return engine.Ask{}, errors.New("payload or kind is required")
	}
	return ask, nativeAsk(&ask, raw)
}

func nativeAsk(ask *engine.Ask, raw json.RawMessage) error {
	q, err := question.ParseNative(raw)
	if err != nil {
		return err
	}
	if q.Title == "" {
		q.Title = firstLine(q.Message)
	}
	if q.ContentType == "" {
		q.ContentType = contentType(q.Content)
	}
	ask.Payload, err = marshal(q)
	ask.Timeout = q.Timeout()
	return err
}

// marshal is json.Marshal without the escapes that only HTML needs, so that a text is stored as it is.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func compact(raw json.RawMessage) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// member is one member of a JSON object, in the order of the text.
type member struct {
	name  string
	value json.RawMessage
}

// objectMembers reads exactly one object. A key given twice is an error, since one of the two would be lost.
func objectMembers(raw []byte) ([]member, error) {
	if !json.Valid(raw) {
		var v any
		err := json.Unmarshal(raw, &v)
		return nil, fmt.Errorf("is not one JSON object: %w%s", err, near(raw, err))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("is not an object: %.40s", bytes.TrimSpace(raw))
	}
	var members []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string) // valid JSON has texts as keys
		if slices.ContainsFunc(members, func(m member) bool { return m.name == name }) {
			return nil, fmt.Errorf("has the key %q twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		members = append(members, member{name, value})
	}
	if _, err := d.Token(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return members, nil
}
