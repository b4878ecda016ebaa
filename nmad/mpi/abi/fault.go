//go:build cgo && linux

package main

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// class is a class of errors of MPI, as the header numbers them. It is the code of an error, too, unless the program
// has made one.
type class int32

const (
	success       class = 0
	errBuffer     class = 1
	errCount      class = 2
	errType       class = 3
	errTag        class = 4
	errComm       class = 5
	errRank       class = 6
	errRequest    class = 7
	errRoot       class = 8
	errGroup      class = 9
	errOp         class = 10
	errTopology   class = 11
	errDims       class = 12
	errArg        class = 13
	errTruncate   class = 15
	errOther      class = 16
	errIntern     class = 17
	errPending    class = 18
	errInStatus   class = 19
	errBase       class = 24
	errConversion class = 25
	errDisp       class = 26
	errInfoKey    class = 31
	errInfoNoKey  class = 32
	errInfoValue  class = 33
	errInfo       class = 34
	errKeyval     class = 36
	errLockType   class = 37
	errName       class = 38
	errNoMem      class = 39
	errRMAAttach  class = 46
	errRMARange   class = 48
	errRMAShared  class = 49
	errRMASync    class = 50
	errFile       class = 30
	errSize       class = 52
	errRefused    class = 55
	errWin        class = 56
	errRMAFlavor  class = 57
	errAborted    class = 58
	errTooLarge   class = 59
	errSession    class = 60
	errErrhandler class = 61
	errAbi        class = 62
	lastClass     class = 62
	lastCode      class = 16383
)

// What MPI_Error_string says.
var classTexts = [...]string{
	"no error", "invalid buffer", "invalid count", "invalid datatype", "invalid tag", "invalid communicator", "invalid rank", "invalid request", "invalid root", "invalid group", "invalid operation", "invalid topology", "invalid dimension",
	"invalid argument", "unknown error", "message truncated", "other error", "internal error", "operation is pending", "the errors are in the statuses", "permission denied", "invalid mode of access", "invalid assertion", "invalid file name",
	"invalid base", "error of conversion", "invalid displacement", "data representation is there already", "file is there already", "file is in use", "invalid file handle", "info key is too long", "no such info key", "info value is too long", "invalid info",
	"error of input or output", "invalid attribute key", "invalid kind of lock", "no such name", "no memory", "the ranks do not call the same", "no space", "no such file", "invalid port", "quota exceeded", "file is read only",
	"memory cannot be attached", "conflicting accesses to a window", "access beyond the memory of a window", "memory cannot be shared", "wrong synchronization of a window", "no such service", "invalid size", "processes cannot be started",
	"data representation is not supported", "operation is not supported", "invalid window", "window is of another kind", "a process has ended", "value is too large", "invalid session", "invalid error handler", "invalid use of the binary interface",
}

// fault is an error that has a class of MPI.
type fault struct {
	class class
	text  string
}

func (f *fault) Error() string { return f.text }

// wrong is a fault.
func wrong(c class, format string, args ...any) error { return &fault{c, fmt.Sprintf(format, args...)} }

// coded is an error that is a code of the program's, or of one of its functions.
type coded int32

func (ce coded) Error() string {
	if text := codeText(int(ce)); text != "" {
		return fmt.Sprintf("error %d: %s", int32(ce), text)
	}
	return fmt.Sprintf("error %d of the program's, which has no text (MPI_Add_error_string)", int32(ce))
}

// failed is the error that a function of the program has returned; nil: none.
func failed(code int) error {
	if code == int(success) {
		return nil
	}
	return coded(code)
}

// classes are those of errors of the packages below.
var classes = []struct {
	is    error
	class class
}{
	{nmad.ErrTruncated, errTruncate}, {nmad.ErrBuffer, errBuffer}, {mpi.ErrCount, errCount}, {mpi.ErrType, errType}, {mpi.ErrTag, errTag}, {mpi.ErrComm, errComm}, {mpi.ErrRank, errRank}, {nmad.ErrRank, errRank}, {mpi.ErrRequest, errRequest},
	{nmad.ErrActive, errRequest}, {mpi.ErrGroup, errGroup}, {mpi.ErrOp, errOp}, {mpi.ErrInfo, errInfoValue}, {mpi.ErrWindow, errWin}, {mpi.ErrEpoch, errRMASync}, {mpi.ErrRange, errRMARange}, {nmad.ErrPeerLost, errAborted},
	{mpi.ErrElsewhere, errOther}, {datatype.ErrConversion, errConversion},
}

// codeOf is the code of an error.
func codeOf(err error) int {
	var f *fault
	var c coded
	switch {
	case err == nil:
		return int(success)
	case errors.As(err, &f):
		return int(f.class)
	case errors.As(err, &c):
		return int(c)
	}
	for _, x := range classes {
		if errors.Is(err, x.is) {
			return int(x.class)
		}
	}
	return int(errOther)
}
