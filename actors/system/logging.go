package system

import (
	"context"
	"fmt"
	"log/slog"
)

// typesOnly is the handler that protoactor logs to. It replaces messages by
// their type, since they hold what people wrote, and drops the dead-letter
// log, which we write ourselves.
type typesOnly struct{ slog.Handler }

// Handle implements slog.Handler.
func (h typesOnly) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "[DeadLetter]" {
		return nil
	}
	out := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "message" {
			a.Value = slog.StringValue(typeName(a.Value.Any()))
		}
		out.AddAttrs(a)
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h typesOnly) WithAttrs(as []slog.Attr) slog.Handler { return typesOnly{h.Handler.WithAttrs(as)} }

// WithGroup implements slog.Handler.
func (h typesOnly) WithGroup(name string) slog.Handler { return typesOnly{h.Handler.WithGroup(name)} }

func typeName(msg any) string { return fmt.Sprintf("%T", msg) }
