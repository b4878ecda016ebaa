package mpi

import (
	"errors"

	"github.com/pm2-go/pm2/nmad"
)

// Class is the class of an error in MPI, for programs and error handlers that handle errors by number.
type Class int

// The classes of the errors of this package. ClassOther is that of errors which have no class in MPI.
const (
	ClassNone Class = iota
	ClassBuffer
	ClassCount
	ClassType
	ClassTag
	ClassComm
	ClassRank
	ClassRequest
	ClassGroup
	ClassOp
	ClassInfo
	ClassTruncate
	ClassProcFailed
	ClassRevoked
	ClassPending
	ClassWindow
	ClassEpoch
	ClassRange
	ClassOther
)

// classes are the errors of each class. ClassOf takes the first that fits.
var classes = []struct {
	err   error
	class Class
}{
	{nmad.ErrBuffer, ClassBuffer}, {ErrTruncated, ClassTruncate}, {ErrRevoked, ClassRevoked}, {nmad.ErrPeerLost, ClassProcFailed}, {ErrElsewhere, ClassProcFailed}, {ErrCount, ClassCount}, {ErrType, ClassType}, {ErrTag, ClassTag},
	{ErrComm, ClassComm}, {ErrRank, ClassRank}, {nmad.ErrRank, ClassRank}, {ErrRequest, ClassRequest}, {nmad.ErrActive, ClassPending}, {ErrGroup, ClassGroup}, {ErrOp, ClassOp}, {ErrInfo, ClassInfo}, {ErrWindow, ClassWindow}, {ErrEpoch, ClassEpoch}, {ErrRange, ClassRange}, {ErrCall, ClassOther},
}

var classNames = [...]string{
	ClassNone: "no error", ClassBuffer: "buffer", ClassCount: "count", ClassType: "datatype", ClassTag: "tag", ClassComm: "communicator", ClassRank: "rank", ClassRequest: "request", ClassGroup: "group", ClassOp: "operation",
	ClassInfo: "hint", ClassTruncate: "truncated", ClassProcFailed: "process failed", ClassRevoked: "revoked", ClassPending: "pending", ClassWindow: "window", ClassEpoch: "epoch of a window", ClassRange: "range of a window", ClassOther: "other",
}

// String names the class.
func (cl Class) String() string {
	if cl < 0 || int(cl) >= len(classNames) {
		return "class of the program"
	}
	return classNames[cl]
}

// ClassOf returns the class of an error.
func ClassOf(err error) Class {
	if err == nil {
		return ClassNone
	}
	for _, x := range classes {
		if errors.Is(err, x.err) {
			return x.class
		}
	}
	return ClassOther
}

// SetErrorHandler has f called with each error of communication on c, before the call or the request returns it. Errors
// of arguments, the end of a context and a receive that was canceled are only returned. Several threads may call f at
// once. Without a function (nil, as from the start) errors are only returned. A Dup has the handler of its original.
func (c *Comm) SetErrorHandler(f func(c *Comm, err error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handler = f
}

// ErrorsAreFatal is an error handler that ends all processes of the job, as far as the launcher can, and this one
// with status 1, after a line to standard error.
func ErrorsAreFatal(c *Comm, err error) { c.Abort(1, err.Error()) }

// handled passes an error to the handler of the program, if there is one, and returns it.
func (c *Comm) handled(err error) error {
	c.mu.Lock()
	f := c.handler
	c.mu.Unlock()
	if f != nil && err != nil {
		f(c, err)
	}
	return err
}
