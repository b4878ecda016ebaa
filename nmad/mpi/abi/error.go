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

const (
	success          errorClass = 0
	errBuffer        errorClass = 1
	errCount         errorClass = 2
	errType          errorClass = 3
	errTag           errorClass = 4
	errComm          errorClass = 5
	errRank          errorClass = 6
	errRequest       errorClass = 7
	errRoot          errorClass = 8
	errGroup         errorClass = 9
	errOp            errorClass = 10
	errTopology      errorClass = 11
	errDims          errorClass = 12
	errArg           errorClass = 13
	errTruncate      errorClass = 15
	errOther         errorClass = 16
	errIntern        errorClass = 17
	errPending       errorClass = 18
	errInStatus      errorClass = 19
	errAssert        errorClass = 22
	errBase          errorClass = 24
	errConversion    errorClass = 25
	errDisp          errorClass = 26
	errFile          errorClass = 30
	errInfoKey       errorClass = 31
	errInfoNoKey     errorClass = 32
	errInfoValue     errorClass = 33
	errInfo          errorClass = 34
	errKeyval        errorClass = 36
	errLockType      errorClass = 37
	errName          errorClass = 38
	errNoMem         errorClass = 39
	errRMAAttach     errorClass = 46
	errRMARange      errorClass = 48
	errRMAShared     errorClass = 49
	errRMASync       errorClass = 50
	errSize          errorClass = 52
	errUnsupportedOp errorClass = 55
	errWin           errorClass = 56
	errRMAFlavor     errorClass = 57
	errAborted       errorClass = 58
	errTooLarge      errorClass = 59
	errSession       errorClass = 60
	errErrhandler    errorClass = 61
	errAbi           errorClass = 62
	lastClass        errorClass = 62
	lastCode         errorClass = 16383
)

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
	14: {"unknown error", nil}, errTruncate: {"message truncated", []error{nmad.ErrTruncated}},
	errOther: {"other error", []error{mpi.ErrElsewhere}}, errIntern: {"internal error", nil},
	errPending: {"operation is pending", nil}, errInStatus: {"the errors are in the statuses", nil},
	20: {"permission denied", nil}, 21: {"invalid mode of access", nil}, errAssert: {"invalid assertion", nil},
	23: {"invalid file name", nil}, errBase: {"invalid base", nil},
	errConversion: {"error of conversion", []error{datatype.ErrConversion}},
	errDisp:       {"invalid displacement", nil}, 27: {"data representation is there already", nil},
	28: {"file is there already", nil}, 29: {"file is in use", nil}, errFile: {"invalid file handle", nil},
	errInfoKey: {"info key is too long", nil}, errInfoNoKey: {"no such info key", nil},
	errInfoValue: {"info value is too long", []error{mpi.ErrInfo}}, errInfo: {"invalid info", nil},
	35: {"error of input or output", nil}, errKeyval: {"invalid attribute key", nil},
	errLockType: {"invalid kind of lock", nil}, errName: {"no such name", nil}, errNoMem: {"no memory", nil},
	40: {"the ranks do not call the same", nil}, 41: {"no space", nil}, 42: {"no such file", nil},
	43: {"invalid port", nil}, 44: {"quota exceeded", nil}, 45: {"file is read only", nil},
	errRMAAttach: {"memory cannot be attached", nil}, 47: {"conflicting accesses to a window", nil},
	errRMARange:  {"access beyond the memory of a window", []error{mpi.ErrRange}},
	errRMAShared: {"memory cannot be shared", nil},
	errRMASync:   {"wrong synchronization of a window", []error{mpi.ErrEpoch}}, 51: {"no such service", nil},
	errSize: {"invalid size", nil}, 53: {"processes cannot be started", nil},
	54: {"data representation is not supported", nil}, errUnsupportedOp: {"operation is not supported", nil},
	errWin: {"invalid window", []error{mpi.ErrWindow}}, errRMAFlavor: {"window is of another kind", nil},
	errAborted: {"a process has ended", []error{nmad.ErrPeerLost}}, errTooLarge: {"value is too large", nil},
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
