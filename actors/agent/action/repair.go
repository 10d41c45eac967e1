package action

import (
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// sentence is a text in both languages.
type sentence struct{ en, zh string }

func (s sentence) in(lang string) string {
	if lang == messages.ZH {
		return s.zh
	}
	return s.en
}

// RepairMessage is what the model is told when its reply can't be used: why,
// and the form that is expected. It never repeats the reply; of native tool
// calls it gives the names. An unknown lang means English.
func RepairMessage(lang string, o Outcome, protocol messages.OutputProtocol) string {
	why := reasons[o.Reason]
	if detail, ok := details[o.Detail]; ok {
		why = detail
	} else if o.Reason == UnsupportedOrTagOnly && o.Detail != "" {
		why = nativeCalls
	}
	text := strings.ReplaceAll(why.in(lang), "{calls}", o.Detail)
	form := codeForm
	if protocol == messages.FinalAnswerEnvelope {
		form = envelopeForm
	}
	return text + "\n\n" + form.in(lang)
}

var reasons = map[string]sentence{
	EmptyVisibleContent: {
		"Your last reply had no visible content: nothing stood outside your thinking.",
		"你上一次的回复没有可见内容：思考之外什么都没有。"},
	UnsupportedOrTagOnly: {
		"Your last reply was made of tags only, or of a tool call in a form that is not supported here.",
		"你上一次的回复只有标签，或使用了这里不支持的工具调用格式。"},
	MalformedAction: {
		"The code block of your last reply was malformed. None of it was run.",
		"你上一次回复中的代码块格式有误，没有执行任何代码。"},
	MissingExplicitTermination: {
		"Your last reply ended without code to run and without an answer.",
		"你上一次的回复既没有可执行的代码，也没有给出答案。"},
	TruncatedGeneration: {
		"Your last reply was cut off before its end. None of its code was run. Reply again, shorter; split long work over several steps.",
		"你上一次的回复在结束之前被截断，其中的代码没有执行。请重新回复并写得更短；较长的工作请分成多个步骤。"},
	InvalidFinalEnvelope: {
		"Your last reply was neither code nor exactly one final answer envelope with a body.",
		"你上一次的回复既不是代码，也不是唯一且有内容的最终答案标签。"},
}

var details = map[string]sentence{
	detailUnclosed: {
		"The code block of your last reply has no closing tag, and a string or bracket in it is still open. None of it was run.",
		"你上一次回复的代码块没有结束标签，且其中有未闭合的字符串或括号，没有执行任何代码。"},
	detailEmpty: {
		"The code block of your last reply was empty.",
		"你上一次回复的代码块是空的。"},
	detailMisplaced: {
		"Your last reply had code tags inside a sentence, a quotation or an unclosed fence, so it is not clear what should run. None of it was run.",
		"你上一次的回复把代码标签写在了句子、引号或未闭合的围栏之中，无法确定要执行什么，因此没有执行任何代码。"},
	detailNoCall: {
		"Your last reply announced a tool call, but none came.",
		"你上一次的回复表示要调用工具，但没有给出任何调用。"},
}

var nativeCalls = sentence{
	"Your last reply made native tool calls ({calls}). They were not carried out: tools are called as functions from Python code here.",
	"你上一次的回复使用了原生工具调用（{calls}），这些调用没有执行：这里的工具要在 Python 代码中作为函数调用。"}

var codeForm = sentence{
	"To act, write Python between tags that stand on lines of their own:\n<code>\nresult = some_tool(argument)\nprint(result)\n</code>\nTo finish, call final_answer(...) in such a block, or answer in plain prose without any code block.",
	"需要执行操作时，请把 Python 代码写在各占一行的标签之间：\n<code>\nresult = some_tool(argument)\nprint(result)\n</code>\n任务完成时，请在这样的代码块中调用 final_answer(...)，或直接用不含代码块的文字作答。"}

var envelopeForm = sentence{
	"To act, write Python between tags that stand on lines of their own:\n<code>\nresult = some_tool(argument)\nprint(result)\n</code>\nTo finish, let your whole reply be:\n<FINAL_ANSWER>your answer</FINAL_ANSWER>",
	"需要执行操作时，请把 Python 代码写在各占一行的标签之间：\n<code>\nresult = some_tool(argument)\nprint(result)\n</code>\n任务完成时，整个回复只写：\n<FINAL_ANSWER>你的答案</FINAL_ANSWER>"}
