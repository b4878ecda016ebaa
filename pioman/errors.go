package pioman

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/sched"
)

// The errors of this package, for errors.Is.
var (
	ErrNoFunction     = errors.New("no function: give one to Init, or to Then")
	ErrScheduled      = errors.New("task is in a queue already: wait for its end, or Cancel it")
	ErrInHandler      = errors.New("called from inside a task handler or a function of Then, which must not wait: return instead")
	ErrClosed         = errors.New("engine closed")
	ErrAttached       = errors.New("engine is hooked to another scheduler already: stop that first")
	ErrSchedulerTaken = errors.New("scheduler has another engine's hooks: one engine per scheduler")
	ErrCanceled       = sched.ErrCanceled // of WaitOrCancel
	ErrNoBits         = errors.New("no bits to wait for")
	ErrPanicked       = errors.New("task handler did not return")
	ErrSource         = errors.New("source cannot be used")
	ErrUnderflow      = errors.New("RemovePending without AddPending")
	ErrParameter      = errors.New("parameter not allowed")
)

// PanicError reports a handler that panicked or ended its goroutine. It is ErrPanicked for errors.Is, and whatever
// error the handler panicked with.
type PanicError struct {
	Task  string // the task's name; "Then": a function of Completion.Then
	Value any    // what it panicked with; nil: runtime.Goexit
	Stack []byte // where, as debug.Stack prints it
}

// Error says which task and why, without the stack.
func (pe *PanicError) Error() string {
	if pe.Value == nil {
		return fmt.Sprintf("task %q: handler ended its goroutine (runtime.Goexit); the task is ended", pe.Task)
	}
	return fmt.Sprintf("task %q: handler panicked: %v; the task is ended", pe.Task, pe.Value)
}

// Unwrap returns ErrPanicked, and the panic's value if it is an error.
func (pe *PanicError) Unwrap() []error {
	if err, ok := pe.Value.(error); ok {
		return []error{ErrPanicked, err}
	}
	return []error{ErrPanicked}
}
