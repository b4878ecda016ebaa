//go:build cgo && linux

package main

import (
	"slices"
	"sync/atomic"
)

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
		return errorf(tErrNotInitialized, "MPI_T_finalize without MPI_T_init_thread")
	}
	return nil
}

// withTools returns the entry of a function of the tools interface, which do serves: before MPI_T_init_thread it fails.
func withTools(do func(*cCall) error) func(*cCall) error {
	return func(a *cCall) error {
		if tools.Load() == 0 {
			return errorf(tErrNotInitialized, "MPI_T_init_thread was not called")
		}
		return do(a)
	}
}

// elementAt returns the element of all with an index.
func elementAt[T any](all []T, index int) (*T, error) {
	if index >= 0 && index < len(all) {
		return &all[index], nil
	}
	return nil, errorf(tErrInvalidIndex, "index %d of %d", index, len(all))
}

// indexOf returns the index of the element of all that has a name, by is.
func indexOf[T any](all []T, name string, is func(x T) bool) (int, error) {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return 0, errorf(tErrInvalidName, "there is none that is called %q", name)
	}
	return i, nil
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

func (a *cCall) tEventGetNum() int  { return 0 }
func (a *cCall) tSourceGetNum() int { return 0 }

// unsupportedTool returns the error of a function of events and sources, of which there are none.
func unsupportedTool(name string) error {
	class := tErrInvalidHandle
	switch name {
	case "MPI_T_event_get_index":
		class = tErrInvalidName
	case "MPI_T_event_get_info", "MPI_T_event_handle_alloc", "MPI_T_source_get_info", "MPI_T_source_get_timestamp":
		class = tErrInvalidIndex
	}
	return errorf(class, "there are no events and sources")
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

func (a *cCall) tCategoryGetNum() int  { return len(categories()) }
func (a *cCall) tCategoryChanged() int { return 0 }

func (a *cCall) tCategoryGetIndex(name string) (int, error) {
	return indexOf(categories(), name, func(x category) bool { return x.name == name })
}

func (a *cCall) tCategoryGetInfo(index int) error {
	x, err := elementAt(categories(), index)
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

// categoryMembers returns the indexes of the n members of a category, as many as there is room for.
func categoryMembers(index, room int, n func(x *category) int) ([]int, error) {
	x, err := elementAt(categories(), index)
	if err != nil {
		return nil, err
	}
	all := make([]int, max(0, min(n(x), room)))
	for i := range all {
		all[i] = i
	}
	return all, nil
}

func (a *cCall) tCategoryGetCvars(index, room int) ([]int, error) {
	return categoryMembers(index, room, func(x *category) int { return x.controls })
}
func (a *cCall) tCategoryGetPvars(index, room int) ([]int, error) {
	return categoryMembers(index, room, func(x *category) int { return x.measures })
}
func (a *cCall) tCategoryGetEvents(index int) ([]int, error) {
	return categoryMembers(index, 0, func(*category) int { return 0 })
}
func (a *cCall) tCategoryGetCategories(index int) ([]int, error) { return a.tCategoryGetEvents(index) }

func (a *cCall) tCategoryGetNumEvents(index int) (int, error) {
	_, err := elementAt(categories(), index)
	return 0, err
}
