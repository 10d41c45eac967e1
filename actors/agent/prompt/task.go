package prompt

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/troupe-go/troupe/messages"
)

const timePrefix = "[Current time:"

// Task puts the time before a query, in now's zone, unless it begins with one
// already (nexent-core §2.2). The time stands here and not in the system
// prompt, which would otherwise differ from run to run.
func Task(query string, now time.Time) string {
	if strings.HasPrefix(query, timePrefix) {
		return query
	}
	return now.Format(timePrefix+" 2006-01-02 15:04:05]") + "\n\n" + query
}

// ErrMetadata is metadata that has no JSON form, such as a NaN.
var ErrMetadata = &messages.Fault{
	Code: "metadata_invalid", Class: messages.Permanent,
	EN: "the run's metadata can't be given to the model: it has no JSON form",
	ZH: "运行的元数据无法提供给模型：不能表示为 JSON",
}

// Metadata gives the block that shows a caller's metadata to the model as data
// it must not obey; it is put after the task, with a blank line before it.
// Empty metadata gives "". The error is an [ErrMetadata].
func Metadata(lang string, metadata map[string]any) (string, error) {
	if len(metadata) == 0 {
		return "", nil
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body) // keys sorted, and < > escaped: no value can close the block
	if err := enc.Encode(metadata); err != nil {
		return "", ErrMetadata.With(err)
	}
	return sentences(lang).metadata + "\n<runtime_metadata trust=\"untrusted-data\">" +
		strings.TrimRight(body.String(), "\n") + "</runtime_metadata>", nil
}
