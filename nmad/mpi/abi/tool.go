//go:build cgo && linux

package main

import "sync/atomic"

// The tools interface: what it has in common. It has control variables, performance variables and categories of both,
// and no events and sources. Its errors are returned, whatever the error handlers.

const (
	toolNotInitialized errorClass = 1003
	toolInvalid        errorClass = 1006
	toolInvalidIndex   errorClass = 1007
	toolInvalidSession errorClass = 1009
	toolInvalidHandle  errorClass = 1010
	toolInvalidName    errorClass = 1011
	toolSetNever       errorClass = 1015
	toolNoWrite        errorClass = 1016
	toolNoStartStop    errorClass = 1017
)

// toolPrefix begins the names of the functions of the tools interface.
const toolPrefix = "MPI_T_"

// firstToolClass is the first class of errors of the tools interface, and toolTexts are what MPI_Error_string says of them.
const firstToolClass = 1001

var toolTexts = [...]string{
	"the tools interface cannot be initialized", "the tools interface cannot be used now", "the tools interface is not initialized", "the tools interface does not support it", "the tools interface has no memory", "invalid use of the tools interface", "index of a variable or category is not there",
	"index of an item is not there", "invalid session of performance variables", "invalid handle of a variable", "no variable or category has that name", "no more handles of variables", "no more sessions of performance variables", "control variable cannot be changed now",
	"control variable cannot be changed", "performance variable cannot be changed", "performance variable cannot be started or stopped", "performance variable cannot be read and reset at once",
}

// What variables are said to be.
const (
	forUsers         = 0x09 // MPI_T_VERBOSITY_USER_BASIC
	forTuners        = 0x11 // MPI_T_VERBOSITY_TUNER_BASIC
	bindNone         = 1    // MPI_T_BIND_NO_OBJECT
	noEnum           = 0    // MPI_T_ENUM_NULL
	charType  handle = 0x243
	countType handle = 0x20f // MPI_UNSIGNED_LONG_LONG
)

// tools is how often MPI_T_init_thread was called, less MPI_T_finalize.
var tools atomic.Int64

func (a *cCall) tInitThread() error {
	tools.Add(1)
	if a.word[1] == 0 {
		return nil
	}
	return a.setInt(1, threadMultiple)
}

func (a *cCall) tFinalize() error {
	if tools.Add(-1) < 0 {
		tools.Add(1)
		return a.tool(toolNotInitialized)
	}
	return nil
}

// tool is an error of the tools interface; 0: none but that it is not initialized.
func (a *cCall) tool(c errorClass) error {
	if tools.Load() == 0 {
		c = toolNotInitialized
	}
	if c == success {
		return nil
	}
	return wrong(c, "there is nothing of that")
}

// howMany writes how many there are.
func (a *cCall) howMany(i, n int) error {
	if err := a.tool(success); err != nil {
		return err
	}
	if a.word[i] == 0 {
		return a.tool(toolInvalid)
	}
	return a.setInt(i, n)
}

// indexed returns the element of all whose index the program gives as argument i.
func indexed[T any](a *cCall, i int, all []T) (x *T, err error) {
	if err := a.tool(success); err != nil {
		return nil, err
	}
	if n := a.int(i); n >= 0 && n < len(all) {
		return &all[n], nil
	}
	return nil, wrong(toolInvalidIndex, "index %d of %d", a.int(i), len(all))
}

// indexOf writes to argument to the index of the first element of all that has the name at argument name, as is says.
// Without an address for either it refuses the call.
func indexOf[T any](a *cCall, name, to int, all []T, is func(x *T, name string) bool) error {
	if err := a.tool(success); err != nil {
		return err
	}
	if a.word[name] == 0 || a.word[to] == 0 {
		return a.tool(toolInvalid)
	}
	s, err := a.string(name)
	if err != nil {
		return err
	}
	for i := range all {
		if is(&all[i], s) {
			return a.setInt(to, i)
		}
	}
	return wrong(toolInvalidName, "there is none that is called %q", s)
}

// mayInt writes a result that the program may not want.
func (a *cCall) mayInt(i, v int) {
	if a.word[i] != 0 {
		_ = a.setInt(i, v) // there is an address
	}
}

// mayHandle is mayInt of a handle.
func (a *cCall) mayHandle(i int, h handle) {
	if a.word[i] != 0 {
		_ = a.setHandle(i, h) // likewise
	}
}

// mayText writes a text, if the program wants it, at most as long as the number in the argument behind it says, and
// there how long it is with the zero at its end.
func (a *cCall) mayText(i int, s string) error {
	if a.word[i+1] == 0 {
		return nil
	}
	if a.word[i] == 0 {
		return a.setInt(i+1, len(s)+1)
	}
	return a.fill(i+1, i, s)
}

// There are no events, sources and enumerations: each index and name of one is wrong, and each handle.
func (a *cCall) tEventGetNum() error  { return a.howMany(0, 0) }
func (a *cCall) tSourceGetNum() error { return a.howMany(0, 0) }

// lackingTool is the error of a function of the tools interface that is for what is not there.
func (a *cCall) lackingTool(name string) error {
	switch name {
	case "MPI_T_event_get_index":
		return a.tool(toolInvalidName)
	case "MPI_T_event_get_info", "MPI_T_event_handle_alloc", "MPI_T_source_get_info", "MPI_T_source_get_timestamp":
		return a.tool(toolInvalidIndex)
	}
	return a.tool(toolInvalidHandle)
}

// category is a list of variables.
type category struct {
	name, meaning      string
	controls, measures int // how many: all of them
}

// categories are the two lists.
func categories() []category {
	return []category{
		{"settings", "environment variables that the library heeds, with their values in this process", len(controls()), 0},
		{"messages", "counters of the messages of this process, and of what moves them", 0, len(measures)},
	}
}

func (a *cCall) tCategoryGetNum() error  { return a.howMany(0, len(categories())) }
func (a *cCall) tCategoryChanged() error { return a.howMany(0, 0) }

func (a *cCall) tCategoryGetIndex() error {
	return indexOf(a, 0, 1, categories(), func(x *category, name string) bool { return x.name == name })
}

func (a *cCall) tCategoryGetInfo() error {
	x, err := indexed(a, 0, categories())
	if err != nil {
		return err
	}
	if err := a.mayText(1, x.name); err != nil {
		return err
	}
	if err := a.mayText(3, x.meaning); err != nil {
		return err
	}
	a.mayInt(5, x.controls)
	a.mayInt(6, x.measures)
	a.mayInt(7, 0)
	return nil
}

// members writes the first of n indexes, as many as there is room for.
func (a *cCall) members(n func(x *category) int) error {
	x, err := indexed(a, 0, categories())
	if err != nil {
		return err
	}
	all := make([]int, max(0, min(n(x), a.int(1))))
	for i := range all {
		all[i] = i
	}
	return a.setInts(2, all)
}

func (a *cCall) tCategoryGetCvars() error {
	return a.members(func(x *category) int { return x.controls })
}
func (a *cCall) tCategoryGetPvars() error {
	return a.members(func(x *category) int { return x.measures })
}
func (a *cCall) tCategoryGetEvents() error {
	return a.members(func(*category) int { return 0 })
}
func (a *cCall) tCategoryGetCategories() error { return a.members(func(*category) int { return 0 }) }

func (a *cCall) tCategoryGetNumEvents() error {
	if _, err := indexed(a, 0, categories()); err != nil {
		return err
	}
	return a.setInt(1, 0)
}
