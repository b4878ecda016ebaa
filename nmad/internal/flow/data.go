package flow

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Data describes a message by methods of the program; nmad.Data has the rules.
type Data interface {
	Size() int
	Pieces(from int, yield func(piece []byte) bool)
}

// Errors of requests.
var (
	ErrData      = errors.New("data has fewer bytes than it says")
	ErrTruncated = errors.New("message truncated")
	ErrConfig    = errors.New("wrong configuration")
)

// CallUser calls f, a function of the program. If f panics, or ends its goroutine, the program ends, as it does for a
// goroutine that panics: a caller further up could recover the panic, or another thread could wait for the goroutine
// for ever.
func CallUser(f func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		why := recover()
		if why == nil {
			why = "runtime.Goexit was called"
		}
		text := fmt.Sprintf("nmad: a callback has not returned: %v\n%s", why, debug.Stack())
		crashed := make(chan struct{})
		go func() { panic(text) }()
		<-crashed // for ever
	}()
	f()
	returned = true
}
