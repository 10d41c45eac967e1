package model

import (
	"fmt"

	"github.com/troupe-go/troupe/messages"
)

// text is a format in both languages; both take the same arguments.
type text struct{ en, zh string }

func (t text) format(lang string, args ...any) string {
	if lang == messages.ZH {
		return fmt.Sprintf(t.zh, args...)
	}
	return fmt.Sprintf(t.en, args...)
}

// What the warnings of a retried call say: what failed, then what is next.
var (
	warnAgain    = text{"%s. Trying again in %s (attempt %d of %d).", "%s。将在 %s 后重试（第 %d 次，共 %d 次）。"}
	warnNext     = text{"%s. Going on with model %q.", "%s。改用模型 %q。"}
	warnSampling = text{"%s. Asking again without them.", "%s。将去掉这两个参数后重试。"}
	warnTooLong  = text{"%s. The provider asks to wait %s, which is too long; going on with model %q.", "%s。服务商要求等待 %s，时间过长；改用模型 %q。"}
)
