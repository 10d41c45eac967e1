package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/messages"
)

// admit takes a request: an idempotency key that is known names its run, a
// full node refuses, and all else becomes a run.
func (r *root) admit(ctx actor.Context, m *messages.RunAgent) {
	if r.closing != nil {
		ctx.Respond(&messages.RunRefused{Fault: messages.ErrShutdown})
		return
	}
	key, hash := idempotency(m)
	if known, ok := r.keys[key]; ok && key != "" {
		r.again(ctx, r.runs[known], m, hash)
		return
	}
	req := *m
	if req.Run == "" {
		req.Run = r.cfg.System.World().NewID()
	}
	if _, ok := r.runs[req.Run]; ok {
		ctx.Respond(&messages.RunRefused{Fault: errRunExists.Withf(req.Run)})
		return
	}
	full := r.running >= r.cfg.Limits.MaxRuns
	if full && len(r.queue) >= r.cfg.Limits.QueueSize {
		ctx.Respond(&messages.RunRefused{Fault: messages.ErrBusy})
		return
	}
	e := &entry{id: req.Run, user: m.User, key: key, hash: hash, askers: []*actor.PID{ctx.Sender()}}
	r.runs[e.id] = e
	if key != "" {
		r.keys[key] = e.id
	}
	if full {
		r.queue = append(r.queue, e)
	} else {
		e.place = running
		r.running++
	}
	r.spawn(ctx, e, &req)
}

// again answers a request whose idempotency key names a run already: at once,
// or together with the first one while that is still beginning.
func (r *root) again(ctx actor.Context, e *entry, m *messages.RunAgent, hash string) {
	switch {
	case e.hash != hash:
		ctx.Respond(&messages.RunRefused{Fault: messages.ErrConflict.Withf(m.IdempotencyKey)})
	case e.open:
		ctx.Respond(&messages.RunAccepted{Run: e.id, Existing: true, Queued: e.place == queued})
	default:
		e.askers = append(e.askers, ctx.Sender())
	}
}

// idempotency gives a request's key, with its tenant, and the hash that tells
// whether the same key comes with the same request.
func idempotency(m *messages.RunAgent) (key, hash string) {
	if m.IdempotencyKey == "" {
		return "", ""
	}
	hash = m.Fingerprint
	if hash == "" {
		hash = Fingerprint(m)
	}
	return m.Tenant + "\x00" + m.IdempotencyKey, hash
}

// Fingerprint is what makes a request the same as another: all of it but its
// id and deadline. It reads every attachment: whoever takes a request in does
// that on a goroutine of its own and puts it into RunAgent.Fingerprint.
func Fingerprint(m *messages.RunAgent) string {
	same := *m
	same.Run, same.Deadline, same.Fingerprint = "", time.Time{}, ""
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(&same); err != nil { // metadata with no JSON form, which the planner refuses
		h.Write([]byte(m.Query))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// leave gives a run's place to the one that waits longest.
func (r *root) leave(ctx actor.Context, e *entry) {
	switch e.place {
	case running:
		r.running--
	case queued:
		for i := range r.queue {
			if r.queue[i] == e {
				r.queue = append(r.queue[:i], r.queue[i+1:]...)
				break
			}
		}
	}
	for len(r.queue) > 0 && r.running < r.cfg.Limits.MaxRuns {
		next := r.queue[0]
		r.queue = r.queue[1:]
		next.place = running
		r.running++
		ctx.Send(next.pid, &admitted{})
	}
	r.shutDown(ctx)
}
