package observer

import (
	"strconv"

	"github.com/troupe-go/troupe/messages"
)

// The literal texts are the contract of nexent-core §1.2; an unknown language
// means English.

// StepCountText is the content of a STEP_COUNT event for step n.
func StepCountText(lang string, n int) string {
	if lang == messages.ZH {
		return "\n**步骤 " + strconv.Itoa(n) + "** \n"
	}
	return "\n**Step " + strconv.Itoa(n) + "** \n"
}

// ParseText is the content of a PARSE event: the code that is about to run,
// fenced.
func ParseText(lang, code string) string {
	head := "\n🛠️ Used tool python_interpreter\n"
	if lang == messages.ZH {
		head = "\n🛠️ 使用Python解释器执行代码\n"
	}
	return head + "```python\n" + code + "\n```\n"
}
