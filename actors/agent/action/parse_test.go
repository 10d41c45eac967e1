package action_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/messages"
)

func run(code string) action.Outcome    { return action.Outcome{Kind: action.Run, Code: code} }
func answer(text string) action.Outcome { return action.Outcome{Kind: action.Answer, Text: text} }
func repair(reason, detail string) action.Outcome {
	return action.Outcome{Kind: action.Repair, Reason: reason, Detail: detail}
}

// TestCases are the PARSE, THINK and WIRE cases that are about a whole reply.
func TestCases(t *testing.T) {
	for _, c := range []struct {
		id, text, finish string
		want             action.Outcome
	}{
		{"PARSE-01", "<code>\nhtml = '<p>1</p><code>k</code>'\nprint(len(html))\n</code>", "stop",
			run("html = '<p>1</p><code>k</code>'\nprint(len(html))")},
		{"PARSE-02 stop", "思考：算一下\n<code>\nprint(6*7)\n", "stop", run("print(6*7)")},
		{"PARSE-02 no reason", "思考：算一下\n<code>\nprint(6*7)\n", "", run("print(6*7)")},
		{"PARSE-02 length", "思考：算一下\n<code>\nprint(6*7)\n", "length", repair("truncated_generation", "")},
		{"PARSE-04", "Put it between <code> and </code> as asked.\n<code>\nprint(1)\n</code>", "stop", run("print(1)")},
		{"PARSE-05", "<code>\n    a = 2\n    print(a)\n</code>", "stop", run("a = 2\nprint(a)")},
		{"PARSE-06", "思考：旧写法是\n```\nbad syntax here\n```\n代码：\n<code>\nprint('ok')\n</code>", "stop", run("print('ok')")},
		{"PARSE-07 CRLF", "<code>\r\nprint(5)\r\n</code>\r\n", "stop", run("print(5)")},
		{"PARSE-07 capitals", "<CODE>\nprint(5)\n</CODE>", "stop", run("print(5)")},
		{"PARSE-07 trailing blanks", "<code>   \nprint(5)\n</code>  ", "stop", run("print(5)")},
		{"PARSE-07 one line", "<code>print(5)</code>", "stop", run("print(5)")},
		{"PARSE-07 fence inside", "<code>\n```py\nprint(5)\n```\n</code>", "stop", run("print(5)")},
		{"PARSE-08", "<code>\nx=3\n</code> 然后 <code>\nprint(x+1)\n</code>", "stop", run("x=3\n\nprint(x+1)")},
		{"PARSE-10", "你好，我是助手。", "stop", answer("你好，我是助手。")},
		{"PARSE-11 first", "<code>\nprint（'总数：'，3）\n</code>", "stop", run("print（'总数：'，3）")},
		{"PARSE-11 second", "<code>\nprint('总数：', 3)\n</code>", "stop", run("print('总数：', 3)")},
		{"THINK-04", "step one</think>Paris", "stop", answer("Paris")},
		{"THINK-09", "<think>secret-plan-7</think>晴", "stop", answer("晴")},
		{"WIRE-15", "<code>\nfor n in ['a','b']:\n    remove_item(n)\n", "length", repair("truncated_generation", "")},
		{"WIRE-15 closed", "<code>\nremove_item('a')\n</code>\nand then", "length", repair("truncated_generation", "")},
	} {
		t.Run(c.id, func(t *testing.T) {
			got := action.Parse(action.Reply{Text: c.text, FinishReason: c.finish}, messages.CodeAction)
			require.Equal(t, c.want, got)
		})
	}
	t.Run("WIRE-18", func(t *testing.T) {
		got := action.Parse(action.Reply{
			Text: "<code>f()</code>", FinishReason: "tool_calls",
			ToolCalls: []messages.ToolCallDelta{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "g\nIgnore all", Arguments: "{}"}},
		}, messages.CodeAction)
		require.Equal(t, repair("unsupported_or_tag_only_output", "f, gIgnoreall"), got)
		require.Contains(t, action.RepairMessage("en", got, messages.CodeAction), "(f, gIgnoreall)")
		require.Contains(t, action.RepairMessage("zh", got, messages.CodeAction), "（f, gIgnoreall）")
	})
}

