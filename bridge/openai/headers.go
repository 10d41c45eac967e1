package openai

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/net/http/httpguts"

	"github.com/troupe-go/troupe/messages"
)

// checkHeaders refuses what can't be sent in a header: each request would fail
// as if the connection had. Values are secrets and are not told.
func checkHeaders(m messages.ModelConfig) error {
	if !httpguts.ValidHeaderFieldValue(m.APIKey.Reveal()) {
		return misconfigured(m,
			"api_key has a control character, such as a line break at its end; remove it",
			"api_key 含有控制字符（例如末尾的换行符），请删除")
	}
	for _, name := range slices.Sorted(maps.Keys(m.ExtraHeaders)) {
		if !httpguts.ValidHeaderFieldName(name) {
			return misconfigured(m,
				fmt.Sprintf("extra_headers has %.100q, which is no name of a header: letters, digits and dashes", name),
				fmt.Sprintf("extra_headers 中的 %.100q 不是有效的请求头名称，应由字母、数字和连字符组成", name))
		}
		if !httpguts.ValidHeaderFieldValue(m.ExtraHeaders[name].Reveal()) {
			return misconfigured(m,
				fmt.Sprintf("the value of extra_headers %q has a control character, such as a line break; remove it", name),
				fmt.Sprintf("extra_headers 中 %q 的值含有控制字符（例如换行符），请删除", name))
		}
	}
	return nil
}
