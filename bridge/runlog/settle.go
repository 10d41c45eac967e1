package runlog

import (
	"strings"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// held reports whether an event waits for the thought that accepts its
// attempt: its text, and that it began. How an attempt ended does not.
func held(ev *messages.Event) bool {
	return ev.AttemptID != "" && (ev.Type != messages.ModelAttemptControl || ev.Phase == messages.PhaseBegin)
}

// accepts gives whether f settles attempts, and which: "" means every one that
// was not withdrawn.
func accepts(f fact.Fact) (attempt string, ok bool) {
	t, ok := f.(*fact.Thought)
	if !ok || t.Rejected != "" {
		return "", false
	}
	return t.AttemptID, true
}

// settle takes out of open what f settles, in order, texts joined, and leaves
// room for extra more. It gives what stays open, in open's memory.
func settle(open []*messages.Event, f fact.Fact, extra int) (settled, rest []*messages.Event) {
	attempt, accepting := accepts(f)
	taken := func(ev *messages.Event) bool {
		return !held(ev) || accepting && (attempt == "" || ev.AttemptID == attempt)
	}
	n := extra
	for _, ev := range open {
		if taken(ev) {
			n++
		}
	}
	if n > 0 {
		settled = make([]*messages.Event, 0, n)
	}
	rest = open[:0]
	for i := 0; i < len(open); {
		if !taken(open[i]) {
			rest = append(rest, open[i])
			i++
			continue
		}
		end := textRun(open, i)
		settled = append(settled, join(open[i:end]))
		i = end
	}
	clear(open[len(rest):])
	return settled, rest
}

// textRun gives the end of the run of pieces of one text that begins at i: of
// one type and one attempt, with nothing published between them.
func textRun(open []*messages.Event, i int) int {
	first, end := open[i], i+1
	if first.AttemptID == "" || first.Object != nil || !modelText(first.Type) {
		return end
	}
	for end < len(open) {
		ev := open[end]
		if ev.Type != first.Type || ev.AttemptID != first.AttemptID || ev.Object != nil || ev.ID.N != open[end-1].ID.N+1 {
			break
		}
		end++
	}
	return end
}

func modelText(t messages.ProcessType) bool {
	return t == messages.ModelOutputThinking || t == messages.ModelOutputDeepThinking || t == messages.ModelOutputCode
}

// join makes one event of the pieces of a text. It has the last piece's id;
// Keep says that it stands for what comes after that number.
func join(pieces []*messages.Event) *messages.Event {
	if len(pieces) == 1 {
		return pieces[0]
	}
	size := 0
	for _, ev := range pieces {
		size += len(ev.Content)
	}
	var text strings.Builder
	text.Grow(size)
	for _, ev := range pieces {
		text.WriteString(ev.Content)
	}
	joined := *pieces[len(pieces)-1]
	joined.Content = text.String()
	joined.Phase = messages.PhaseReplace
	joined.Keep = pieces[0].ID.N - 1
	return &joined
}

// withdraw takes an attempt's held events out of open.
func withdraw(open []*messages.Event, attempt string) []*messages.Event {
	rest := open[:0]
	for _, ev := range open {
		if ev.AttemptID != attempt || !held(ev) {
			rest = append(rest, ev)
		}
	}
	clear(open[len(rest):])
	return rest
}
