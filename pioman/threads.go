package pioman

import "github.com/pm2-go/pm2/marcel"

// What the engine needs of marcel, beside a case for its Select (thread_case.go): both serve threads and plain goroutines
// alike, and start no scheduler.
type (
	semaphore = marcel.Semaphore // what a passive waiter sleeps on: one at a time
	mutex     = marcel.Mutex     // guards what is changed rarely; never held while a handler runs
)
