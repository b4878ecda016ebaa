//go:build cgo && linux

package main

import "sync"

// codes are the error classes and codes that the program has added.
var codes struct {
	sync.Mutex
	last  int            // the highest number given out
	class map[int]int    // class of each code and class
	count map[int]int    // codes of each class
	text  map[int]string // of each, if the program has set it
}

// firstCode is the number of the first class or code that the program adds.
const firstCode = int(errLastcode) + 1

// codeText returns the text of a code, for MPI_Error_string and for messages.
func codeText(code int) string {
	if code >= 0 && code < len(classes) {
		return classes[code].text
	}
	if i := code - firstToolClass; i >= 0 && i < len(toolTexts) {
		return toolTexts[i]
	}
	codes.Lock()
	defer codes.Unlock()
	if _, ok := codes.class[code]; ok {
		return codes.text[code]
	}
	return "unknown error"
}

// isClass reports whether a code is an error class of the standard.
func isClass(code int) bool {
	return code >= 0 && code <= int(lastClass) || code >= firstToolClass && code < firstToolClass+len(toolTexts)
}

// addCode adds a code of the class of, or, with of below 0, a class, and returns its number.
func addCode(of int) (int, error) {
	codes.Lock()
	defer codes.Unlock()
	if codes.class == nil {
		codes.class, codes.count, codes.text, codes.last = map[int]int{}, map[int]int{}, map[int]string{}, firstCode-1
	}
	if class, ok := codes.class[of]; of >= 0 && !isClass(of) && (!ok || class != of) {
		return 0, errorf(errArg, "%d is no class of errors", of)
	}
	if codes.last++; of < 0 {
		of = codes.last
	} else {
		codes.count[of]++
	}
	codes.class[codes.last] = of
	return codes.last, nil
}

func (a *cCall) addErrorClass() (int, error) { return addCode(-1) }

func (a *cCall) addErrorCode(of int) (int, error) { return addCode(of) }

// addedCode returns the class of a code that the program has added.
func addedCode(code int) (of int, err error) {
	codes.Lock()
	defer codes.Unlock()
	of, ok := codes.class[code]
	if !ok {
		return 0, errorf(errArg, "%d is no code or class that the program has added", code)
	}
	return of, nil
}

func (a *cCall) addErrorString(code int, s string) error {
	if len(s) >= mpiMaxErrorString {
		return errorf(errArg, "the text has %d bytes, more than %d", len(s), mpiMaxErrorString-1)
	}
	return setCodeText(code, s)
}

// setCodeText sets the text of a code that the program has added.
func setCodeText(code int, s string) error {
	if _, err := addedCode(code); err != nil {
		return err
	}
	codes.Lock()
	defer codes.Unlock()
	codes.text[code] = s
	return nil
}

// removeCode removes a class, or a code of a class. It refuses a number of the other sort, and a class that has
// codes.
func removeCode(code int, isClass bool) error {
	of, err := addedCode(code)
	if err != nil {
		return err
	}
	if (of == code) != isClass {
		return errorf(errArg, "%d is not of that kind", code)
	}
	codes.Lock()
	defer codes.Unlock()
	if n := codes.count[code]; isClass && n > 0 {
		return errorf(errArg, "class %d has %d codes: remove these first", code, n)
	}
	if !isClass {
		codes.count[of]--
	}
	delete(codes.class, code)
	delete(codes.text, code)
	return nil
}

func (a *cCall) removeErrorClass(code int) error { return removeCode(code, true) }
func (a *cCall) removeErrorCode(code int) error  { return removeCode(code, false) }

func (a *cCall) removeErrorString(code int) error { return setCodeText(code, "") }

func (a *cCall) errorClass(code int) (int, error) {
	if isClass(code) {
		return code, nil
	}
	return addedCode(code)
}

func (a *cCall) errorString(code int) error {
	if _, err := a.errorClass(code); err != nil {
		return err
	}
	return a.setText(1, 2, codeText(code), mpiMaxErrorString)
}
