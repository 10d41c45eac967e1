package action

import (
	"regexp"
	"strings"
)

// The marks that models put around code which is only shown
// (nexent-core §2.6).
var (
	displayFence = regexp.MustCompile("(`{1,3})<DISPLAY:([A-Za-z0-9_+#.-]+)>")
	codeFence    = regexp.MustCompile("(`{1,3})(?:code:)+([A-Za-z0-9_]+)")
	displayOpen  = regexp.MustCompile("<DISPLAY:([A-Za-z0-9_+#.-]+)>")
	endMark      = regexp.MustCompile("```(?:<END_DISPLAY_CODE>|<END_CODE>)+")
)

// The tags of code that would run elsewhere.
var (
	codeOpen  = regexp.MustCompile(`(?i)\s*<code>\s*`)
	codeClose = regexp.MustCompile(`(?i)\s*</code>`)
)

// Unrun turns blocks of code into fences, in a text of which nothing runs: the
// answer of a run whose steps are used up.
func Unrun(text string) string {
	text = codeOpen.ReplaceAllString(text, "\n```python\n")
	return strings.TrimSpace(codeClose.ReplaceAllString(text, "\n```"))
}

// maxDisplayPasses ends the search for marks that other marks make; no text
// has been found that needs more than four.
const maxDisplayPasses = 16

// Display turns the marks of code that is only shown into Markdown fences.
// Converting twice changes nothing.
func Display(text string) string {
	for range maxDisplayPasses {
		next := displayPass(text)
		if next == text {
			break
		}
		text = next
	}
	return text
}

func displayPass(text string) string {
	if strings.Contains(text, "`code:") {
		text = codeFence.ReplaceAllString(text, "$1$2")
	}
	if !strings.Contains(text, "DISPLAY") && !strings.Contains(text, "<END_CODE>") {
		return text
	}
	text = displayFence.ReplaceAllString(text, "$1$2")
	text = displayOpen.ReplaceAllString(text, "```$1")
	text = strings.ReplaceAll(text, "</DISPLAY>", "```")
	return endMark.ReplaceAllString(text, "```")
}
