package driver

// Length is how many bytes the parts of a body have altogether.
func Length(parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}

// Gather copies the parts one after the other into dst, as far as there is room,
// and returns how many bytes that were.
func Gather(dst []byte, parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += copy(dst[n:], p)
	}
	return n
}
