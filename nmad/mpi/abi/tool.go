//go:build cgo && linux

package main

import "sync/atomic"

// The tools interface: it says that there are no variables, categories, events and sources. Its errors are returned, whatever the error handlers.

const (
	toolNotInitialized class = 1003
	toolInvalid        class = 1006
	toolInvalidIndex   class = 1007
	toolInvalidSession class = 1009
	toolInvalidHandle  class = 1010
	toolInvalidName    class = 1011
)

// tools is how often MPI_T_init_thread was called, less MPI_T_finalize.
var tools atomic.Int64

func (a *call) tInitThread() error {
	tools.Add(1)
	if a.word[1] == 0 {
		return nil
	}
	return a.setInt(1, threadMultiple)
}

func (a *call) tFinalize() error {
	if tools.Add(-1) < 0 {
		tools.Add(1)
		return a.tool(toolNotInitialized)
	}
	return nil
}

// tool is an error of the tools interface; 0: none but that it is not initialized.
func (a *call) tool(c class) error {
	if tools.Load() == 0 {
		c = toolNotInitialized
	}
	if c == success {
		return nil
	}
	return wrong(c, "there is nothing of that")
}

// none writes how many there are.
func (a *call) none(i int) error {
	if err := a.tool(success); err != nil {
		return err
	}
	if a.word[i] == 0 {
		return a.tool(toolInvalid)
	}
	return a.setInt(i, 0)
}

func (a *call) tCvarGetNum() error      { return a.none(0) }
func (a *call) tPvarGetNum() error      { return a.none(0) }
func (a *call) tCategoryGetNum() error  { return a.none(0) }
func (a *call) tCategoryChanged() error { return a.none(0) }
func (a *call) tEventGetNum() error     { return a.none(0) }
func (a *call) tSourceGetNum() error    { return a.none(0) }

// Of a name there is none.
func (a *call) tCvarGetIndex() error     { return a.tool(toolInvalidName) }
func (a *call) tPvarGetIndex() error     { return a.tool(toolInvalidName) }
func (a *call) tCategoryGetIndex() error { return a.tool(toolInvalidName) }
func (a *call) tEventGetIndex() error    { return a.tool(toolInvalidName) }

// Nor with an index.
func (a *call) tCvarGetInfo() error           { return a.tool(toolInvalidIndex) }
func (a *call) tCvarHandleAlloc() error       { return a.tool(toolInvalidIndex) }
func (a *call) tPvarGetInfo() error           { return a.tool(toolInvalidIndex) }
func (a *call) tCategoryGetInfo() error       { return a.tool(toolInvalidIndex) }
func (a *call) tCategoryGetCvars() error      { return a.tool(toolInvalidIndex) }
func (a *call) tCategoryGetPvars() error      { return a.tool(toolInvalidIndex) }
func (a *call) tCategoryGetEvents() error     { return a.tool(toolInvalidIndex) }
func (a *call) tCategoryGetNumEvents() error  { return a.tool(toolInvalidIndex) }
func (a *call) tCategoryGetCategories() error { return a.tool(toolInvalidIndex) }
func (a *call) tEventGetInfo() error          { return a.tool(toolInvalidIndex) }
func (a *call) tEventHandleAlloc() error      { return a.tool(toolInvalidIndex) }
func (a *call) tSourceGetInfo() error         { return a.tool(toolInvalidIndex) }
func (a *call) tSourceGetTimestamp() error    { return a.tool(toolInvalidIndex) }

// So no handle is one.
func (a *call) tCvarHandleFree() error         { return a.tool(toolInvalidHandle) }
func (a *call) tCvarRead() error               { return a.tool(toolInvalidHandle) }
func (a *call) tCvarWrite() error              { return a.tool(toolInvalidHandle) }
func (a *call) tEnumGetInfo() error            { return a.tool(toolInvalidHandle) }
func (a *call) tEnumGetItem() error            { return a.tool(toolInvalidHandle) }
func (a *call) tEventCallbackGetInfo() error   { return a.tool(toolInvalidHandle) }
func (a *call) tEventCallbackSetInfo() error   { return a.tool(toolInvalidHandle) }
func (a *call) tEventCopy() error              { return a.tool(toolInvalidHandle) }
func (a *call) tEventGetSource() error         { return a.tool(toolInvalidHandle) }
func (a *call) tEventGetTimestamp() error      { return a.tool(toolInvalidHandle) }
func (a *call) tEventHandleFree() error        { return a.tool(toolInvalidHandle) }
func (a *call) tEventHandleGetInfo() error     { return a.tool(toolInvalidHandle) }
func (a *call) tEventHandleSetInfo() error     { return a.tool(toolInvalidHandle) }
func (a *call) tEventRead() error              { return a.tool(toolInvalidHandle) }
func (a *call) tEventRegisterCallback() error  { return a.tool(toolInvalidHandle) }
func (a *call) tEventSetDroppedHandler() error { return a.tool(toolInvalidHandle) }

// toolSession is the number of the last session of performance variables, which have no state.
var toolSession atomic.Uintptr

func (a *call) tPvarSessionCreate() error {
	if err := a.tool(success); err != nil {
		return err
	}
	return a.setPtr(0, 0x1000+toolSession.Add(1))
}

// inSession is the error for what needs a session of performance variables at an argument.
func (a *call) inSession(session uintptr, c class) error {
	if session <= 0x1000 || session > 0x1000+toolSession.Load() {
		return a.tool(toolInvalidSession)
	}
	return a.tool(c)
}

func (a *call) tPvarSessionFree() error {
	h, err := a.handleAt(0)
	if err != nil {
		return err
	}
	if err := a.inSession(uintptr(h), success); err != nil {
		return err
	}
	return a.setHandle(0, 0)
}

func (a *call) tPvarHandleAlloc() error { return a.inSession(a.word[0], toolInvalidIndex) }
func (a *call) tPvarHandleFree() error  { return a.inSession(a.word[0], toolInvalidHandle) }
func (a *call) tPvarRead() error        { return a.inSession(a.word[0], toolInvalidHandle) }
func (a *call) tPvarReadreset() error   { return a.inSession(a.word[0], toolInvalidHandle) }
func (a *call) tPvarWrite() error       { return a.inSession(a.word[0], toolInvalidHandle) }

// changes is for all handles, or one.
func (a *call) changes() error {
	if a.word[1] == 1 { // MPI_T_PVAR_ALL_HANDLES
		return a.inSession(a.word[0], success)
	}
	return a.inSession(a.word[0], toolInvalidHandle)
}

func (a *call) tPvarStart() error { return a.changes() }
func (a *call) tPvarStop() error  { return a.changes() }
func (a *call) tPvarReset() error { return a.changes() }
