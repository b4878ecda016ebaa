//go:build cgo && linux

package main

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// errorClass is a class of errors of MPI, as the header numbers them. It is the code of an error, too, unless the program
// has made one.
type errorClass int32

const (
	success       errorClass = 0
	errBuffer     errorClass = 1
	errCount      errorClass = 2
	errType       errorClass = 3
	errTag        errorClass = 4
	errComm       errorClass = 5
	errRank       errorClass = 6
	errRequest    errorClass = 7
	errRoot       errorClass = 8
	errGroup      errorClass = 9
	errOp         errorClass = 10
	errTopology   errorClass = 11
	errDims       errorClass = 12
	errArg        errorClass = 13
	errTruncate   errorClass = 15
	errOther      errorClass = 16
	errIntern     errorClass = 17
	errPending    errorClass = 18
	errInStatus   errorClass = 19
	errBase       errorClass = 24
	errConversion errorClass = 25
	errDisp       errorClass = 26
	errInfoKey    errorClass = 31
	errInfoNoKey  errorClass = 32
	errInfoValue  errorClass = 33
	errInfo       errorClass = 34
	errKeyval     errorClass = 36
	errLockType   errorClass = 37
	errName       errorClass = 38
	errNoMem      errorClass = 39
	errRMAAttach  errorClass = 46
	errRMARange   errorClass = 48
	errRMAShared  errorClass = 49
	errRMASync    errorClass = 50
	errFile       errorClass = 30
	errSize       errorClass = 52
	errRefused    errorClass = 55
	errWin        errorClass = 56
	errRMAFlavor  errorClass = 57
	errAborted    errorClass = 58
	errTooLarge   errorClass = 59
	errSession    errorClass = 60
	errErrhandler errorClass = 61
	errAbi        errorClass = 62
	lastClass     errorClass = 62
	lastCode      errorClass = 16383
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

// classedError is an error that has a class of MPI.
type classedError struct {
	class errorClass
	text  string
}

func (f *classedError) Error() string { return f.text }

// wrong is a fault.
func wrong(c errorClass, format string, args ...any) error {
	return &classedError{c, fmt.Sprintf(format, args...)}
}

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
	class errorClass
}{
	{nmad.ErrTruncated, errTruncate}, {nmad.ErrBuffer, errBuffer}, {mpi.ErrCount, errCount}, {mpi.ErrType, errType}, {mpi.ErrTag, errTag}, {mpi.ErrComm, errComm}, {mpi.ErrRank, errRank}, {nmad.ErrRank, errRank}, {mpi.ErrRequest, errRequest},
	{nmad.ErrActive, errRequest}, {mpi.ErrGroup, errGroup}, {mpi.ErrOp, errOp}, {mpi.ErrInfo, errInfoValue}, {mpi.ErrWindow, errWin}, {mpi.ErrEpoch, errRMASync}, {mpi.ErrRange, errRMARange}, {nmad.ErrPeerLost, errAborted},
	{mpi.ErrElsewhere, errOther}, {datatype.ErrConversion, errConversion},
}

// codeOf is the code of an error.
func codeOf(err error) int {
	var f *classedError
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
