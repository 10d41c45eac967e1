package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// checkEncoding refuses an answer that isn't UTF-8 as it comes: one that says
// so in its headers, or whose first bytes do. It waits for these bytes.
func (c *Client) checkEncoding(resp *http.Response, in *bufio.Reader) error {
	encoding := contentEncoding(resp)
	if encoding == "" {
		begins, err := in.Peek(2)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		encoding = encodingOf(begins)
	}
	if encoding == "" {
		return nil
	}
	encoding = c.secrets.clean(encoding)
	return c.fault(ErrEncoding, fmt.Sprintf("%q", encoding), fmt.Sprintf("%q", encoding))
}

// contentEncoding is what the header names; "" when the body is as it is.
func contentEncoding(resp *http.Response) string {
	encoding := strings.TrimSpace(strings.Join(resp.Header.Values("Content-Encoding"), ", "))
	if strings.EqualFold(encoding, "identity") {
		return ""
	}
	return encoding
}

// encodingOf tells by a body's first bytes what it is instead of UTF-8 text,
// where nothing of an answer begins with them; else "".
func encodingOf(begins []byte) string {
	switch {
	case bytes.Equal(begins, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.Equal(begins, []byte{0xff, 0xfe}), bytes.Equal(begins, []byte{0xfe, 0xff}), bytes.IndexByte(begins, 0) >= 0:
		return "UTF-16"
	}
	return ""
}
