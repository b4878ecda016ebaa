package manager

import (
	"context"
	"errors"
	"fmt"
)

// Manager is the connection of this process to the process manager that has started it. One goroutine at a time may
// call its methods; any goroutine may call Abort and Gone. Put, Fence, Get and Finalize block until the manager has
// answered, or ctx ends. All errors wrap ErrManager.
type Manager interface {
	// Name names the protocol, and the variable by which the manager was found, for people.
	Name() string
	// Rank is the rank of this process, and Size the number of processes of the job.
	Rank() int
	Size() int
	// Space is the name of the job's key space.
	Space() string
	// Nodes returns the host of each rank, as a number, where the manager has placed it; nil if the manager does not
	// tell.
	Nodes() []int

	// Put stores a value under a key. Other processes see it after the next Fence.
	Put(ctx context.Context, key, value string) error
	// Fence waits until all processes of the job have called it.
	Fence(ctx context.Context) error
	// Get returns the value that the rank from has put under a key. PMIx needs from to find the value; PMI 1.1 has one
	// key space for all ranks, and ignores from. So no two ranks of a job may put the same key.
	Get(ctx context.Context, from int, key string) (string, error)

	// Abort asks the manager to end the job with that exit status. The calling process should end, too.
	Abort(status int, why string) error
	// Finalize tells the manager that this process leaves. From then on the manager does not take the end of the
	// process for a failure.
	Finalize(ctx context.Context) error
	// Gone returns a channel that is closed when the connection ends before Finalize.
	Gone() <-chan struct{}
}

// ErrManager is wrapped by all errors of this package.
var ErrManager = errors.New("the process manager")

// Error says what went wrong between this process and its manager.
type Error struct {
	Manager string // the manager's Name
	Doing   string // what this process has asked the manager for
	Err     error  // what came instead of an answer
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %v", e.Manager, e.Doing, e.Err) }

// Unwrap returns Err and ErrManager.
func (e *Error) Unwrap() []error { return []error{e.Err, ErrManager} }
