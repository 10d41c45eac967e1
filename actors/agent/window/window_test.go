package window_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent/window"
	"github.com/troupe-go/troupe/messages"
)

func texts(list []messages.ChatMessage) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.Role+":"+m.Text)
	}
	return out
}

func TestNewTakesHistory(t *testing.T) {
	noThinking := func(s string) string {
		_, after, found := strings.Cut(s, "</think>")
		if !found {
			return s
		}
		return strings.TrimSpace(after)
	}
	w, err := window.New("be brief", []messages.Turn{
		{Role: "user", Content: "hello </think> there"},
		{Role: "assistant", Content: "<think>secret-plan-7</think> hi"},
		{Role: "assistant", Content: "<think>only thoughts</think>"},
		{Role: "user", Parts: []messages.ContentPart{
			{Type: "text", Text: "what is this?"},
			{Type: "image_url", ImageURL: &messages.ImageURL{URL: "data:image/png;base64,AA=="}},
		}},
		{Role: "user", Parts: []messages.ContentPart{{Type: "text", Text: "one"}, {Type: "text", Text: "two"}}},
		{Role: "user", Content: "  "},
	}, noThinking)
	require.NoError(t, err)
	list := w.Messages()
	require.Equal(t, []string{
		"system:be brief",
		"user:hello </think> there",
		"assistant:hi",
		"user:what is this?\n[1 image(s)]",
		"user:one\ntwo",
	}, texts(list))
	require.NotNil(t, list[3].Parts)
	require.Nil(t, list[4].Parts)
	for _, m := range list {
		require.NotContains(t, string(m.Encoded), "secret-plan-7")
		require.True(t, json.Valid(m.Encoded))
	}
}

func TestNewRefusesOtherRoles(t *testing.T) {
	for _, role := range []string{"system", "tool", "USER", ""} {
		t.Run(role, func(t *testing.T) {
			_, err := window.New("", []messages.Turn{{Role: "user", Content: "a"}, {Role: role, Content: "b"}}, nil)
			require.ErrorIs(t, err, window.ErrHistoryRole)
			require.ErrorContains(t, err, "turn 2")
		})
	}
}

func TestViewsAreStable(t *testing.T) {
	w, err := window.New("s", nil, nil)
	require.NoError(t, err)
	var views [][]messages.ChatMessage
	for range 20 {
		w.Add(messages.NewChatMessage("user", strings.Repeat("x", len(views)), nil))
		views = append(views, w.Messages())
	}
	// Two requests that add something of their own must not see each other's.
	first := append(w.Messages(), messages.NewChatMessage("user", "repair", nil))
	w.Add(messages.NewChatMessage("user", "next", nil))
	require.Equal(t, "repair", first[len(first)-1].Text)
	for i, v := range views {
		require.Len(t, v, i+2)
		require.Len(t, v[len(v)-1].Text, i)
		require.Equal(t, len(v), cap(v))
	}
}

func TestMessagesCostsNothing(t *testing.T) {
	w, err := window.New("s", nil, nil)
	require.NoError(t, err)
	for range 1000 {
		w.Add(messages.NewChatMessage("user", "x", nil))
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = w.Messages() }))
}

func TestEstimateIsTheSum(t *testing.T) {
	w, err := window.New("abcd", []messages.Turn{{Role: "user", Content: "abcdefgh"}}, nil)
	require.NoError(t, err)
	w.Add(messages.NewChatMessage("assistant", "你好世界abc", nil))
	require.Equal(t, 1+2+3, w.EstimatedTokens())
}
