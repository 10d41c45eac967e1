package wire

import (
	"strconv"
	"unicode/utf8"

	"github.com/troupe-go/troupe/messages"
)

// output is what a block printed: the first half of the limit, the last half,
// and the number of bytes between them that nobody keeps. It trusts no size
// the guest gives.
type output struct {
	half int
	head []byte
	tail string
	cut  int64 // left out, as the guest says
	over int64 // dropped here: the guest sent more than it may
	lang string
}

// maxCut keeps what a guest claims to have left out a sensible number.
const maxCut = 1 << 50

func (o *output) add(m *message) {
	room := max(o.half-len(o.head), 0)
	kept := bounded(m.Head, room)
	o.head = append(o.head, kept...)
	o.over += int64(len(m.Head) - len(kept))
	if m.Tail == nil {
		return
	}
	o.tail, o.cut = *m.Tail, min(max(m.Cut, 0), maxCut)
	if extra := len(o.tail) - o.half; extra > 0 {
		for extra < len(o.tail) && !utf8.RuneStart(o.tail[extra]) {
			extra++
		}
		o.cut += int64(extra)
		o.tail = o.tail[extra:]
	}
}

// printed is how many bytes the block printed, those left out included.
func (o *output) printed() int64 {
	return int64(len(o.head)) + o.over + o.cut + int64(len(o.tail))
}

// String gives the output with a mark where something is left out.
func (o *output) String() string {
	cut := o.cut + o.over
	if cut == 0 {
		return string(o.head) + o.tail
	}
	n := strconv.FormatInt(cut, 10)
	mark := "\n… " + n + " bytes of output left out …\n"
	if o.lang == messages.ZH {
		mark = "\n… 输出过长，省略 " + n + " 字节 …\n"
	}
	return string(o.head) + mark + o.tail
}
