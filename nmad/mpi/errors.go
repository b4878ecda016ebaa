package mpi

import (
	"errors"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	reduction "github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// What can go wrong, for errors.Is, besides what nmad says: nmad.ErrPeerLost, nmad.ErrClosed and the like.
var (
	// ErrRank: the communicator has no such rank.
	ErrRank = errors.New("no such rank in the communicator")
	// ErrTag: a tag is from 0 to MaxTag, or, of a receive, AnyTag.
	ErrTag = errors.New("no such tag")
	// ErrCount: the ranks do not say the same about how much there is.
	ErrCount = errors.New("counts do not fit")
	// ErrCall: the ranks call different operations, or with different arguments; see EnvCheck.
	ErrCall = errors.New("the ranks do not call the same")
	// ErrComm: the communicator was freed, is of another job, or its supply of contexts is used up.
	ErrComm = errors.New("communicator cannot be used")
	// ErrGroup: the ranks that are to make up a group are not of the other one, or not all different.
	ErrGroup = errors.New("no such group")
	// ErrElsewhere: a collective operation has failed at another rank, which knows why.
	ErrElsewhere = errors.New("the operation has failed there")
	// ErrRequest: the request is not one for that.
	ErrRequest = errors.New("not a request for that")
	// ErrInfo: a hint has a value that it cannot have.
	ErrInfo = errors.New("no such value of a hint")
	// ErrRevoked: the communicator was revoked.
	ErrRevoked = nmad.ErrRevoked
	// ErrTruncated: the message is longer than the buffer, which holds its beginning.
	ErrTruncated = nmad.ErrTruncated
	// ErrType: the datatype cannot be made, or an element has a part that means nothing in another process.
	ErrType = datatype.ErrType
	// ErrOp: the operation makes no sense for the elements.
	ErrOp = reduction.ErrOp
)
