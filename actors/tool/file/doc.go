// Package file holds the tools on a run's files: read_file, create_file and
// list_directory (nexent-tools §4). All of them reach files through one guard,
// [Workspace], which nothing leaves.
//
// Arguments are paths relative to the workspace; an absolute path is taken
// when it lies inside. Results are JSON text with the keys of the seeds.
package file
