package config

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseDuration reads 30s, 1m30s, 250ms, 24h.
func parseDuration(s string) (time.Duration, bool) {
	if s == "" || s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

// parseSize reads a number of bytes: 4096, 20KiB, 1.5MiB, 2GB. KB, MB and GB
// are powers of 1000, KiB, MiB and GiB of 1024.
func parseSize(s string) (int64, bool) {
	units := []struct {
		suffix string
		bytes  float64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
		{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1},
	}
	factor := 1.0
	for _, u := range units {
		if digits, ok := strings.CutSuffix(s, u.suffix); ok {
			s, factor = strings.TrimRight(digits, " "), u.bytes
			break
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.ContainsAny(s, "+-eExXpPiInN_") {
		return 0, false
	}
	n := f * factor
	if n != math.Trunc(n) || n > math.MaxInt64/2 {
		return 0, false
	}
	return int64(n), true
}

// sizeText shows bytes in the largest unit that divides them.
func sizeText(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// durationText shows a duration without trailing zero units: 24h, not 24h0m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
