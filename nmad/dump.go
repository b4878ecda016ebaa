package nmad

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// dumpTime is how long a dump may take before the process ends without the rest of it.
const dumpTime = 2 * time.Second

// dumpAtQuit has SIGQUIT write what threads wait for, before the runtime does with it what it does without us, which is to
// write the stacks of goroutines and to end the process. It ends with the session. A process that ignores the signal goes
// on doing so.
func (s *Session) dumpAtQuit() {
	if signal.Ignored(unix.SIGQUIT) {
		return
	}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, unix.SIGQUIT)
	s.aside.Go(func(ctx context.Context) {
		select {
		case <-ctx.Done():
			signal.Stop(quit)
			return
		case <-quit:
		}
		signal.Stop(quit) // a second one ends the process at once
		written := make(chan struct{})
		go func() {
			defer close(written)
			dump(os.Stderr)
		}()
		select {
		case <-written:
		case <-time.After(dumpTime):
		}
		_ = unix.Kill(os.Getpid(), unix.SIGQUIT) // to ourselves: nothing forbids it but a sandbox
	})
}

// dump writes what threads wait for in a process that was asked by a signal.
func dump(w io.Writer) {
	fmt.Fprintf(w, "pm2: SIGQUIT: %s: threads, and goroutines that wait:\n", title())
	_ = WriteWaits(w)
}
