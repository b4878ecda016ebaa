package asm_test

import (
	"fmt"

	"github.com/pm2-go/pm2/asm"
)

// A loop that spins, and how long it took.
func Example() {
	began := asm.Cycles()
	for range 100 {
		asm.Pause() // in each turn of a loop that spins
	}
	took := asm.Nanos(asm.Cycles() - began)
	fmt.Println(took >= 0, asm.CPU() >= -1) // -1: unknown
	// Output: true true
}
