// Package size reads and writes sizes of messages the way people do.
//
// The grammar, the same for every experiment:
//
//	list   = item { "," item }
//	item   = size | size ":" size          a range doubles from the first to at most the second
//	size   = digits [ "K" | "M" | "G" ]    binary: 1K is 1024 bytes
//
// So "1:64K" is 1, 2, 4 ... 65536, and "1,8,4K,1M" is those four, in that order. A size is at least 1 B and at most
// [Max].
package size
