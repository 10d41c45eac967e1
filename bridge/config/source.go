package config

import (
	"bytes"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file beside its size. The parser recurses a level of nesting and
// compares each key of a mapping with those before it: both must be bounded
// before it runs.
const (
	maxTokens = 50_000
	maxDepth  = 64
)

// read gives the root node of a file's only document; nil when it is empty.
func read(name string, data []byte) (root ast.Node, faults Faults) {
	if len(data) > MaxBytes {
		return nil, whole(name, say("at most 1 MiB", "不超过 1 MiB"), say("a larger file", "更大的文件"))
	}
	if at := invalidUTF8(data); at >= 0 {
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		return nil, Faults{{File: name, Line: line, Column: 1, Expected: say("UTF-8 text", "UTF-8 文本"), Got: say("other bytes", "其他字节")}}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	// A panic of the library on outside bytes is a fault of the file.
	defer func() {
		if r := recover(); r != nil {
			root, faults = nil, whole(name, say("YAML", "YAML"), say("something that can't be parsed", "无法解析的内容"))
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if f := bounded(name, tokens); f != nil {
		return nil, f
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, Faults{syntaxFault(name, err)}
	}
	return document(name, file)
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func document(name string, file *ast.File) (ast.Node, Faults) {
	var root ast.Node
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			p := at("", d.Body)
			return nil, Faults{{File: name, Line: p.line, Column: p.col, Expected: say("one document", "一个文档"), Got: say("a second one", "第二个文档")}}
		}
		root = d.Body
	}
	return root, nil
}

// bounded refuses what would cost the parser too much. Nesting is counted by
// open brackets, and by the marks that may stand side by side on one line;
// nesting by indentation costs a space a level and more with each line.
func bounded(name string, tokens token.Tokens) Faults {
	if len(tokens) > maxTokens {
		return whole(name, say("at most %d tokens", "不超过 %d 个记号", maxTokens), say("%d", "%d 个", len(tokens)))
	}
	open, marks, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, marks = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			marks++
		}
		indent := 0
		if t.Type == token.MappingValueType || t.Type == token.SequenceEntryType {
			indent = t.Position.IndentNum
		}
		if open > maxDepth || marks > maxDepth || indent > 8*maxDepth {
			p := t.Position
			return Faults{{File: name, Line: p.Line, Column: p.Column, Expected: say("at most %d levels", "不超过 %d 层", maxDepth), Got: say("deeper nesting", "更深的嵌套")}}
		}
	}
	return nil
}

// syntaxFault keeps the library's message and position but not its excerpt of
// the source, which may show a secret.
func syntaxFault(name string, err error) Fault {
	f := Fault{File: name, Expected: say("YAML", "YAML"), Got: say("something that can't be parsed", "无法解析的内容")}
	positioned, ok := err.(interface {
		GetMessage() string
		GetToken() *token.Token
	})
	if !ok {
		return f
	}
	if t := positioned.GetToken(); t != nil {
		f.Line, f.Column = t.Position.Line, t.Position.Column
	}
	f.Got = syntaxText(positioned.GetMessage())
	return f
}

// syntaxText puts the library's most common messages into people's words.
func syntaxText(msg string) Text {
	known := map[string]Text{
		"mapping value is not allowed in this context":                       say("a second `:` in a line or a wrong indentation (put text that holds `: ` in quotes)", "一行中有第二个 `:` 或缩进有误（含 `: ` 的文本请加引号）"),
		"tab character cannot use as a map key directly":                     say("a tab (indent with spaces)", "制表符（请用空格缩进）"),
		"found character '\t' that cannot start any token":                   say("a tab (indent with spaces)", "制表符（请用空格缩进）"),
		"unexpected key name":                                                say("a line without `:`", "缺少 `:` 的行"),
		"',' or '}' must be specified":                                       say("`{` without its `}` (put ${NAME} in quotes inside braces)", "`{` 没有对应的 `}`（花括号内的 ${NAME} 请加引号）"),
		"',' or ']' must be specified":                                       say("`[` without its `]`", "`[` 没有对应的 `]`"),
		"sequence end token ']' not found":                                   say("`[` without its `]`", "`[` 没有对应的 `]`"),
		"could not find flow mapping end token '}'":                          say("`{` without its `}`", "`{` 没有对应的 `}`"),
		"could not find end character of double-quoted text":                 say("a `\"` that isn't closed", "未闭合的 `\"`"),
		"could not find end character of single-quoted text":                 say("a `'` that isn't closed", "未闭合的 `'`"),
		"value is not allowed in this context":                               say("a value where none may stand", "此处不应有值"),
		"non-map value is specified":                                         say("a line without `:`", "缺少 `:` 的行"),
		"block sequence entries are not allowed in this context":             say("a list on the line of its key", "列表与其键写在同一行"),
		"unexpected scalar value type":                                       say("a value where none may stand", "此处不应有值"),
		"could not find '[' character corresponding to ']'":                  say("`]` without its `[`", "`]` 没有对应的 `[`"),
		"could not find '{' character corresponding to '}'":                  say("`}` without its `{`", "`}` 没有对应的 `{`"),
		"unexpected directive value. document not started":                   say("`%` at the start of a value (put it in quotes)", "值以 `%` 开头（请加引号）"),
		"value is not allowed in this context. map key-value is pre-defined": say("text after a closing quote", "引号之后还有文本"),
	}
	if t, ok := known[msg]; ok {
		return t
	}
	return Text{EN: msg, ZH: "无法解析的内容（" + msg + "）"}
}
