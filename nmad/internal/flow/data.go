package flow

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Data is a message whose pieces the program describes by methods; nmad.Data has the rules.
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

// Guarded calls a function of the user's, which may panic, or end its goroutine. A caller of this package
// could recover that panic, or would wait for the goroutine for ever. So the program ends here,
// as it does for a goroutine that panics.
func Guarded(f func()) {
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
