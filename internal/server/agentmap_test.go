package server_test

import (
	"fmt"
	"strings"
	"testing"
)

func contains(text, words string) bool { return strings.Contains(text, words) }

const agentMapFile = `GraphName,Node,AgentType,Edge,Context,Input_Fields,Output_Field,Prompt
SuspendResume,Start,default,Wait,,,begun,Hello
SuspendResume,Wait,suspend,Done,"{""reason"": ""parcel""}",,came,
SuspendResume,Done,default,,,,ended,Bye
Pick,Ask,human,Last,"{""interaction_type"": ""choice"", ""options"": [""high"", ""low""]}",topic,level,How urgent is {topic}?
Pick,Last,echo,,,level,said,
Write,Ask,human,Change,"{""interaction_type"": ""text_input""}",,note,Say it
Write,Change,human,Agree,"{""interaction_type"": ""edit""}",note,changed,Change it
Write,Agree,human,Last,"{""interaction_type"": ""approval""}",changed,agreed,Is it right?
Write,Last,echo,,,changed,said,
`

// has fails unless the value at each path (a.b.0) of an answer is what it should be.
func (a answered) has(t *testing.T, want map[string]any) {
	t.Helper()
	for path, value := range want {
		var at any = a.json
		for name := range strings.SplitSeq(path, ".") {
			switch v := at.(type) {
			case map[string]any:
				next, there := v[name]
				if !there {
					t.Errorf("there is no %s", path)
				}
				at = next
			case []any:
				var i int
				if _, err := fmt.Sscan(name, &i); err != nil || i >= len(v) {
					t.Errorf("there is no %s in %v", path, v)
					return
				}
				at = v[i]
			}
		}
		if fmt.Sprint(at) != fmt.Sprint(value) {
			t.Errorf("%s is %v, want %v\n%s", path, at, value, a.body)
		}
	}
}

// TestAgentMapSuspendAndResume goes the way of AgentMap's own clients: execute a graph that suspends, then resume the thread
// with an empty body.
func TestAgentMapSuspendAndResume(t *testing.T) {
	w := newWorld(t, setting{})
	w.write("workflows/suspend_resume.csv", agentMapFile)
	key := []string{"X-API-Key", writer}
	for i, path := range []string{"suspend_resume/SuspendResume", "suspend_resume::SuspendResume", "suspend_resume%3A%3ASuspendResume", "suspend_resume%2FSuspendResume"} {
		thread := fmt.Sprintf("thread-000%d", i)
		a := w.call("", "POST", "/execute/"+path, `{"inputs":{},"execution_id":"`+thread+`","force_create":false}`, key...).want(t, 200, "")
		a.has(t, map[string]any{
			"status": "suspended", "thread_id": thread, "execution_id": thread, "message": "Execution interrupted in thread: " + thread, "error": nil,
			"outputs": map[string]any{}, "interrupt_info.type": "suspend", "interrupt_info.node_name": "Wait", "interrupt_info.thread_id": thread,
			"execution_summary.graph_name": "SuspendResume", "execution_summary.status": "suspended", "execution_summary.node_executions.0.node_name": "Start",
			"execution_summary.node_executions.0.success": true,
			"metadata.graph_name":                         "SuspendResume", "metadata.checkpoint_available": true, "metadata.interrupt_type": "suspend", "metadata.node_name": "Wait",
		})
		// Without data nothing comes, with data it comes as it was sent.
		body, came := `{}`, any(nil)
		if i%2 == 1 {
			body, came = `{"action":"continue","data":{"parcel":7}}`, map[string]any{"parcel": 7}
		}
		b := w.call("", "POST", "/resume/"+thread, body, key...).want(t, 200, "")
		b.has(t, map[string]any{
			"success": true, "status": "completed", "thread_id": thread, "error": nil, "interrupt_info": nil, "outputs.came": came,
			"execution_summary.graph_success": true, "execution_summary.status": "completed", "metadata.thread_id": thread,
		})
		w.call("", "POST", "/resume/"+thread, `{}`, key...).want(t, 409, "not_waiting")
	}
}

// TestAgentMapChoice: the data that AgentMap's clients send, and the refusals that differ from its own.
func TestAgentMapChoice(t *testing.T) {
	w := newWorld(t, setting{})
	w.write("workflows/suspend_resume.csv", agentMapFile)
	w.call(writer, "POST", "/execute/suspend_resume::Pick", `{"inputs":{"topic":"tea"},"execution_id":"thread-0001"}`).want(t, 200, "").has(t, map[string]any{
		"status": "suspended", "interrupt_info.type": "choice", "interrupt_info.prompt": "How urgent is tea?", "interrupt_info.options.0.value": "high",
	})
	resume := func(body string) answered { return w.call(writer, "POST", "/resume/thread-0001", body) }
	resume(`{"action":"frobnicate"}`).want(t, 422, "unknown_action")
	resume(`{"action":"approve","data":{}}`).want(t, 422, "action_not_allowed")
	resume(`{"action":"choose","data":{"choice":3}}`).want(t, 422, "invalid_data")
	resume(`{"action":"choose","data":{"choice":2}}`).want(t, 200, "").has(t, map[string]any{"status": "completed", "outputs.level": "low", "outputs.said": "low"})
	w.call(writer, "POST", "/execute/suspend_resume", `{}`).want(t, 400, "usage") // of two graphs one has to be named
	w.call(writer, "POST", "/execute/suspend_resume::Nowhere", `{}`).want(t, 404, "not_found")
}

// TestAgentMapDataSayWhatIsMeant: AgentMap's clients send data without an action, or with the one its command line hints at.
// An approval is never taken from data.
func TestAgentMapDataSayWhatIsMeant(t *testing.T) {
	w := newWorld(t, setting{})
	w.write("workflows/suspend_resume.csv", agentMapFile)
	for i, action := range []string{``, `"action":null,`, `"action":"continue",`, `"action":"submit",`} {
		thread := fmt.Sprintf("thread-000%d", i)
		w.call(writer, "POST", "/execute/suspend_resume::Write", `{"inputs":{},"execution_id":"`+thread+`"}`).want(t, 200, "")
		resume := func(data string) answered {
			return w.call(writer, "POST", "/resume/"+thread, "{"+action+`"data":`+data+"}")
		}
		resume(`{"choice":1}`).want(t, 422, "invalid_data")
		resume(`{"text":"first"}`).want(t, 200, "").has(t, map[string]any{"status": "suspended", "interrupt_info.type": "edit"})
		resume(`{"edited":"second"}`).want(t, 200, "").has(t, map[string]any{"status": "suspended", "interrupt_info.type": "approval"})
		resume(`{"text":"yes"}`).want(t, 422, "action_not_allowed")
		w.call(writer, "POST", "/resume/"+thread, `{"action":"approve"}`).want(t, 200, "").has(t, map[string]any{
			"status": "completed", "outputs.note": "first", "outputs.said": "second", "outputs.agreed": true,
		})
	}
	w.call(writer, "POST", "/execute/suspend_resume::Pick", `{"inputs":{"topic":"tea"},"execution_id":"thread-0009"}`).want(t, 200, "")
	w.call(writer, "POST", "/resume/thread-0009", `{"data":{"choice":2}}`).want(t, 200, "").has(t, map[string]any{"outputs.level": "low"})
}
