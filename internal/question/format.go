package question

import (
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Shape names the format a payload was recognised as.
type Shape string

// The shapes, in the order of Formats.
const (
	Native         Shape = "native" // actions.Question, as human nodes and programs with `kind` write it
	HumanInterrupt Shape = "langgraph_human_interrupt"
	HITLRequest    Shape = "langchain_hitl_request"
	LangGraph      Shape = "langgraph_interrupt"
	AskUser        Shape = "deepagents_ask_user"
	ADKInput       Shape = "adk_request_input"
	ADKConfirm     Shape = "adk_request_confirmation"
	ADKCredential  Shape = "adk_request_credential"
	AgentMap       Shape = "agentmap_interaction"
	OpenAIApproval Shape = "openai_tool_approval"
	AgentApproval  Shape = "agent_framework_approval"
	AgentRequest   Shape = "agent_framework_request"
	AGUI           Shape = "agui_interrupt"
	Elicitation    Shape = "mcp_elicitation"
	InputRequired  Shape = "mcp_input_required"
	A2AInput       Shape = "a2a_input_required"
	FunctionCall   Shape = "humanlayer_function_call"
	HumanContact   Shape = "humanlayer_human_contact"
	ToolApproval   Shape = "humanlayer_approval"
	Gate           Shape = "agentflow_quality_gate"
	Clarification  Shape = "agentflow_clarification"
	Permission     Shape = "agentflow_permission"
	DifyForm       Shape = "dify_human_input"
	Unknown        Shape = "unknown" // anything else
)

// Format is one row of the table of shapes: what a payload is known by, and the words it has for the actions. An
// action without a word is not offered, but for retry and stop, which are no answers, and cancel, which withdraws the
// question where the shape has no word for it.
type Format struct {
	Shape Shape
	Title string // whose it is, and its name there
	Known string // by what it is recognised, for docs
	Words []Word // nil: every action, by its own name
	Notes string // for docs

	wraps bool // it holds questions of other shapes, whose words it takes; see wrapper

	// read understands a payload, or says that it is of another shape. It must not be quick to say yes: what a question
	// does not show is lost to the reader.
	read func(payload) (asked, bool)
}

// Word is what an action is called in a shape.
type Word struct {
	Action actions.Action
	Says   string // the answer, or the part of it that tells
}

func formatOf(shape Shape) (Format, bool) {
	all := Formats()
	i := slices.IndexFunc(all, func(f Format) bool { return f.Shape == shape })
	if i < 0 {
		return Format{}, false
	}
	return all[i], true
}

// Formats is the table of known shapes, the most telling first. The last takes everything.
func Formats() []Format {
	return slices.Concat(
		[]Format{{Shape: Native, Title: "hitl-tui, a question", Known: "`kind` with the keys of a question in a workflow file", read: readNative}},
		langChainFormats(), adkFormats(),
		[]Format{agentMapFormat(), openAIFormat()},
		agentFrameworkFormats(), []Format{agUIFormat()}, mcpFormats(), []Format{a2aFormat()},
		humanLayerFormats(), agentFlowFormats(), []Format{difyFormat()},
		[]Format{{Shape: Unknown, Title: "anything else", Known: "no other row", read: readUnknown,
			Notes: "The payload is shown as a JSON tree, or as the text it is. All fifteen actions are allowed."}},
	)
}

const severalNotes = "Several calls are one question, a form with a verdict each: `submit` takes " +
	"`{\"1\": {\"decision\": \"approve\"}, \"2\": {\"decision\": \"reject\", \"message\": \"why\"}}`. What every call allows can be said to all " +
	"at once. `edit` takes the list of all calls: those that were changed are edited, the others approved. Arguments that were " +
	"changed beside the verdict approve are an edit."

const askNotes = "Several questions are parts of one: `submit` takes `{\"1\": {\"decision\": \"respond\", \"message\": \"Ana\"}, \"2\": {\"decision\": \"choose\", " +
	"\"args\": \"red\"}}`. `cancel` is for all of them, and so is `skip` where no answer at all is required."

func langChainFormats() []Format {
	return []Format{
		{Shape: HumanInterrupt, Title: "LangGraph, HumanInterrupt (Agent Inbox)", read: readHumanInterrupt,
			Known: "`action_request.action`, `action_request.args` and a true `config.allow_*`, alone or in a list",
			Words: []Word{{actions.Approve, `[{"type": "accept"}]`}, {actions.Edit, `[{"type": "edit", "args": {"action", "args"}}]`},
				{actions.Respond, `[{"type": "response", "args": TEXT}]`}, {actions.Skip, `[{"type": "ignore"}]`}, {actions.Submit, "one of these for each"}},
			Notes: severalNotes},
		{Shape: HITLRequest, Title: "LangChain, HITLRequest of the middleware", read: readHITLRequest,
			Known: "`action_requests` with `name` and `args`, `review_configs` with `allowed_decisions`; also with `arguments`, as before the release",
			Words: []Word{{actions.Approve, `{"type": "approve"}`}, {actions.Edit, `{"type": "edit", "edited_action": {"name", "args"}}`},
				{actions.Reject, `{"type": "reject", "message": COMMENT}`}, {actions.Respond, `{"type": "respond", "message": TEXT}`},
				{actions.Submit, "one of these for each"}},
			Notes: "The answer is `{\"decisions\": [...]}`, one for each call in its place. " + severalNotes},
		{Shape: LangGraph, Title: "LangGraph, interrupt", read: readInterrupts, wraps: true,
			Known: "`value` with an `id` of 32 hexadecimal digits, or with `resumable` and `ns`, and nothing else; alone, in a list, under `__interrupt__`, or the map `interrupts` of a thread",
			Notes: "What stands in `value` is the question, of any shape, and is answered in that shape. The answer is the map that resumes: `{ID: ANSWER}`; to an interrupt " +
				"without an id it is the answer alone. " + bundleNotes},
		{Shape: AskUser, Title: "deepagents, ask_user", read: readAskUser,
			Known: "`type: ask_user` with `questions`",
			Words: []Word{{actions.Choose, `{"type": "answered", "answers": [CHOICE]}`}, {actions.Respond, `{"type": "answered", "answers": [TEXT]}`},
				{actions.Skip, `{"type": "answered", "answers": [""]}`}, {actions.Submit, "an answer for each question"}, {actions.Cancel, `{"type": "cancelled"}`}},
			Notes: "`skip` is there where no answer is required. Several choices are a JSON list within the text; a comment to them goes in beside them, as what was not offered. " + askNotes},
	}
}

func adkFormats() []Format {
	return []Format{
		{Shape: ADKInput, Title: "ADK, adk_request_input", read: readRequestInput,
			Known: "a function call of that name, or `interrupt_id`, `message` and `response_schema`; in camelCase too",
			Words: []Word{{actions.Respond, `{"result": TEXT}`}, {actions.TextInput, `{"result": TEXT}`}, {actions.Choose, `{"result": VALUE}`},
				{actions.Submit, "the object"}, {actions.Continue, "the object, or `{\"result\": VALUE}`"}},
			Notes: "The answer is a FunctionResponse with the id and name of the call. The schema decides which of the words are offered, and keeps the types."},
		{Shape: ADKConfirm, Title: "ADK, adk_request_confirmation", read: readConfirmation,
			Known: "a function call of that name with `originalFunctionCall` and `toolConfirmation`",
			Words: []Word{{actions.Approve, `{"confirmed": true}`}, {actions.Edit, `{"confirmed": true, "payload": CONTENT}`}, {actions.Reject, `{"confirmed": false}`}},
			Notes: "`edit` is there where the confirmation has a payload."},
		{Shape: ADKCredential, Title: "ADK, adk_request_credential", read: readCredential,
			Known: "a function call of that name with `authConfig`",
			Words: []Word{{actions.Submit, "the AuthConfig with `exchangedAuthCredential`"}},
			Notes: "Only what tells which credential is wanted is shown. What is typed is a secret: never echoed, drafted, put into the outbox file or the " +
				"record of decisions, which keeps its length and hash."},
	}
}

func agentMapFormat() Format {
	return Format{Shape: AgentMap, Title: "AgentMap, interaction request", read: readInteraction,
		Known: "`interaction_type`, `thread_id` and `node_name` with `id`, or with `type: human_interaction`; `type: suspend` with `inputs` or `context`",
		Words: []Word{{actions.Approve, `"data": {}`}, {actions.Reject, `"data": {"comment"}`}, {actions.Choose, `"data": {"choice": NUMBER}`}, {actions.Respond, `"data": {"text"}`},
			{actions.TextInput, `"data": {"text"}`}, {actions.Reply, `"data": {"text"}`}, {actions.End, `"data": {"text"}`}, {actions.Edit, `"data": {"edited"}`},
			{actions.Save, `"data": {"edited"}`}, {actions.Continue, `"data": DATA`}, {actions.Submit, `"data": FORM`}, {actions.Skip, `"data": {}`}, {actions.Cancel, `"data": {"comment"}`}},
		Notes: "The answer is `{request_id, action, data, timestamp}` to a stored request, `{action, data}` to an interrupt; the actions are AgentMap's own. " +
			"`timeout_seconds` is the deadline. The interaction type decides which are offered."}
}

func openAIFormat() Format {
	return Format{Shape: OpenAIApproval, Title: "OpenAI Agents, tool approval", read: readApprovals,
		Known: "`type: tool_approval_item` with `raw_item`, alone or in a list",
		Words: []Word{{actions.Approve, `{"call_id", "approve": true}`}, {actions.Reject, `{"call_id", "approve": false, "rejection_message": COMMENT}`}, {actions.Submit, "one of these for each"}},
		Notes: "The SDK has no JSON for this answer; the keys are those of `state.approve` and `state.reject`. To a hosted MCP server's request it is the " +
			"`mcp_approval_response`. " + severalNotes}
}

func agentFrameworkFormats() []Format {
	return []Format{
		{Shape: AgentApproval, Title: "Microsoft Agent Framework, function approval", read: readAgentApproval,
			Known: "`type: function_approval_request` with `id` and `function_call`, alone or in a list",
			Words: []Word{{actions.Approve, `{"type": "function_approval_response", "id", "approved": true, "function_call"}`},
				{actions.Reject, `"approved": false`}, {actions.Submit, "one of these for each"}},
			Notes: severalNotes},
		{Shape: AgentRequest, Title: "Microsoft Agent Framework, request of a workflow", read: readAgentRequest, wraps: true,
			Known: "`request_id` with `data`, and `type: request_info` or `source_executor_id`; also the map `pending_request_info_events` of a checkpoint",
			Notes: "The answer is `{REQUEST_ID: RESPONSE}`, as `send_responses` takes it. A function approval within is answered as one; otherwise the " +
				"`response_type` decides: a text, a number, yes or no, and any JSON for what is not known here. " + bundleNotes},
	}
}

func agUIFormat() Format {
	return Format{Shape: AGUI, Title: "AG-UI, interrupt", read: readAGUI, wraps: true,
		Known: "`type: RUN_FINISHED` whose `outcome` is an interrupt, with its `interrupts`; also the draft's `outcome: interrupt` with `interrupt`",
		Notes: "The answer is the `resume` of the next run: `[{\"interruptId\", \"status\": \"resolved\", \"payload\"}]`, `\"status\": \"cancelled\"` for `cancel`; of the draft " +
			"`{\"interruptId\", \"payload\"}`. The `responseSchema` decides which actions are offered and keeps the types: a form, a choice, a text; where it has a boolean " +
			"`approved`, `approve` and `reject` fill that in. Without a schema `approve` is heard as `{\"approved\": true}`. `expiresAt` is the deadline. " + bundleNotes}
}

func mcpFormats() []Format {
	return []Format{mcpFormat(),
		{Shape: InputRequired, Title: "MCP, input required", read: readInputRequired, wraps: true,
			Known: "`resultType: input_required`, or `status: input_required` of a task, with `inputRequests` that are all elicitations; also the whole response",
			Notes: "The answer is what the next try of the request carries: `{\"inputResponses\": {KEY: {\"action\", \"content\"}}, \"requestState\"}`. The end of a task's `ttl` is the deadline. " + bundleNotes}}
}

const bundleNotes = "Several questions are parts of one: `submit` takes `{\"1\": {\"decision\": \"approve\"}, \"2\": {\"decision\": \"choose\", \"args\": \"b\"}}`, with " +
	"`args` for what the decision takes and `message` for its text; what takes no data and every part allows can be said to all at once."

func mcpFormat() Format {
	return Format{Shape: Elicitation, Title: "MCP, elicitation", read: readElicitation,
		Known: "`message` with a `requestedSchema` of an object, or `mode: url` with `url`; also the whole `elicitation/create` request",
		Words: []Word{{actions.Submit, `{"action": "accept", "content": FORM}`}, {actions.Approve, `{"action": "accept"}`}, {actions.Reject, `{"action": "decline"}`}, {actions.Cancel, `{"action": "cancel"}`}},
		Notes: "`approve` is for a URL, `submit` for a form. A whole request is answered with a whole response."}
}

func a2aFormat() Format {
	return Format{Shape: A2AInput, Title: "A2A, input or authentication required", read: readA2A,
		Known: "a task or status update with `status.state` `input-required`, `auth-required` or their `TASK_STATE_` names",
		Words: []Word{{actions.Respond, "a Message with a text part"}, {actions.Submit, "a Message with a data part"}},
		Notes: "The Message names the task and is written as the task was: in camelCase or snake_case, with or without `kind`. What is answered to `auth-required` is a secret."}
}

func humanLayerFormats() []Format {
	return []Format{
		{Shape: FunctionCall, Title: "HumanLayer, function call", read: readFunctionCall,
			Known: "`run_id`, `call_id` and `spec` with `fn` and `kwargs`, not yet answered",
			Words: []Word{{actions.Approve, `{"approved": true}`}, {actions.Reject, `{"approved": false, "comment"}`}, {actions.Choose, `{"approved": false, "comment", "reject_option_name"}`}},
			Notes: "The answer is the call's status. A rejection needs a comment, or one of the call's `reject_options`."},
		{Shape: HumanContact, Title: "HumanLayer, contact", read: readHumanContact,
			Known: "`run_id`, `call_id` and `spec` with `msg`, not yet answered",
			Words: []Word{{actions.Respond, `{"response": TEXT}`}, {actions.Choose, `{"response", "response_option_name"}`}},
			Notes: "The answer is the contact's status."},
		{Shape: ToolApproval, Title: "HumanLayer, approval of the daemon", read: readToolApproval,
			Known: "`id`, `session_id`, `tool_name`, `tool_input` and `status: pending`",
			Words: []Word{{actions.Approve, `{"approval_id", "decision": "approve"}`}, {actions.Reject, `{"approval_id", "decision": "deny", "comment"}`}}},
	}
}

func agentFlowFormats() []Format {
	return []Format{
		{Shape: Gate, Title: "AgentFlow, quality gate", read: readGate, Known: "`type: quality_gate` with `artifact`",
			Words: []Word{{actions.Approve, `{"decision": "accept"}`}, {actions.Reject, `{"decision": "reject", "feedback": COMMENT}`}}},
		{Shape: Clarification, Title: "AgentFlow, clarification", read: readClarification, Known: "`type: clarification` with `question`",
			Words: []Word{{actions.Choose, "the option"}, {actions.Respond, "the text"}},
			Notes: "Options close the set of answers."},
		{Shape: Permission, Title: "AgentFlow, permission", read: readPermission, Known: "`id`, `tool` and `options`, with `type: permission` or none",
			Words: []Word{{actions.Approve, "the first option that allows"}, {actions.Reject, "the first option that rejects or denies"}, {actions.Choose, "the option's id"}},
			Notes: "What is meant for always is never said by `approve` or `reject`: it is chosen."},
	}
}

func difyFormat() Format {
	return Format{Shape: DifyForm, Title: "Dify, human input form", read: readDify,
		Known: "`form_content`, `inputs` and `user_actions` with `id`; also the event `human_input_required` with them in `data`, where the last are `actions`",
		Words: []Word{{actions.Choose, `{"inputs": DEFAULTS, "action": ID, "user": REVIEWER}`}, {actions.Submit, `{"inputs": FORM, "action": ID, "user": REVIEWER}`}},
		Notes: "What is answered is the body that submits the form. `submit` takes it without `user`; `choose` takes a button and sends what stands in the " +
			"inputs already, and is there where all of them are texts. `expiration_time` is the deadline. The `form_token`, with which anybody may answer, is not shown."}
}
