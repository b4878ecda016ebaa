package mpi

import (
	"errors"

	"github.com/pm2-go/pm2/nmad"
)

// Class is the kind of an error, as MPI sorts them: for programs that handle errors by number, and for error
// handlers.
type Class int

// The classes that errors of this package are of. ClassOther is of those that have no class of MPI.
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

// classes are the errors of each class.
var classes = []struct {
	is    error
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

// ClassOf says of which class an error is.
func ClassOf(err error) Class {
	if err == nil {
		return ClassNone
	}
	for _, x := range classes {
		if errors.Is(err, x.is) {
			return x.class
		}
	}
	return ClassOther
}

// SetErrorHandler has f told of each error of communication on c, before the call or the request returns it. An
// argument that is wrong is only returned. Several threads may call f at once. Without a function (nil, as from the
// start) an error is returned, and ends nothing. A Dup has the handler of what it was made of.
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
