//go:build cgo && linux

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// errorClass is an error class of MPI, as include/mpi.h numbers it. The code of an error is its class, unless the
// program has added the code (MPI_Add_error_code).
type errorClass int32

// lastClass is the highest class of the standard, without those of the tools interface.
const lastClass = errAbi

// classes are the error classes of the standard: their texts, and the errors of the packages below that belong to them.
// No error belongs to two classes.
var classes = [lastClass + 1]struct {
	text string
	errs []error
}{
	success: {"no error", nil}, errBuffer: {"invalid buffer", []error{nmad.ErrBuffer}},
	errCount: {"invalid count", []error{mpi.ErrCount}}, errType: {"invalid datatype", []error{mpi.ErrType}},
	errTag: {"invalid tag", []error{mpi.ErrTag}}, errComm: {"invalid communicator", []error{mpi.ErrComm}},
	errRank:    {"invalid rank", []error{mpi.ErrRank, nmad.ErrRank}},
	errRequest: {"invalid request", []error{mpi.ErrRequest, nmad.ErrActive}}, errRoot: {"invalid root", nil},
	errGroup: {"invalid group", []error{mpi.ErrGroup}}, errOp: {"invalid operation", []error{mpi.ErrOp}},
	errTopology: {"invalid topology", nil}, errDims: {"invalid dimension", nil}, errArg: {"invalid argument", nil},
	errUnknown: {"unknown error", nil}, errTruncate: {"message truncated", []error{nmad.ErrTruncated}},
	errOther: {"other error", []error{mpi.ErrElsewhere}}, errIntern: {"internal error", nil},
	errPending: {"operation is pending", nil}, errInStatus: {"the errors are in the statuses", nil},
	errAccess: {"permission denied", nil}, errAmode: {"invalid mode of access", nil}, errAssert: {"invalid assertion", nil},
	errBadFile: {"invalid file name", nil}, errBase: {"invalid base", nil},
	errConversion: {"error of conversion", []error{datatype.ErrConversion}},
	errDisp:       {"invalid displacement", nil}, errDupDatarep: {"data representation is there already", nil},
	errFileExists: {"file is there already", nil}, errFileInUse: {"file is in use", nil}, errFile: {"invalid file handle", nil},
	errInfoKey: {"info key is too long", nil}, errInfoNokey: {"no such info key", nil},
	errInfoValue: {"info value is too long", []error{mpi.ErrInfo}}, errInfo: {"invalid info", nil},
	errIo: {"error of input or output", nil}, errKeyval: {"invalid attribute key", nil},
	errLocktype: {"invalid kind of lock", nil}, errName: {"no such name", nil}, errNoMem: {"no memory", nil},
	errNotSame: {"the ranks do not call the same", nil}, errNoSpace: {"no space", nil}, errNoSuchFile: {"no such file", nil},
	errPort: {"invalid port", nil}, errQuota: {"quota exceeded", nil}, errReadOnly: {"file is read only", nil},
	errRmaAttach: {"memory cannot be attached", nil}, errRmaConflict: {"conflicting accesses to a window", nil},
	errRmaRange:  {"access beyond the memory of a window", []error{mpi.ErrRange}},
	errRmaShared: {"memory cannot be shared", nil},
	errRmaSync:   {"wrong synchronization of a window", []error{mpi.ErrEpoch}}, errService: {"no such service", nil},
	errSize: {"invalid size", nil}, errSpawn: {"processes cannot be started", nil},
	errUnsupportedDatarep: {"data representation is not supported", nil}, errUnsupportedOperation: {"operation is not supported", nil},
	errWin: {"invalid window", []error{mpi.ErrWindow}}, errRmaFlavor: {"window is of another kind", nil},
	errProcAborted: {"a process has ended", []error{nmad.ErrPeerLost}}, errValueTooLarge: {"value is too large", nil},
	errSession: {"invalid session", nil}, errErrhandler: {"invalid error handler", nil},
	errAbi: {"invalid use of the binary interface", nil},
}

// classedError is an error with a class of MPI.
type classedError struct {
	class errorClass
	text  string
}

func (f *classedError) Error() string { return f.text }

// errorf returns an error of class c.
func errorf(c errorClass, format string, args ...any) error {
	return &classedError{c, fmt.Sprintf(format, args...)}
}

// codeError is an error code that the program has added, or that one of its functions has returned.
type codeError int32

func (ce codeError) Error() string {
	if text := codeText(int(ce)); text != "" {
		return fmt.Sprintf("error %d: %s", int32(ce), text)
	}
	return fmt.Sprintf("error %d of the program's, which has no text (MPI_Add_error_string)", int32(ce))
}

// callbackError turns the code that a function of the program has returned into an error; nil for MPI_SUCCESS.
func callbackError(code int) error {
	if code == int(success) {
		return nil
	}
	return codeError(code)
}

// codeOf returns the code of an error for the program.
func codeOf(err error) int {
	var f *classedError
	var c codeError
	switch {
	case err == nil:
		return int(success)
	case errors.As(err, &f):
		return int(f.class)
	case errors.As(err, &c):
		return int(c)
	}
	for class := range classes {
		if slices.ContainsFunc(classes[class].errs, func(e error) bool { return errors.Is(err, e) }) {
			return class
		}
	}
	return int(errOther)
}
