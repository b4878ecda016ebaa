//go:build !linux

package nmad

import "runtime"

// kernelYield offers the processor to other goroutines: this system has no
// raw call for more.
func kernelYield() { runtime.Gosched() }
