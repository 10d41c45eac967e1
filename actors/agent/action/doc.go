// Package action decides what a model's reply asks for: code that runs, an
// answer, a repair turn, or an end because the provider filtered it. It is
// pure: no state, no input or output. The grammar is that of package tags.
package action
