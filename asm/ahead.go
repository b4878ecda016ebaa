package asm

// JustAhead reports whether, by the lower 12 bits of the addresses, to lies 1 to 15 bytes after from. A string
// instruction takes that for an overlap: AMD's Zen 4 then copies byte by byte, in 29 times the time. Callers ask before
// a copy by string instructions, by Copy or by Linux, which copies so between processes where the processor announces
// that they are fast.
func JustAhead(to, from uint64) bool {
	const page, most = 4096, 15
	return (to-from)%page-1 < most
}