func TestParse(t *testing.T) {
	const malformed = "malformed_action"
	for _, c := range []struct {
		name, text, finish string
		want               action.Outcome
	}{
		{"nothing", "", "stop", repair("empty_visible_content", "")},
		{"invisible", " \u200b\u2060\n", "stop", repair("empty_visible_content", "")},
		{"thinking only", "<think>hm</think>", "stop", repair("empty_visible_content", "")},
		{"thinking never ended", "<think>hm\n<code>\nrm()\n</code>", "stop", repair("empty_visible_content", "")},
		{"filtered", "half", "content_filter", action.Outcome{Kind: action.Blocked}},
		{"cut by an error", "half", "error", repair("truncated_generation", "")},
		{"length in capitals", "half", "MAX_TOKENS", repair("truncated_generation", "")},
		{"unknown reason", "whole", "eos", answer("whole")},
		{"a call that never came", "I will call it.", "tool_calls", repair("missing_explicit_termination", "no_tool_call")},
		{"call written out", `<tool_call>{"name":"f"}</tool_call>`, "stop", repair("unsupported_or_tag_only_output", "")},
		{"tags only", "<answer></answer> <|im_end|>", "stop", repair("unsupported_or_tag_only_output", "")},
		{"HTML in an answer", "<b>bold</b> is HTML", "stop", answer("<b>bold</b> is HTML")},
		{"code element in an answer", "The <code>x</code> element shows code.", "stop", answer("The <code>x</code> element shows code.")},
		{"labelled thought before an answer", "思考：打招呼。\n\n你好！", "stop", answer("你好！")},
		{"labelled thought only", "思考：打招呼。", "stop", answer("思考：打招呼。")},
		{"envelope without the protocol", "<FINAL_ANSWER>42</FINAL_ANSWER>", "stop", answer("42")},
		{"code before a lone close", "<code>\nrm()\n</code>\nno</think>Done.", "stop", answer("Done.")},
		{"code in thinking", "<think><code>rm()</code></think><code>ok()</code>", "stop", run("ok()")},
		{"empty block", "<code>\n\n</code>", "stop", repair(malformed, "empty_block")},
		{"one empty block of two", "<code></code><code>x</code>", "stop", run("x")},
		{"unclosed with an open bracket", "<code>\nprint(6*7", "stop", repair(malformed, "unclosed_block")},
		{"unclosed with an open string", "<code>\ns = '''\n</code>", "stop", repair(malformed, "unclosed_block")},
		{"closed with an open bracket is Python's", "<code>\nprint(6*7\n</code>", "stop", run("print(6*7")},
		{"tags after a colon in mid-line", "I run: <code>print(1)</code>", "stop", repair(malformed, "misplaced_tag")},
		{"tags around lines in mid-line", "I run <code>x = 1\nprint(x)</code>", "stop", repair(malformed, "misplaced_tag")},
		{"block in a fence never closed", "```\nold\n<code>\nprint(1)\n</code>", "stop", repair(malformed, "misplaced_tag")},
		{"block in a quotation never closed", "He said \"go\nnow\n<code>\nprint(1)\n</code>", "stop", repair(malformed, "misplaced_tag")},
		{"block in a whole quotation", "\"\n<code>\nprint(1)\n</code>\"", "stop", answer("\"\n<code>\nprint(1)\n</code>\"")},
		{"sentence begins with the tags", "<code> and </code> are tags.\n<code>\nx\n</code>", "stop", repair(malformed, "misplaced_tag")},
		{"prose between blocks on one line", "<code>a</code> t <code>\nb\n</code>", "stop", run("a\n\nb")},
		{"RUN and tags", "```<RUN>a```\n<code>b</code>", "stop", run("a\n\nb")},
		{"python fence after a label", "Code:\n```python\nprint(1)\n```", "stop", run("print(1)")},
		{"python fence", "See:\n```python\nprint(1)\n```", "stop", answer("See:\n```python\nprint(1)\n```")},
		{"display", "<DISPLAY:python>\nprint(1)\n</DISPLAY>", "stop", answer("<DISPLAY:python>\nprint(1)\n</DISPLAY>")},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, action.Parse(action.Reply{Text: c.text, FinishReason: c.finish}, ""))
		})
	}
}

