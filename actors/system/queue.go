package system

// minQueue is the room a queue begins with, a power of two.
const minQueue = 4

// queue is first in, first out. The zero value is empty and holds no memory.
type queue[T any] struct {
	ring []T // its length is a power of two, or zero
	head int // of the first
	n    int // how many there are
}

func (q *queue[T]) push(v T) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
}

// pop takes the first; there must be one.
func (q *queue[T]) pop() T {
	var none T
	v := q.ring[q.head]
	q.ring[q.head] = none
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return v
}

func (q *queue[T]) grow() {
	ring := make([]T, max(2*len(q.ring), minQueue))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

// trim gives the memory of an empty queue back when it is more than keep
// places.
func (q *queue[T]) trim(keep int) {
	if q.n == 0 && len(q.ring) > keep {
		*q = queue[T]{}
	}
}
