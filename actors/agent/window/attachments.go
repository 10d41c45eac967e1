package window

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/troupe-go/troupe/messages"
)

// Bounds of what comes with a query.
const (
	DefaultInlineBytes = 32 << 10 // of text attachments, in all, when AttachmentsInput.InlineBytes is 0
	MaxFiles           = 100      // attachments of one query
	MaxImageBytes      = 5 << 20  // an image that a model gets; a larger one stays a file
	maxNameBytes       = 120      // of a file's name in the workspace
)

// ErrTooManyFiles is a query with more than MaxFiles attachments.
var ErrTooManyFiles = &messages.Fault{
	Code: "too_many_attachments", Class: messages.Permanent,
	EN: "the query has %d attachments, and %d may come with one; send fewer, or an archive",
	ZH: "该请求带有 %d 个附件，最多允许 %d 个；请减少附件或打包发送",
}

// AttachmentsInput is a query and what came with it.
type AttachmentsInput struct {
	Query       string
	Files       []messages.Attachment
	Images      bool   // the model takes image_url parts
	InlineBytes int    // text that may stand in the query, in all files together; 0: DefaultInlineBytes; negative: none
	Folder      string // of the files, in the workspace; empty: inputs
	Lang        string
}

// Attached is a query with its attachments.
type Attached struct {
	Text  string                 // the query, then a line a file with its place in the workspace, and texts within the budget
	Parts []messages.ContentPart // images for a model that takes them; else nil
	Files []messages.Attachment  // all files, to be put into the workspace; Name is the path there, relative and with slashes
}

// DefaultFolder is where attachments lie in a workspace (nexent-core §3.7).
const DefaultFolder = "inputs"

func (in *AttachmentsInput) folder() string {
	if in.Folder == "" {
		return DefaultFolder
	}
	return in.Folder
}

// Attachments makes a query of text and files. Every file gets a place in the
// workspace (inputs/001_name, nexent-core §3.7) that the text names, so code
// can open it. A text also stands in the query while the budget lasts; an
// image also goes to a model that takes images. What a file is, its bytes
// decide: a declared media type is only a hint. It is a pure function. The
// error is an [ErrTooManyFiles].
func Attachments(in AttachmentsInput) (Attached, error) {
	if len(in.Files) > MaxFiles {
		return Attached{}, ErrTooManyFiles.Withf(len(in.Files), MaxFiles)
	}
	out := Attached{Text: in.Query}
	if len(in.Files) == 0 {
		return out, nil
	}
	words := wordsOf(in.Lang)
	budget := in.InlineBytes
	if budget == 0 {
		budget = DefaultInlineBytes
	}
	var b strings.Builder
	b.WriteString(in.Query)
	b.WriteString("\n\n" + words.head)
	for i, f := range in.Files {
		kind, image := sniff(f)
		f.MediaType, f.Name = kind, fmt.Sprintf("%s/%03d_%s", in.folder(), i+1, safeName(f.Name))
		out.Files = append(out.Files, f)

		fmt.Fprintf(&b, "\n- %s (%s, %d %s)", f.Name, kind, len(f.Data), words.bytes)
		switch {
		case image && in.Images && len(f.Data) <= MaxImageBytes:
			out.Parts = append(out.Parts, messages.ContentPart{Type: "image_url", ImageURL: &messages.ImageURL{
				URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(f.Data),
			}})
		case isText(kind, f.Data) && len(f.Data) <= budget:
			budget -= len(f.Data)
			b.WriteString(words.content + "\n" + fenced(string(f.Data)))
		}
	}
	out.Text = b.String()
	return out, nil
}

type attachmentWords struct{ head, bytes, content string }

func wordsOf(lang string) attachmentWords {
	if lang == messages.ZH {
		return attachmentWords{head: "随请求提供的文件（工作区中的路径）：", bytes: "字节", content: "，内容如下："}
	}
	return attachmentWords{head: "Files that come with this request (paths in the workspace):", bytes: "bytes", content: ", its content:"}
}

// sniff gives a file's media type, and whether it is an image of a kind that
// models take.
func sniff(f messages.Attachment) (kind string, image bool) {
	found, _, _ := strings.Cut(http.DetectContentType(f.Data), ";")
	switch found {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return found, true
	}
	declared, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(f.MediaType)), ";")
	switch {
	case strings.HasPrefix(declared, "image/"): // it says so, and isn't
	case mediaType(declared):
		return declared, false
	}
	return found, false
}

// mediaType reports whether s is a type/subtype of token characters, so that it
// can stand in a prompt.
func mediaType(s string) bool {
	major, minor, ok := strings.Cut(s, "/")
	return ok && len(s) <= 100 && token(major) && token(minor)
}

func token(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789+-._", r) {
			return false
		}
	}
	return s != ""
}

// isText reports whether the bytes can be read as text in a prompt.
func isText(kind string, data []byte) bool {
	if kind == "application/pdf" || strings.HasPrefix(kind, "image/") && kind != "image/svg+xml" {
		return false
	}
	if !utf8.Valid(data) {
		return false
	}
	for _, c := range data {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' {
			return false
		}
	}
	return true
}

// fenced puts a text between fences longer than any it holds.
func fenced(text string) string {
	longest, run := 2, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + "\n" + text + fence
}

// safeName makes a file name that is one path element on every system, without
// characters that mean something to shells or prompts.
func safeName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune("._-+() ", r) {
			return r
		}
		return '_'
	}, strings.ToValidUTF8(name, "_"))
	name = strings.Trim(name, " .")
	if ext := path.Ext(name); len(name) > maxNameBytes {
		if len(ext) > 16 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:maxNameBytes-len(ext)], "") + ext
	}
	if name == "" {
		return "file"
	}
	return name
}
