//go:build !linux

package marcel_test

import "time"

func nap(d time.Duration)  { time.Sleep(d) }
func gettid() int          { return 0 }
func isThere(tid int) bool { return false }
