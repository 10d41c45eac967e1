package openai

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

func history(n int) *model.Request {
	req := &model.Request{}
	text := strings.Repeat("an observation of some length. ", 20)
	for range n {
		req.Messages = append(req.Messages, messages.NewChatMessage("user", text, nil))
	}
	return req
}

func bodyClient(t testing.TB) *Client {
	t.Helper()
	c, err := New(Config{Model: messages.ModelConfig{CiteName: "main", ModelName: "m", URL: "http://127.0.0.1:1/v1"}})
	require.NoError(t, err)
	return c
}

func TestBodyOfAnyLength(t *testing.T) {
	c := bodyClient(t)
	for _, n := range []int{0, 1, 2, 7} {
		b, err := c.newBody(history(n))
		require.NoError(t, err)
		for range 2 { // it may be sent again on another connection
			sent, err := io.ReadAll(b.open())
			require.NoError(t, err)
			require.Len(t, sent, int(b.length))
			require.Equal(t, n, strings.Count(string(sent), `"role":"user"`))
			require.True(t, strings.HasSuffix(string(sent), "]}"))
		}
	}
	_, err := c.newBody(&model.Request{Messages: []messages.ChatMessage{{Role: "user", Text: "never encoded"}}})
	require.ErrorIs(t, err, model.ErrInvalidRequest)
}

// A long history is sent, never copied or encoded again.
func TestBodyDoesNotCopyTheHistory(t *testing.T) {
	c := bodyClient(t)
	allocations := func(n int) float64 {
		req := history(n)
		return testing.AllocsPerRun(20, func() {
			b, err := c.newBody(req)
			if err != nil || b.length == 0 {
				panic("no body")
			}
			r := b.open()
			var p [512]byte
			for {
				if _, err := r.Read(p[:]); err != nil {
					return
				}
			}
		})
	}
	require.Equal(t, allocations(1), allocations(1000))
}

// BenchmarkBody writes a request: bytes and allocations stay the same however
// long the history is.
func BenchmarkBody(b *testing.B) {
	c := bodyClient(b)
	for _, n := range []int{10, 100, 1000} {
		req := history(n)
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			p := make([]byte, 32<<10)
			for b.Loop() {
				body, err := c.newBody(req)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(body.length)
				for r := body.open(); err == nil; {
					_, err = r.Read(p)
				}
			}
		})
	}
}
