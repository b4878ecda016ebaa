package pioman

import "github.com/pm2-go/pm2/marcel"

// These types of marcel serve threads and plain goroutines alike, and start no scheduler.
type (
	semaphore = marcel.Semaphore // on which one waiter sleeps: see parker
	mutex     = marcel.Mutex     // for Attach, Enable, stop and Close; never held while a handler runs
)