func TestParseEnvelope(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       action.Outcome
	}{
		{"envelope", "<FINAL_ANSWER> 42\n</FINAL_ANSWER>", answer(" 42\n")},
		{"after thinking", "<think>x</think>\n<FINAL_ANSWER>42</FINAL_ANSWER>\n", answer("42")},
		{"thinking inside", "<FINAL_ANSWER><think>x</think>42</FINAL_ANSWER>", answer("42")},
		{"code inside is shown", "<FINAL_ANSWER>\n<code>\nx\n</code>\n</FINAL_ANSWER>", answer("\n<code>\nx\n</code>\n")},
		{"prose", "42", repair("invalid_final_envelope", "")},
		{"prose around it", "It is <FINAL_ANSWER>42</FINAL_ANSWER>", repair("invalid_final_envelope", "")},
		{"no body", "<FINAL_ANSWER> </FINAL_ANSWER>", repair("invalid_final_envelope", "")},
		{"two", "<FINAL_ANSWER>a</FINAL_ANSWER><FINAL_ANSWER>b</FINAL_ANSWER>", repair("invalid_final_envelope", "")},
		{"not closed", "<FINAL_ANSWER>42", repair("invalid_final_envelope", "")},
		{"nothing", "<think>x</think>", repair("empty_visible_content", "")},
		{"code", "<code>x</code>", run("x")},
		{"code and envelope", "<code>x</code>\n<FINAL_ANSWER>42</FINAL_ANSWER>", run("x")},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, action.Parse(action.Reply{Text: c.text, FinishReason: "stop"}, messages.FinalAnswerEnvelope))
		})
	}
}

func TestIndentation(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"inner levels stay", "<code>\n  if a:\n      b()\n  c()\n</code>", "if a:\n    b()\nc()"},
		{"behind the tag", "<code>for x in y:\n    f(x)</code>", "for x in y:\n    f(x)"},
		{"a blank behind the tag", "<code> a = 1\nb = 2</code>", "a = 1\nb = 2"},
		{"all lines, the first behind the tag", "<code>  a = 1\n  b = 2</code>", "a = 1\nb = 2"},
		{"strings are left alone", "<code>\n  s = '''\n  a\nb'''\n  f(s)\n</code>", "s = '''\n  a\nb'''\nf(s)"},
		{"continued lines", "<code>\n  f(1,\n 2)\n  g()\n</code>", "f(1,\n2)\ng()"},
		{"blank lines", "<code>\n\n  a\n\n  b\n\n</code>", "a\n\nb"},
		{"tabs", "<code>\n\ta\n\tb\n</code>", "a\nb"},
		{"first line less", "<code>\na\n  b\n</code>", "a\n  b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, run(c.want), action.Parse(action.Reply{Text: c.text, FinishReason: "stop"}, ""))
		})
	}
}

func TestRepairMessage(t *testing.T) {
	for _, reason := range []string{
		action.EmptyVisibleContent, action.UnsupportedOrTagOnly, action.MalformedAction,
		action.MissingExplicitTermination, action.TruncatedGeneration, action.InvalidFinalEnvelope,
	} {
		for _, detail := range []string{"", "unclosed_block", "empty_block", "misplaced_tag", "no_tool_call"} {
			t.Run(reason+" "+detail, func(t *testing.T) {
				o := repair(reason, detail)
				en := action.RepairMessage("en", o, messages.CodeAction)
				require.Contains(t, en, "<code>")
				require.NotContains(t, en, "<FINAL_ANSWER>")
				require.False(t, strings.HasPrefix(en, "\n"), "the reason is said")
				require.Equal(t, en, action.RepairMessage("fr", o, messages.CodeAction))
				zh := action.RepairMessage("zh", o, messages.FinalAnswerEnvelope)
				require.Contains(t, zh, "<FINAL_ANSWER>")
				require.Contains(t, zh, "你上一次")
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	r := action.Reply{FinishReason: "stop", Text: "思考：先查天气，再算一下温差。\n<code>\nw = get_weather(city='北京')\nprint(w['temp_c'], \"度\")\n</code>"}
	b.ReportAllocs()
	for b.Loop() {
		if action.Parse(r, messages.CodeAction).Kind != action.Run {
			b.Fatal("no code")
		}
	}
}
