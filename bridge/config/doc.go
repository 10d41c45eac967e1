// Package config turns cluster.yaml into the definitions of package messages.
//
// # Strictness
//
// Every key is known or a fault: one misspelled, given twice, of the wrong
// type, out of its range or naming something that isn't defined. [Parse] walks
// the whole syntax tree and reports all faults at once as [Faults], each with
// line, column, key, what would be right and the nearest known key. Their text
// exists in English and Chinese and never holds a secret or the value of a
// variable.
//
// # Variables
//
// A scalar may hold ${NAME} and ${NAME:-default}; the default serves when the
// variable is unset or empty, and may itself hold variables. $${ stands for a
// plain ${. An unquoted scalar that consists of variables takes the type its
// key wants, so that `max_runs: ${MAX_RUNS:-16}` is a number. The package reads
// no environment: the caller hands it a lookup.
//
// # Bounds
//
// A file has at most 1 MiB, 50,000 tokens, 64 levels and, once its aliases are
// expanded, 100,000 nodes.
//
// # The table of keys
//
// One table (see [Keys]) drives decoding and describes every key: kind, range,
// default and a sentence in both languages.
package config
