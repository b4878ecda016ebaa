package asm

import "runtime"

// tracedGoID takes the number of the goroutine that calls from the first line of
// a stack trace, "goroutine 18 [running]:". About a microsecond.
func tracedGoID() (id uint64) {
	const prefix = len("goroutine ")
	var line [64]byte
	n := runtime.Stack(line[:], false)
	for _, c := range line[min(prefix, n):n] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}
