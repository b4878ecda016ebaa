package mpi

import (
	"errors"

	"github.com/pm2-go/pm2/nmad"
)

// Class is what kind an error is of, as MPI sorts them: for programs that handle errors by number, and for error handlers.
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
	ClassOther
)

// classes are the errors of each class.
var classes = []struct {
	is    error
	class Class
}{
	{nmad.ErrBuffer, ClassBuffer}, {ErrTruncated, ClassTruncate}, {ErrRevoked, ClassRevoked}, {nmad.ErrPeerLost, ClassProcFailed}, {ErrElsewhere, ClassProcFailed}, {ErrCount, ClassCount}, {ErrType, ClassType}, {ErrTag, ClassTag},
	{ErrComm, ClassComm}, {ErrRank, ClassRank}, {nmad.ErrRank, ClassRank}, {ErrRequest, ClassRequest}, {nmad.ErrActive, ClassPending}, {ErrGroup, ClassGroup}, {ErrOp, ClassOp}, {ErrInfo, ClassInfo},
}

var classNames = [...]string{
	ClassNone: "no error", ClassBuffer: "buffer", ClassCount: "count", ClassType: "datatype", ClassTag: "tag", ClassComm: "communicator", ClassRank: "rank", ClassRequest: "request", ClassGroup: "group", ClassOp: "operation",
	ClassInfo: "hint", ClassTruncate: "truncated", ClassProcFailed: "process failed", ClassRevoked: "revoked", ClassPending: "pending", ClassOther: "other",
}

// String names the class.
func (c Class) String() string {
	if c < 0 || int(c) >= len(classNames) {
		return "class of the program"
	}
	return classNames[c]
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
