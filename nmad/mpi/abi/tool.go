//go:build cgo && linux

package main

import "sync/atomic"

// The tools interface (MPI_T): what its parts have in common. There are control variables, performance variables and
// categories of both, and no events and sources. Its functions return errors and call no error handlers.

// toolPrefix is how the names of the functions of the tools interface begin.
const toolPrefix = "MPI_T_"

const firstToolClass = int(tErrCannotInit)

// toolTexts are what MPI_Error_string says of the error classes of the tools interface, from firstToolClass on.
var toolTexts = [...]string{
	"the tools interface cannot be initialized", "the tools interface cannot be used now", "the tools interface is not initialized", "the tools interface does not support it", "the tools interface has no memory", "invalid use of the tools interface", "index of a variable or category is not there",
	"index of an item is not there", "invalid session of performance variables", "invalid handle of a variable", "no variable or category has that name", "no more handles of variables", "no more sessions of performance variables", "control variable cannot be changed now",
	"control variable cannot be changed", "performance variable cannot be changed", "performance variable cannot be started or stopped", "performance variable cannot be read and reset at once",
}

// tools counts calls of MPI_T_init_thread less those of MPI_T_finalize.
var tools atomic.Int64

func (a *cCall) tInitThread() error {
	tools.Add(1)
	if a.word[1] == 0 {
		return nil
	}
	return a.setInt(1, mpiThreadMultiple)
}

func (a *cCall) tFinalize() error {
	if tools.Add(-1) < 0 {
		tools.Add(1)
		return a.toolError(tErrNotInitialized)
	}
	return nil
}

// toolError returns an error of class c; nil for success. Before MPI_T_init_thread the class is
// MPI_T_ERR_NOT_INITIALIZED.
func (a *cCall) toolError(c errorClass) error {
	if tools.Load() == 0 {
		c = tErrNotInitialized
	}
	if c == success {
		return nil
	}
	return errorf(c, "there is nothing of that")
}

// setToolCount writes the number n of variables, categories or the like to argument i.
func (a *cCall) setToolCount(i, n int) error {
	if err := a.toolError(success); err != nil {
		return err
	}
	if a.word[i] == 0 {
		return a.toolError(tErrInvalid)
	}
	return a.setInt(i, n)
}

// elementAt returns the element of all whose index is argument i.
func elementAt[T any](a *cCall, i int, all []T) (x *T, err error) {
	if err := a.toolError(success); err != nil {
		return nil, err
	}
	if n := a.int(i); n >= 0 && n < len(all) {
		return &all[n], nil
	}
	return nil, errorf(tErrInvalidIndex, "index %d of %d", a.int(i), len(all))
}

// setIndexOf writes to argument to the index of the element of all that has the name at argument name, by is. It
// refuses NULL for either.
func setIndexOf[T any](a *cCall, name, to int, all []T, is func(x *T, name string) bool) error {
	if err := a.toolError(success); err != nil {
		return err
	}
	if a.word[name] == 0 || a.word[to] == 0 {
		return a.toolError(tErrInvalid)
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
	return errorf(tErrInvalidName, "there is none that is called %q", s)
}

// setOptionalInt is setInt that does nothing for NULL.
func (a *cCall) setOptionalInt(i, v int) {
	if a.word[i] != 0 {
		_ = a.setInt(i, v) // cannot fail: there is an address
	}
}

// setOptionalHandle is setHandle that does nothing for NULL.
func (a *cCall) setOptionalHandle(i int, h handle) {
	if a.word[i] != 0 {
		_ = a.setHandle(i, h) // likewise
	}
}

// setOptionalText writes s to argument i, cut to as many bytes as the int at argument i+1 says, and sets that int
// to the length of s with its zero byte. Either argument may be NULL.
func (a *cCall) setOptionalText(i int, s string) error {
	if a.word[i+1] == 0 {
		return nil
	}
	if a.word[i] == 0 {
		return a.setInt(i+1, len(s)+1)
	}
	return a.setTextInOut(i+1, i, s)
}

// There are no events, sources and enumerations, so all their indexes, names and handles are wrong.

func (a *cCall) tEventGetNum() error  { return a.setToolCount(0, 0) }
func (a *cCall) tSourceGetNum() error { return a.setToolCount(0, 0) }

// unsupportedTool returns the error of a function of events and sources, of which there are none.
func (a *cCall) unsupportedTool(name string) error {
	switch name {
	case "MPI_T_event_get_index":
		return a.toolError(tErrInvalidName)
	case "MPI_T_event_get_info", "MPI_T_event_handle_alloc", "MPI_T_source_get_info", "MPI_T_source_get_timestamp":
		return a.toolError(tErrInvalidIndex)
	}
	return a.toolError(tErrInvalidHandle)
}

// category is a list of control variables and performance variables.
type category struct {
	name, meaning      string
	controls, measures int // how many variables of either sort: all there are
}

// categories returns all categories.
func categories() []category {
	return []category{
		{"settings", "environment variables that the library heeds, with their values in this process", len(controls()), 0},
		{"messages", "counters of the messages of this process, and of what moves them", 0, len(measures)},
	}
}

func (a *cCall) tCategoryGetNum() error  { return a.setToolCount(0, len(categories())) }
func (a *cCall) tCategoryChanged() error { return a.setToolCount(0, 0) }

func (a *cCall) tCategoryGetIndex() error {
	return setIndexOf(a, 0, 1, categories(), func(x *category, name string) bool { return x.name == name })
}

func (a *cCall) tCategoryGetInfo() error {
	x, err := elementAt(a, 0, categories())
	if err != nil {
		return err
	}
	if err := a.setOptionalText(1, x.name); err != nil {
		return err
	}
	if err := a.setOptionalText(3, x.meaning); err != nil {
		return err
	}
	a.setOptionalInt(5, x.controls)
	a.setOptionalInt(6, x.measures)
	a.setOptionalInt(7, 0)
	return nil
}

// setCategoryMembers writes the indexes of the n members of a category to argument 2, as many as argument 1
// allows.
func (a *cCall) setCategoryMembers(n func(x *category) int) error {
	x, err := elementAt(a, 0, categories())
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
	return a.setCategoryMembers(func(x *category) int { return x.controls })
}
func (a *cCall) tCategoryGetPvars() error {
	return a.setCategoryMembers(func(x *category) int { return x.measures })
}
func (a *cCall) tCategoryGetEvents() error {
	return a.setCategoryMembers(func(*category) int { return 0 })
}
func (a *cCall) tCategoryGetCategories() error {
	return a.setCategoryMembers(func(*category) int { return 0 })
}

func (a *cCall) tCategoryGetNumEvents() error {
	if _, err := elementAt(a, 0, categories()); err != nil {
		return err
	}
	return a.setInt(1, 0)
}
