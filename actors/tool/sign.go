package tool

// The tool signs (nexent-tools §1.2). A citation reads sign and number, e.g.
// [[b1]].
const (
	SignKnowledgeBase         Sign = "a" // search in the local knowledge base
	SignExaSearch             Sign = "b" // web search by Exa
	SignLinkupSearch          Sign = "c" // web search by Linkup
	SignTavilySearch          Sign = "d" // web search by Tavily
	SignDatamateSearch        Sign = "e" // knowledge platform DataMate
	SignFileOperation         Sign = "f" // files of the workspace
	SignDifySearch            Sign = "g" // knowledge platform Dify
	SignIdataSearch           Sign = "h" // knowledge platform iData
	SignHaotianSearch         Sign = "i" // knowledge platform Haotian
	SignAidpSearch            Sign = "j" // knowledge platform AIDP
	SignRagflowSearch         Sign = "k" // knowledge platform RAGFlow
	SignIndependentAidpSearch Sign = "l" // AIDP deployed on its own
	SignMultimodalOperation   Sign = "m" // images, audio, video and text files by a model
	SignMemoryOperation       Sign = "n" // memory of agents
	SignPlanOperation         Sign = "p" // plans
	SignSkillOperation        Sign = "s" // skills
	SignTerminalOperation     Sign = "t" // a shell on a host
	SignDatabaseOperation     Sign = "z" // SQL databases
)

// signNames is the seeds' mapping from older names. Plan and skill signs have
// no name in it.
var signNames = map[string]Sign{
	"knowledge_base_search": SignKnowledgeBase,
	"exa_search":            SignExaSearch,
	"linkup_search":         SignLinkupSearch,
	"tavily_search":         SignTavilySearch,
	"datamate_search":       SignDatamateSearch,
	"file_operation":        SignFileOperation,
	"dify_search":           SignDifySearch,
	"idata_search":          SignIdataSearch,
	"haotian_search":        SignHaotianSearch,
	"aidp_search":           SignAidpSearch,
	"ragflow_search":        SignRagflowSearch,
	"ind_aidp_search":       SignIndependentAidpSearch,
	"multimodal_operation":  SignMultimodalOperation,
	"memory_operation":      SignMemoryOperation,
	"terminal_operation":    SignTerminalOperation,
	"database_operation":    SignDatabaseOperation,
}

// SignNamed gives the sign of an older name, as TOOL_SIGN_MAPPING of the seeds
// does, e.g. "exa_search" → "b".
func SignNamed(name string) (Sign, bool) {
	s, ok := signNames[name]
	return s, ok
}

// Name gives the older name of a sign, the inverse of SignNamed; "" when it
// has none.
func (s Sign) Name() string {
	for name, sign := range signNames {
		if sign == s {
			return name
		}
	}
	return ""
}

// valid reports whether s is empty or one of the constants.
func (s Sign) valid() bool {
	switch s {
	case "", SignPlanOperation, SignSkillOperation:
		return true
	}
	return s.Name() != ""
}
