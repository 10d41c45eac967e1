// Package value is the tagged JSON that Python values travel in between an
// interpreter, the log and the tools.
//
// None, booleans, strings, lists, integers (all their digits), finite floats
// (always with a point or an exponent) and dictionaries with string keys are
// themselves. Everything else is an object with one key that begins with "$":
//
//	{"$tuple": […]}  {"$set": […]}  {"$frozenset": […]}
//	{"$bytes": "<base64>"}  {"$date": "2024-02-28"}  {"$datetime": "<ISO 8601>"}
//	{"$float": "nan" | "inf" | "-inf"}
//	{"$dict": [[key, value], …]}   keys that are not strings, or that begin with "$"
//	{"$tool": "<name>"}            a tool's function, as a value
//	{"$repr": "<text>", "type": "<class>"}   what has no better form
//
// [Plain] turns it into plain Go values, [Tagged] makes it from them, [Text]
// shows it as Python's str would. All are safe for concurrent use, and for
// input that hostile code wrote: depth, digits and tags are checked.
package value
