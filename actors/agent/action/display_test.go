package action_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent/action"
)

func TestDisplay(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"spec vector", "<DISPLAY:python>x</DISPLAY>", "```pythonx```"},
		{"code without a language", "```code: \nx", "```code: \nx"},
		{"unterminated", "<DISPLAY:py", "<DISPLAY:py"},
		{"fence", "```<DISPLAY:py>\nx\n```<END_DISPLAY_CODE>", "```py\nx\n```"},
		{"end code", "```code:py\nx\n```<END_CODE>", "```py\nx\n```"},
		{"single backtick", "`<DISPLAY:py>x`", "`pyx`"},
		{"unfixable first, fixable later", "```code: \nx```\n```code:py\ny```", "```code: \nx```\n```py\ny```"},
		{"nested marks", "```<DISPLAY:code>:code:py", "```py"},
		{"plain", "a < b", "a < b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, action.Display(c.text))
		})
	}
}

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing to strip", " a < b ", "a < b"},
		{"thinking", "a<think>b</think>c", "ac"},
		{"lone close", "a</think>\nc", "c"},
		{"never closed", "a<think>b", "a"},
		{"code stays as written", "<think>t</think>思考：x\n<code >\n```py\nf()\n```\n</CODE>", "思考：x\n<code >\n```py\nf()\n```\n</CODE>"},
		{"mentioned", "the `</think>` tag", "the `</think>` tag"},
		{"envelope tags stay", "<FINAL_ANSWER>a</FINAL_ANSWER>", "<FINAL_ANSWER>a</FINAL_ANSWER>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, action.Visible(c.text))
		})
	}
}

func TestFullWidth(t *testing.T) {
	hints := action.FullWidth("a = '，'  # ：\nprint（'总数：'，3）\nx = “y”\nｚ = １")
	require.Equal(t, []action.Hint{
		{2, 6, "（", "("}, {2, 12, "，", ","}, {2, 14, "）", ")"},
		{3, 5, "“", `"`}, {3, 7, "”", `"`},
		{4, 5, "１", "1"},
	}, hints)
	require.Empty(t, action.FullWidth("print('总数：', 3)"))
	require.Len(t, action.FullWidth("（（（（（（（（（（（（（（（（（（（（"), 16)
}

// Of a text in which nothing runs, code is shown as code.
func TestUnrun(t *testing.T) {
	require.Equal(t, "So far:\n```python\nx = 1\n```", action.Unrun("So far:\n<code>\nx = 1\n</code>"))
	require.Equal(t, "```python\nfinal(2)", action.Unrun("<CODE>\nfinal(2)"))
	require.Equal(t, "plain", action.Unrun("plain"))
}
