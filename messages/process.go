package messages

// ProcessType says what kind of thing an event tells. The values are the wire
// contract of the seeds (nexent-core §1.1).
type ProcessType string

// Every process type. The comment names the part that emits it.
const (
	ModelOutputThinking     ProcessType = "model_output_thinking"      // observer, from model text outside tags and code
	ModelOutputDeepThinking ProcessType = "model_output_deep_thinking" // observer, from reasoning deltas and <think> text
	ModelOutputCode         ProcessType = "model_output_code"          // observer, from model text inside a code block
	StepCount               ProcessType = "step_count"                 // agent, before the model call
	Parse                   ProcessType = "parse"                      // agent, when a block is about to run
	ExecutionLogs           ProcessType = "execution_logs"             // agent, what a block printed and its last value
	AgentNewRun             ProcessType = "agent_new_run"              // agent, at its start
	AgentFinish             ProcessType = "agent_finish"               // agent at depth > 0, its report
	FinalAnswer             ProcessType = "final_answer"               // agent, at its end
	Error                   ProcessType = "error"                      // agent or supervisor, when the run failed
	Other                   ProcessType = "other"                      // tools and supervisor, notes
	TokenCount              ProcessType = "token_count"                // agent, after each step
	HistorySummary          ProcessType = "history_summary"            // window, a compression checkpoint
	SearchContent           ProcessType = "search_content"             // search tools
	PictureWeb              ProcessType = "picture_web"                // search tools
	Card                    ProcessType = "card"                       // tools
	Tool                    ProcessType = "tool"                       // agent, at the call boundary
	SkillArtifact           ProcessType = "skill_artifact"             // skill tools; content is an object
	MemorySearch            ProcessType = "memory_search"              // memory tools
	MaxStepsReached         ProcessType = "max_steps_reached"          // agent, before the summarising answer
	Verification            ProcessType = "verification"               // verify and guard
	Plan                    ProcessType = "plan"                       // planning tools
	PlanStepUpdate          ProcessType = "plan_step_update"           // planning tools
	NL2A                    ProcessType = "nl2a"                       // observer, side channel in logs
	NL2AState               ProcessType = "nl2a_state"                 // observer, side channel in logs
	FileArtifact            ProcessType = "file_artifact"              // agent, before FINAL_ANSWER; content is an object
	AutomationProposal      ProcessType = "automation_proposal"        // schedule tool
	SubagentStart           ProcessType = "subagent_start"             // agent that calls a sub-agent
	SubagentEnd             ProcessType = "subagent_end"               // agent that called a sub-agent
	Warning                 ProcessType = "warning"                    // any part, something recovered from
	HumanInteraction        ProcessType = "human_interaction"          // agent, a question to people; content is an object
	ModelAttemptControl     ProcessType = "model_attempt_control"      // observer: begin, commit, rollback, adopted
)

// Phases of a model_attempt_control event, and of a republished text.
const (
	PhaseBegin    = "begin"
	PhaseCommit   = "commit"
	PhaseRollback = "rollback"
	PhaseAdopted  = "adopted" // withdraws the old epoch's events above Keep
	PhaseReplace  = "replace" // a text published again as one event
)

// Status says how a run, or an invocation, ended.
type Status string

// Every status; [Terminal] gives the events that go with each.
const (
	StatusAnswered Status = "answered"  // final_answer(...), or prose at finish_reason=stop
	StatusMaxSteps Status = "max_steps" // the step limit; one more model call summarised
	StatusBlocked  Status = "blocked"   // a guardrail, or the provider's content filter
	StatusStopped  Status = "stopped"   // somebody stopped it
	StatusBudget   Status = "budget"    // a budget or a loop
	StatusFailed   Status = "failed"    // a fatal error
)

// UserBreak is the content of the FINAL_ANSWER event of a stopped run.
const UserBreak = "<user_break>"

// Terminal is the table of DESIGN §3: the events, in order, that end a root
// invocation with each status. The last one carries the status.
var Terminal = map[Status][]ProcessType{
	StatusAnswered: {FinalAnswer},
	StatusMaxSteps: {MaxStepsReached, FinalAnswer},
	StatusBlocked:  {Verification, FinalAnswer},
	StatusStopped:  {FinalAnswer},
	StatusBudget:   {Warning, FinalAnswer},
	StatusFailed:   {Error},
}
