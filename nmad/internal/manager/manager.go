package manager

import (
	"context"
	"errors"
	"fmt"
)

// Manager is the connection of this process to the process manager that has started it. For one goroutine, but
// for Abort and Gone.
type Manager interface {
	Name() string // of the protocol and of what it was found by, for people
	Rank() int
	Size() int
	Space() string // name of the job's key space

	// Nodes returns the number of the host of each rank, as the manager has placed them; nil: it does not say.
	Nodes() []int

	Put(ctx context.Context, key, value string) error // to be seen by the others after the next Fence
	Fence(ctx context.Context) error                  // waits until all processes of the job are here
	Get(ctx context.Context, from int, key string) (string, error)

	// Abort has the manager end the job with that exit status. The process should end, too.
	Abort(status int, why string) error

	// Finalize says that this process is done with the manager, which from then on does not
	// take its end for a failure.
	Finalize(ctx context.Context) error

	// Gone is closed when the connection to the manager has ended before Finalize.
	Gone() <-chan struct{}
}

// ErrManager is what all errors of this package are.
var ErrManager = errors.New("the process manager")

// Error says what went wrong between this process and its manager.
type Error struct {
	Manager string // its name
	Doing   string // what was asked of it
	Err     error  // what came instead
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %v", e.Manager, e.Doing, e.Err) }

// Unwrap gives what came instead, and ErrManager.
func (e *Error) Unwrap() []error { return []error{e.Err, ErrManager} }
