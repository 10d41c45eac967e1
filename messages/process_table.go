package messages

// ProcessTypeInfo says what there is to know of a process type.
type ProcessTypeInfo struct {
	Type          ProcessType
	Emitter       string // the part that emits it
	ObjectContent bool   // content is a JSON object, else a string
	Tools         bool   // a tool may publish it with its Emit
}

// ProcessTypes lists every process type, in the order of the constants. It is
// not to be changed.
var ProcessTypes = []ProcessTypeInfo{
	{ModelOutputThinking, "observer", false, false},
	{ModelOutputDeepThinking, "observer", false, false},
	{ModelOutputCode, "observer", false, false},
	{StepCount, "agent", false, false},
	{Parse, "agent", false, false},
	{ExecutionLogs, "agent", false, false},
	{AgentNewRun, "agent", false, false},
	{AgentFinish, "agent", false, false},
	{FinalAnswer, "agent", false, false},
	{Error, "agent or supervisor", false, false},
	{Other, "tools and supervisor", false, true},
	{TokenCount, "agent", false, false},
	{HistorySummary, "window", false, false},
	{SearchContent, "search tools", false, true},
	{PictureWeb, "search tools", false, true},
	{Card, "tools", false, true},
	{Tool, "agent", false, false},
	{SkillArtifact, "skill tools", true, true},
	{MemorySearch, "memory tools", false, true},
	{MaxStepsReached, "agent", false, false},
	{Verification, "verify and guard", false, false},
	{Plan, "planning tools", false, true},
	{PlanStepUpdate, "planning tools", false, true},
	{NL2A, "observer", false, false},
	{NL2AState, "observer", false, false},
	{FileArtifact, "agent", true, false},
	{AutomationProposal, "schedule tool", false, true},
	{SubagentStart, "agent", false, false},
	{SubagentEnd, "agent", false, false},
	{Warning, "any part", false, true},
	{HumanInteraction, "agent", true, false},
	{ModelAttemptControl, "observer", false, false},
}
