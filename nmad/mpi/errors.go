package mpi

import (
	"errors"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	reduction "github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Errors of communicators, for errors.Is. Calls also return errors of nmad, such as nmad.ErrPeerLost and
// nmad.ErrClosed, and those of windows (ErrWindow, ErrEpoch, ErrRange).
var (
	// ErrRank: the communicator has no such rank.
	ErrRank = errors.New("no such rank in the communicator")
	// ErrTag: a tag is neither from 0 to MaxTag nor, of a receive, AnyTag.
	ErrTag = errors.New("no such tag")
	// ErrCount: numbers of elements, blocks, dimensions or bytes do not fit each other, here or among the ranks.
	ErrCount = errors.New("counts do not fit")
	// ErrCall: the ranks call different operations, or with different arguments; see EnvCheck.
	ErrCall = errors.New("the ranks do not call the same")
	// ErrComm: the communicator is nil, was freed, lacks this operation, or cannot be made.
	ErrComm = errors.New("communicator cannot be used")
	// ErrGroup: the processes of a group are not in the other group that they must be in, or not all different.
	ErrGroup = errors.New("no such group")
	// ErrElsewhere: a collective operation has failed at another rank, to which the cause was returned.
	ErrElsewhere = errors.New("the operation has failed there")
	// ErrRequest: the call does not go with the request: with how it was made, or with its state.
	ErrRequest = errors.New("not a request for that")
	// ErrInfo: the value of a hint is not one of those that its key allows.
	ErrInfo = errors.New("no such value of a hint")
	// ErrRevoked: the communicator was revoked.
	ErrRevoked = nmad.ErrRevoked
	// ErrTruncated: the message is longer than the buffer, which holds its beginning.
	ErrTruncated = nmad.ErrTruncated
	// ErrType: the datatype cannot be made, or an element has a part that means nothing in another process.
	ErrType = datatype.ErrType
	// ErrOp: the reduction is nil, or not defined for the elements.
	ErrOp = reduction.ErrOp
)
