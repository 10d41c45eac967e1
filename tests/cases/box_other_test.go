//go:build !integration || !linux

package cases

// boxCases need the kernel's walls; without the tag integration they stand in
// behindWalls.
func boxCases() cases { return nil }
