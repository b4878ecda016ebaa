//go:build cgo && fromc

package fromc

// #include <stdint.h>
import "C"

import "runtime/cgo"

//export pm2DemoCalled
func pm2DemoCalled(handle C.uintptr_t) { cgo.Handle(handle).Value().(func())() }
