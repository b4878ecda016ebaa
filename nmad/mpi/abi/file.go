//go:build cgo && linux

package main

import "sync/atomic"

// This library has no files. Only MPI_FILE_NULL has an error handler, MPI_ERRORS_RETURN at first: it hears of the
// errors of all functions of files.

const ofFile objectKind = 0

var fileHandler atomic.Pointer[cErrhandler]

// handlerOfFiles returns the error handler of MPI_FILE_NULL.
func handlerOfFiles() *cErrhandler {
	if h := fileHandler.Load(); h != nil {
		return h
	}
	return &errorsReturn
}

// noFile refuses argument 0 unless it is MPI_FILE_NULL.
func (a *cCall) noFile() error {
	if a.handle(0) != fileNullHandle {
		return errorf(errFile, "%#x is no file: none is open", a.word[0])
	}
	return nil
}

func (a *cCall) fileCreateErrhandler() (*cErrhandler, error) { return a.objectCreateErrhandler(ofFile) }

func (a *cCall) fileSetErrhandler() error {
	if err := a.noFile(); err != nil {
		return err
	}
	h, err := a.handlerAt(1, ofFile)
	if err == nil {
		fileHandler.Store(h)
	}
	return err
}

func (a *cCall) fileGetErrhandler() error {
	if err := a.noFile(); err != nil {
		return err
	}
	return a.setHandler(1, handlerOfFiles())
}

func (a *cCall) fileCallErrhandler() error {
	if err := a.noFile(); err != nil {
		return err
	}
	callErrhandler(handlerOfFiles(), fileNullHandle, "MPI_File_call_errhandler", a.int(1))
	return nil
}
