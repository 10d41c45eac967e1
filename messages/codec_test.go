package messages_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

// parts are the struct types of actors.go that travel inside messages.
var parts = map[string]bool{
	"Scope": true, "Overrides": true, "StoppedPart": true, "PyError": true, "ToolError": true,
}

// actorMessages gives the message types of actors.go.
func actorMessages(t *testing.T) []string {
	var names []string
	ast.Inspect(parse(t, "actors.go"), func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if _, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() && !parts[spec.Name.Name] {
			names = append(names, spec.Name.Name)
		}
		return true
	})
	require.NotEmpty(t, names)
	return names
}

func TestActorsKnowsEveryMessage(t *testing.T) {
	r := messages.Actors()
	for _, name := range append(actorMessages(t), "Fault") {
		t.Run(name, func(t *testing.T) {
			want, err := r.Decode(name, []byte("{}"))
			require.NoError(t, err)
			require.Equal(t, "*messages."+name, reflect.TypeOf(want).String())
			fill(t, reflect.ValueOf(want).Elem())

			gotName, body, err := r.Encode(want)
			require.NoError(t, err)
			require.Equal(t, name, gotName)
			got, err := r.Decode(name, body)
			require.NoError(t, err)
			require.Equal(t, masked(t, want), got)
		})
	}
}

// fill sets every exported field, deep, to something that is not zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
		return
	case *json.RawMessage:
		*x = json.RawMessage(`{"a":[1,"步"]}`)
		return
	case *error:
		*x = errors.New("the cause")
		return
	case *any:
		*x = "anything"
		return
	case *messages.Event:
		fillStruct(t, v)
		x.Object = nil // an event has one content
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text 文")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(8)
	case reflect.Uint8:
		v.SetUint(9)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0))
		fill(t, v.Index(1))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		fillStruct(t, v)
	default:
		require.FailNow(t, "fill does not know", "%s", v.Type())
	}
}

func fillStruct(t *testing.T, v reflect.Value) {
	for i := range v.NumField() {
		fill(t, v.Field(i))
	}
}

// masked replaces the secrets of a message as its encoding does.
func masked(t *testing.T, msg any) any {
	run, ok := msg.(*messages.RunAgent)
	if !ok {
		return msg
	}
	require.NotEmpty(t, run.Overrides.Models)
	for i := range run.Overrides.Models {
		m := &run.Overrides.Models[i]
		m.APIKey = "***"
		for k := range m.ExtraHeaders {
			m.ExtraHeaders[k] = "***"
		}
	}
	return run
}

func TestRegistryRefuses(t *testing.T) {
	r := messages.Actors()
	var unknown *messages.ErrUnknownType

	_, err := r.Decode("FromTheFuture", []byte("{}"))
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "FromTheFuture", unknown.Name)
	require.ErrorContains(t, err, "FromTheFuture")

	for _, stranger := range []any{struct{}{}, messages.Stop{}, nil, "text"} {
		_, _, err = r.Encode(stranger)
		require.ErrorAs(t, err, &unknown, "%T", stranger)
	}

	_, err = r.Decode("Stop", []byte(`{"Run":7}`))
	require.ErrorContains(t, err, "decode Stop")
	_, err = r.Decode("Stop", []byte(strings.Repeat(" ", messages.MaxBody+1)))
	require.ErrorContains(t, err, "at most")
	_, _, err = r.Encode(&messages.Stop{Reason: strings.Repeat("x", messages.MaxBody)})
	require.ErrorContains(t, err, "at most")
}

func TestRegistryIgnoresUnknownFields(t *testing.T) {
	got, err := messages.Actors().Decode("Stop", []byte(`{"Run":"r","FromTheFuture":{"a":1}}`))
	require.NoError(t, err)
	require.Equal(t, &messages.Stop{Run: "r"}, got)
}

func TestRegisterTwice(t *testing.T) {
	r := messages.Actors()
	require.Panics(t, func() { messages.Register[messages.Stop](r, "Other") })
	require.Panics(t, func() { messages.Register[messages.Usage](r, "Stop") })
}
