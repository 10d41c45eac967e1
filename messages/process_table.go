package messages

// ProcessTypeInfo says what there is to know of a process type.
type ProcessTypeInfo struct {
	Type          ProcessType
	Emitter       string // the part that emits it
	ObjectContent bool   // content is a JSON object, else a string
}

// ProcessTypes lists every process type, in the order of the constants. It is
// not to be changed.
var ProcessTypes = []ProcessTypeInfo{
	{ModelOutputThinking, "observer", false},
	{ModelOutputDeepThinking, "observer", false},
	{ModelOutputCode, "observer", false},
	{StepCount, "agent", false},
	{Parse, "agent", false},
	{ExecutionLogs, "agent", false},
	{AgentNewRun, "agent", false},
	{AgentFinish, "agent", false},
	{FinalAnswer, "agent", false},
	{Error, "agent or supervisor", false},
	{Other, "tools and supervisor", false},
	{TokenCount, "agent", false},
	{HistorySummary, "window", false},
	{SearchContent, "search tools", false},
	{PictureWeb, "search tools", false},
	{Card, "tools", false},
	{Tool, "agent", false},
	{SkillArtifact, "skill tools", true},
	{MemorySearch, "memory tools", false},
	{MaxStepsReached, "agent", false},
	{Verification, "verify and guard", false},
	{Plan, "planning tools", false},
	{PlanStepUpdate, "planning tools", false},
	{NL2A, "observer", false},
	{NL2AState, "observer", false},
	{FileArtifact, "agent", true},
	{AutomationProposal, "schedule tool", false},
	{SubagentStart, "agent", false},
	{SubagentEnd, "agent", false},
	{Warning, "any part", false},
	{HumanInteraction, "agent", true},
	{ModelAttemptControl, "observer", false},
}
