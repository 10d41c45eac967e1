package value

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Check looks over JSON that is known to be well formed and may come from
// hostile code: whoever reads it later must not be brought down by its depth
// or by a number's digits. It reads each byte once and allocates nothing.
func Check(raw json.RawMessage) error {
	depth, digits := 0, 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			i = endOfString(raw, i)
			digits = 0
		case c == '[' || c == '{':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("tagged value: nested deeper than %d", MaxDepth)
			}
		case c == ']' || c == '}':
			depth--
			digits = 0
		case c >= '0' && c <= '9':
			if digits++; digits > maxDigits {
				return errors.New("tagged value: a number of too many digits")
			}
		default:
			digits = 0
		}
	}
	return nil
}

// endOfString gives the index of the quote that ends the string begun at i.
func endOfString(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i
}
