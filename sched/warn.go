package sched

import (
	"fmt"
	"os"
)

// warn tells what goes wrong where nobody can be given an error: to Config.Warn,
// else to standard error. It may be called with a VP held: it does not wait.
func (s *Scheduler) warn(err error) {
	go func() {
		if s.cfg.Warn != nil {
			s.cfg.Warn(err)
		} else {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
}
