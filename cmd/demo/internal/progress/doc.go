// Package progress shows how far an experiment is, on a terminal only.
//
// The bar lives on stderr and nowhere else. If stdout is the same terminal, the rows of the table are printed above the
// bar:
//
//	row                          Print removes the bar,
//	row                          writes the row to stdout,
//	[=====>      ] 4K, 3s left   and leaves an empty line for the next frame
//
// In a pipe, in a file, or with TERM=dumb there is no bar, and lines are only printed.
package progress
