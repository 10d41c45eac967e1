package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// nearest gives the known name that s was probably meant to be, or "".
func nearest(s string, known []string) string {
	best, bestAt := "", max(1, len([]rune(s))/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(s), strings.ToLower(k)); d < bestAt {
			best, bestAt = k, d
		}
	}
	return best
}

// maxName bounds what distance compares.
const maxName = 64

// distance counts the edits (insert, delete, replace, swap neighbours) between
// two names; long ones are never near.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > maxName || len(y) > maxName {
		return maxName
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(x)][len(y)]
}

// reserved are the words of Python that can't be names, and the functions
// that every agent's code has already.
func reserved(s string) bool {
	return slices.Contains([]string{
		"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
		"elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
		"not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
		"final_answer", "parallel_executor",
	}, s)
}

// identifier accepts what code can call as a Python function: Python compares
// names in their compatibility form, so a name must be in it.
func identifier(s string) (Text, bool) {
	expected := say("a Python identifier of at most %d characters that isn't reserved, e.g. read_file", "不超过 %d 个字符且非保留字的 Python 标识符，如 read_file", maxName)
	if s == "" || len([]rune(s)) > maxName || reserved(s) || !norm.NFKC.IsNormalString(s) {
		return expected, false
	}
	for i, r := range s {
		start := r == '_' || unicode.IsLetter(r)
		if !start && (i == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r)) {
			return expected, false
		}
	}
	return Text{}, true
}

// label accepts a name of a model or an agent.
func label(s string) (Text, bool) {
	expected := say("a name of at most %d printable characters without spaces around it", "不超过 %d 个可打印字符、首尾无空格的名称", maxName)
	if len([]rune(s)) > maxName || strings.TrimSpace(s) != s {
		return expected, false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return expected, false
		}
	}
	return Text{}, true
}

// printable accepts what may stand in an HTTP header.
func printable(s string) (Text, bool) {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return say("one line without control characters", "不含控制字符的单行文本"), false
		}
	}
	return Text{}, true
}

// headerName accepts the token of RFC 9110 §5.1, but for names that the
// client itself sets.
func headerName(s string) (Text, bool) {
	const extra = "!#$%&'*+-.^_`|~"
	expected := say("the name of an HTTP header", "HTTP 头名称")
	for _, r := range s {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(extra, r) {
			return expected, false
		}
	}
	for _, own := range []string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection"} {
		if strings.EqualFold(s, own) {
			return say("a header that the client doesn't set itself", "非客户端自行设置的 HTTP 头"), false
		}
	}
	return expected, s != ""
}

func httpURL(s string) (Text, bool) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(s, " \t\n"):
		return say("a URL that starts with http:// or https://", "以 http:// 或 https:// 开头的 URL"), false
	case u.User != nil:
		return say("a URL without user and password (api_key and extra_headers hold secrets)", "不含用户名和密码的 URL（密钥请写入 api_key 或 extra_headers）"), false
	case u.Fragment != "":
		return say("a URL without #", "不含 # 的 URL"), false
	}
	return Text{}, true
}

// quoteURL shows a URL without user, password and query, which may be secrets.
func quoteURL(s string) Text {
	shown := cut(s, 60)
	if strings.ContainsAny(s, "@?#") {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" {
			return say("text that isn't shown", "（文本不予显示）")
		}
		shown = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	q := strconv.Quote(shown)
	return Text{EN: q, ZH: q}
}
