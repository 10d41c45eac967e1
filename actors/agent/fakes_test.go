package agent_test

import (
	"context"
	"encoding/json"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// client is a model whose answers a test gives by hand.
type client struct {
	name  string
	asked chan *question
}

// question is one request to a model.
type question struct {
	stage  *stage
	model  string
	ctx    context.Context
	req    *model.Request
	answer chan reply
}

type reply struct {
	model.Reply
	err error
}

// Stream implements model.Client.
func (c *client) Stream(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Reply, error) {
	q := &question{model: c.name, ctx: ctx, req: req, answer: make(chan reply)}
	select {
	case c.asked <- q:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case r := <-q.answer:
		if r.Text != "" {
			on(model.Delta{Content: r.Text})
		}
		if r.err != nil {
			return nil, r.err
		}
		return &r.Reply, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// say answers with a text that ends as it should.
func (q *question) say(text string) { q.reply(model.Reply{Text: text, FinishReason: "stop"}) }

func (q *question) reply(r model.Reply) { q.give(reply{Reply: r}) }

func (q *question) fail(err error) { q.give(reply{err: err}) }

func (q *question) give(r reply) {
	q.stage.t.Helper()
	select {
	case q.answer <- r:
	case <-q.stage.ctx.Done():
		require.FailNow(q.stage.t, "nobody took the model's answer")
	}
}

// texts are the messages of the request, each as "role: text".
func (q *question) texts() []string {
	out := make([]string, len(q.req.Messages))
	for i, m := range q.req.Messages {
		out[i] = m.Role + ": " + m.Text
	}
	return out
}

func (q *question) last() string { return q.req.Messages[len(q.req.Messages)-1].Text }

// driver is a Python executor whose blocks a test runs by hand.
type driver struct{ blocks chan *block }

// block is one block of code that runs.
type block struct {
	stage *stage
	ctx   context.Context
	code  string
	what  python.Block
	host  python.Host
	ended chan *python.Outcome
}

// Start implements python.Driver.
func (d *driver) Start(context.Context, python.Spec) (python.Interpreter, error) {
	return interpreter{driver: d}, nil
}

// Describe implements python.Driver.
func (*driver) Describe() python.Description { return python.Description{Level: "test"} }

type interpreter struct {
	python.NoSnapshots
	driver *driver
}

// Exec implements python.Interpreter.
func (i interpreter) Exec(ctx context.Context, what python.Block, host python.Host) (*python.Outcome, error) {
	b := &block{ctx: ctx, code: what.Code, what: what, host: host, ended: make(chan *python.Outcome)}
	select {
	case i.driver.blocks <- b:
	case <-ctx.Done():
		return &python.Outcome{Killed: python.KilledBy(ctx)}, nil
	}
	select {
	case o := <-b.ended:
		return o, nil
	case <-ctx.Done():
		return &python.Outcome{Killed: python.KilledBy(ctx)}, nil
	}
}

// Close implements python.Interpreter.
func (interpreter) Close() {}

// end ends the block.
func (b *block) end(o python.Outcome) {
	b.stage.t.Helper()
	select {
	case b.ended <- &o:
	case <-b.stage.ctx.Done():
		require.FailNow(b.stage.t, "nobody waited for the block")
	}
}

// result is what code sees of a call.
type result struct {
	value json.RawMessage
	err   *messages.ToolError
}

// begin calls a tool and doesn't wait.
func (b *block) begin(ordinal uint64, tool, kwargs string) <-chan result {
	done := make(chan result, 1)
	b.stage.system.Go(func() {
		r := b.host.Call(b.ctx, python.Call{Ordinal: ordinal, Tool: tool, Kwargs: json.RawMessage(kwargs)})
		done <- result{r.Value, r.Err}
	})
	return done
}

// call calls a tool as the block's code would.
func (b *block) call(ordinal uint64, tool, kwargs string) result {
	b.stage.t.Helper()
	return take(b.stage, b.begin(ordinal, tool, kwargs), "the call of "+tool+" to return")
}
