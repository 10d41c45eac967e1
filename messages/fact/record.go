package fact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/troupe-go/troupe/messages"
)

// MaxRecord is the most bytes of one encoded record. Larger values go to the
// object store first, by hash (DESIGN §5).
const MaxRecord = 8 << 20

// ErrTooLarge says that a record has more than MaxRecord bytes.
var ErrTooLarge = errors.New("record too large")

// ErrNewerSchema says that a newer release wrote the record.
var ErrNewerSchema = errors.New("record of a newer schema")

// ErrUnknownKind says that a record holds a fact this release doesn't know:
// whoever can't read a fact can't own its invocation.
type ErrUnknownKind struct{ Kind string }

// Error names the kind.
func (e *ErrUnknownKind) Error() string {
	return fmt.Sprintf("fact kind %q is not known here (was it written by a newer release?)", e.Kind)
}

// New gives an empty fact of a kind, or an *ErrUnknownKind.
func New(kind string) (Fact, error) {
	newOne, ok := makers[kind]
	if !ok {
		return nil, &ErrUnknownKind{Kind: kind}
	}
	return newOne(), nil
}

// makers is the table of kinds; nothing changes it.
var makers = map[string]func() Fact{
	"run_started":    func() Fact { return new(RunStarted) },
	"thought":        func() Fact { return new(Thought) },
	"intended":       func() Fact { return new(Intended) },
	"returned":       func() Fact { return new(Returned) },
	"executed":       func() Fact { return new(Executed) },
	"child_started":  func() Fact { return new(ChildStarted) },
	"plan_changed":   func() Fact { return new(PlanChanged) },
	"compressed":     func() Fact { return new(Compressed) },
	"paused":         func() Fact { return new(Paused) },
	"resumed":        func() Fact { return new(Resumed) },
	"answered":       func() Fact { return new(Answered) },
	"approved":       func() Fact { return new(Approved) },
	"timer":          func() Fact { return new(Timer) },
	"stop_requested": func() Fact { return new(StopRequested) },
	"adopted":        func() Fact { return new(Adopted) },
	"released":       func() Fact { return new(Released) },
	"run_finished":   func() Fact { return new(RunFinished) },
}

// recordJSON is a record's JSON form; recordHead are its plain fields.
type recordJSON struct {
	recordHead
	Facts   []factJSON       `json:"facts"`
	Settles []messages.Event `json:"settles,omitempty"`
}

type recordHead struct {
	Schema     int       `json:"schema"`
	Run        string    `json:"run"`
	Invocation string    `json:"invocation"`
	Epoch      uint64    `json:"epoch"`
	N          uint64    `json:"n"`
	Time       time.Time `json:"time"`
	Acked      uint64    `json:"acked"`
}

type factJSON struct {
	Kind string          `json:"kind"`
	Fact json.RawMessage `json:"fact"`
}

// Encode gives the bytes that an append writes: one line of JSON, facts as
// {"kind", "fact"}, events in their own JSON form, non-ASCII unescaped. The
// same record always gives the same bytes. Seq is not part of it.
func (r *Record) Encode() ([]byte, error) {
	head, err := plainJSON(recordHead{r.Schema, r.Run, r.Invocation, r.Epoch, r.N, r.Time, r.Acked})
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	b := append(head[:len(head)-1], `,"facts":[`...)
	for i, f := range r.Facts {
		if i > 0 {
			b = append(b, ',')
		}
		body, err := plainJSON(f)
		if err != nil {
			return nil, fmt.Errorf("encode fact %s: %w", f.Kind(), err)
		}
		b = append(b, `{"kind":`...)
		b = messages.AppendJSONString(b, f.Kind())
		b = append(b, `,"fact":`...)
		b = append(b, body...)
		b = append(b, '}')
	}
	b = append(b, ']')
	if len(r.Settles) > 0 {
		b = append(b, `,"settles":[`...)
		for i := range r.Settles {
			if i > 0 {
				b = append(b, ',')
			}
			b = r.Settles[i].AppendJSON(b)
		}
		b = append(b, ']')
	}
	b = append(b, '}')
	if len(b) > MaxRecord {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(b), MaxRecord)
	}
	return b, nil
}

// plainJSON encodes without the escapes that json.Marshal makes for HTML.
func plainJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// MarshalJSON is Encode. json.Marshal escapes <, > and & in what it gets from
// here: what goes to the log is Encode's.
func (r *Record) MarshalJSON() ([]byte, error) { return r.Encode() }

// Parse reads an encoded record of at most MaxRecord bytes. Unknown fields are
// ignored, an unknown kind is an *ErrUnknownKind, a newer schema
// ErrNewerSchema.
func Parse(data []byte) (*Record, error) {
	var r Record
	if err := r.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return &r, nil
}

// UnmarshalJSON is Parse.
func (r *Record) UnmarshalJSON(data []byte) error {
	if len(data) > MaxRecord {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), MaxRecord)
	}
	var j recordJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	if j.Schema > Schema {
		return fmt.Errorf("%w: it has %d, this release knows %d; upgrade this node", ErrNewerSchema, j.Schema, Schema)
	}
	out := Record{
		Schema: j.Schema, Run: j.Run, Invocation: j.Invocation, Epoch: j.Epoch, N: j.N,
		Time: j.Time, Acked: j.Acked, Settles: j.Settles,
	}
	for _, fj := range j.Facts {
		f, err := fj.decode()
		if err != nil {
			return err
		}
		out.Facts = append(out.Facts, f)
	}
	*r = out
	return nil
}

func (j factJSON) decode() (Fact, error) {
	f, err := New(j.Kind)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(j.Fact, f); err != nil {
		return nil, fmt.Errorf("read fact %s: %w", j.Kind, err)
	}
	return f, nil
}

// Hash is the SHA-256 of the encoded record, in hex: an owner that doesn't
// know whether its append arrived tells its own record by it.
func (r *Record) Hash() (string, error) {
	b, err := r.Encode()
	if err != nil {
		return "", err
	}
	return HashOf(b), nil
}

// HashOf is the SHA-256 of bytes in hex.
func HashOf(b []byte) string {
	sum := sha256.Sum256(b)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}
