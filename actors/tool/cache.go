package tool

import (
	"container/list"
	"encoding/json"
	"sync"
	"time"

	"github.com/troupe-go/troupe/messages"
)

const (
	cacheEntries = 256
	cacheBytes   = 16 << 20
)

// cache keeps results of effect-free calls for a time.
type cache struct {
	ttl time.Duration

	mu    sync.Mutex
	byKey map[string]*list.Element
	order *list.List // of *entry, most recently used first
	bytes int
}

// entry is a result with the events that its call published, which a hit
// publishes again.
type entry struct {
	key     string
	value   json.RawMessage
	events  []messages.Event
	expires time.Time
}

func newCache(ttl time.Duration) *cache {
	return &cache{ttl: ttl, byKey: make(map[string]*list.Element), order: list.New()}
}

func (c *cache) get(key string, now time.Time) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[key]
	if !ok {
		return nil
	}
	e := el.Value.(*entry)
	if !now.Before(e.expires) {
		c.drop(el)
		return nil
	}
	c.order.MoveToFront(el)
	return e
}

func (c *cache) put(e *entry, now time.Time) {
	if e.size() > cacheBytes/16 { // one result must not push out all others
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.byKey[e.key]; ok {
		c.drop(old)
	}
	e.expires = now.Add(c.ttl)
	c.byKey[e.key] = c.order.PushFront(e)
	c.bytes += e.size()
	for c.order.Len() > cacheEntries || c.bytes > cacheBytes {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(el *list.Element) {
	e := c.order.Remove(el).(*entry)
	delete(c.byKey, e.key)
	c.bytes -= e.size()
}

func (e *entry) size() int {
	n := len(e.key) + len(e.value)
	for i := range e.events {
		n += len(e.events[i].Content) + len(e.events[i].Object)
	}
	return n
}
