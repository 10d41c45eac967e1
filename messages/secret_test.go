package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

func TestSecretNeverPrints(t *testing.T) {
	const value = "hunter2"
	type nested struct {
		Key     messages.Secret
		Pointer *messages.Secret
		Map     map[string]messages.Secret
		List    []messages.Secret
		Model   messages.ModelConfig
	}
	secret := messages.Secret(value)
	all := nested{
		secret, &secret, map[string]messages.Secret{"authorization": secret}, []messages.Secret{secret},
		messages.ModelConfig{APIKey: secret, ExtraHeaders: map[string]messages.Secret{"x-key": secret}},
	}
	leaks := []string{value, "68756e74657232", "68 75", "0x68", "104 117", "aHVudGVyMg"}
	check := func(t *testing.T, text string) {
		t.Helper()
		require.Contains(t, text, "***")
		for _, leak := range leaks {
			require.NotContains(t, text, leak)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%+q", "%x", "%X", "% x", "%#x", "%d", "%10s", "%.3s", "%T %v", "%t", "%c", "%U"} {
		t.Run(verb, func(t *testing.T) {
			args := func(v any) []any {
				if verb == "%T %v" {
					return []any{v, v}
				}
				return []any{v}
			}
			check(t, fmt.Sprintf(verb, args(secret)...))
			check(t, fmt.Sprintf(verb, args(all.List)...))
			check(t, fmt.Sprintf(verb, args(all.Map)...))
			for _, leak := range leaks {
				require.NotContains(t, fmt.Sprintf(verb, args(all)...), leak)
				require.NotContains(t, fmt.Sprintf(verb, args(&all)...), leak)
			}
		})
	}
	t.Run("print", func(t *testing.T) { check(t, fmt.Sprint(secret)+fmt.Sprintln(all)) })
	t.Run("errors", func(t *testing.T) {
		err := fmt.Errorf("model %v: %w", all.Model, errors.New(secret.String()))
		check(t, err.Error())
		check(t, messages.AsFault(err).Error())
	})
	t.Run("json", func(t *testing.T) {
		b, err := json.Marshal(all)
		require.NoError(t, err)
		check(t, string(b))
	})
	t.Run("yaml", func(t *testing.T) {
		b, err := yaml.Marshal(all)
		require.NoError(t, err)
		check(t, string(b))
	})
	t.Run("slog", func(t *testing.T) {
		var out bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			log := slog.New(h)
			log.Info("one", "key", secret, "pointer", &secret)
			log.With("with", secret).Info("all", "all", all, "model", all.Model)
		}
		check(t, out.String())
	})
}

func TestSecretIsTakenAndRevealed(t *testing.T) {
	var m messages.ModelConfig
	require.NoError(t, json.Unmarshal([]byte(`{"api_key":"hunter2"}`), &m))
	require.Equal(t, "hunter2", m.APIKey.Reveal())
	m = messages.ModelConfig{}
	require.NoError(t, yaml.Unmarshal([]byte("api_key: hunter2"), &m))
	require.Equal(t, "hunter2", m.APIKey.Reveal())
	require.Empty(t, messages.Secret("").String(), "none given can be told from one given")
	require.Equal(t, `""`, fmt.Sprintf("%#v", messages.Secret("")))
}
