// Package tags is the grammar of what a model writes: where its thinking is,
// where its code is, and what is neither. One incremental [Scanner] serves the
// stream view (package observer) and the executor's parser (package action),
// so both always agree on what is code.
//
// # Grammar
//
// Thinking: <think>…</think> anywhere outside code, fences and inline code
// spans. A </think> that nothing opened says that all text before it was
// thinking (the prompt's template opened it): [Forget].
//
// Code, outside thinking:
//   - <code>…</code>, any case, blanks allowed before ">": at the beginning of
//     a line, after a label, or with nothing after it on its line. A tag in
//     mid-sentence with text behind it is prose that talks about the tag. A
//     Markdown fence just inside the tags is taken off.
//   - ```<RUN> … ```, at the same places.
//   - ```python or ```py … ``` right after a label.
//
// A label is "Code:" or "代码：" (either colon) at the beginning of a line or
// after the end of a sentence, with only white space behind it.
//
// Never code: what stands in quotation marks, in an inline code span, in any
// other fence, in <DISPLAY:lang>…</DISPLAY>, in <FINAL_ANSWER>.
//
// Inside code a closing marker counts only outside Python strings and
// comments; [Python] follows those.
//
// # Concurrency
//
// A Scanner belongs to one goroutine. Spans alias the text written.
package tags
