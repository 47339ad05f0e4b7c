package wire

import (
	"encoding/json"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// AgentMap is the answer of AgentMap's own routes, POST /execute and POST /resume, with what its clients read, and our
// interrupts beside it. Unlike AgentMap's, success is false when the workflow failed.
type AgentMap struct {
	Success       bool               `json:"success"`
	Status        string             `json:"status"` // completed, suspended or failed
	Message       string             `json:"message"`
	ThreadID      string             `json:"thread_id"`
	ExecutionID   string             `json:"execution_id"`
	Outputs       json.RawMessage    `json:"outputs"`
	Summary       AgentMapSummary    `json:"execution_summary"`
	Metadata      AgentMapMetadata   `json:"metadata"`
	InterruptInfo *AgentMapInterrupt `json:"interrupt_info"`
	Error         *string            `json:"error"`
	Interrupts    []Interrupt        `json:"interrupts"`
}

// AgentMapSummary tells what ran, over the whole life of the thread.
type AgentMapSummary struct {
	GraphName      string         `json:"graph_name"`
	Status         string         `json:"status"`
	GraphSuccess   bool           `json:"graph_success"`
	NodeExecutions []AgentMapNode `json:"node_executions"`
}

// AgentMapNode is one node run.
type AgentMapNode struct {
	NodeName string  `json:"node_name"`
	Success  bool    `json:"success"`
	Duration float64 `json:"duration"` // seconds
}

// AgentMapMetadata is what AgentMap's clients find beside the outputs.
type AgentMapMetadata struct {
	GraphName           string  `json:"graph_name"`
	ThreadID            string  `json:"thread_id"`
	CheckpointAvailable bool    `json:"checkpoint_available"`
	InterruptType       *string `json:"interrupt_type"`
	NodeName            *string `json:"node_name"`
}

// AgentMapInterrupt is the question that has been open longest.
type AgentMapInterrupt struct {
	Type          string          `json:"type"`
	NodeName      string          `json:"node_name"`
	ThreadID      string          `json:"thread_id"`
	InteractionID string          `json:"interaction_id"`
	Prompt        string          `json:"prompt"`
	Options       []Option        `json:"options"`
	Context       json.RawMessage `json:"context"` // the payload
	Deadline      *time.Time      `json:"deadline"`
}

// ToAgentMap is the result of a run as AgentMap's clients expect it; path are the node runs of the thread so far.
func ToAgentMap(r *desk.Result, path []desk.PathStep) AgentMap {
	e := FromResult(r)
	x := AgentMap{
		Success: e.Success, Status: agentMapStatus(e), ThreadID: r.Thread, ExecutionID: r.Thread, Outputs: object(r.Outputs), Interrupts: e.Interrupts,
		Metadata: AgentMapMetadata{GraphName: r.Workflow, ThreadID: r.Thread, CheckpointAvailable: true},
	}
	x.Summary = AgentMapSummary{GraphName: r.Workflow, Status: x.Status, GraphSuccess: x.Success, NodeExecutions: []AgentMapNode{}}
	for _, step := range path {
		x.Summary.NodeExecutions = append(x.Summary.NodeExecutions, AgentMapNode{step.Node, step.Status != "FAILED", float64(step.TookMS) / 1000})
	}
	switch {
	case e.Error != nil:
		x.Message, x.Error = e.Error.Message, &e.Error.Message
	case len(r.Questions) > 0:
		x.Message = "Execution interrupted in thread: " + r.Thread
	default:
		x.Message = "Execution " + x.Status
	}
	if len(r.Questions) > 0 {
		x.ask(r.Questions[0])
	}
	return x
}

func (x *AgentMap) ask(q desk.Question) {
	kind := interactionType(q.Kind)
	x.Metadata.InterruptType, x.Metadata.NodeName = &kind, text(q.Node)
	x.InterruptInfo = &AgentMapInterrupt{
		Type: kind, NodeName: q.Node, ThreadID: q.Thread, InteractionID: q.ID, Prompt: first(q.Message, q.Title), Options: interrupt(q).Options,
		Context: q.Payload, Deadline: moment(q.Due),
	}
}

// interactionType is AgentMap's word for a kind of question.
func interactionType(kind actions.Kind) string {
	if kind == actions.Text {
		return "text_input"
	}
	return string(kind)
}

func agentMapStatus(e Envelope) string {
	switch {
	case !e.Success:
		return "failed"
	case e.Status != nil && (*e.Status == "interrupted" || *e.Status == "sleeping" || *e.Status == "running"):
		return "suspended"
	default:
		return "completed"
	}
}

// object is outputs as AgentMap has them: an object, also where there are none.
func object(outputs json.RawMessage) json.RawMessage {
	if len(outputs) == 0 || string(outputs) == "null" {
		return json.RawMessage("{}")
	}
	return outputs
}
