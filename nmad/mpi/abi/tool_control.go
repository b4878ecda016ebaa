//go:build cgo && linux

package main

import (
	"cmp"
	"os"
	"slices"
	"sync"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/pioman"
)

// control is a control variable: an environment variable that the library reads when it starts. Its value is a
// text and does not change.
type control struct {
	name, meaning string
	tunes         bool   // it is a parameter of the engine
	value         string // as the environment has it, or the default
}

// controls returns all control variables, with their values at its first call.
var controls = sync.OnceValue(func() (all []control) {
	add := func(name, meaning, values, otherwise string, tunes bool) {
		all = append(all, control{name, meaning + ": " + values, tunes, cmp.Or(os.Getenv(name), otherwise)})
	}
	for _, v := range slices.Concat(nmad.Environment, mpi.Environment) {
		if !v.Told {
			add(v.Name, v.Meaning, v.Values, v.Default, false)
		}
	}
	for _, v := range pioman.ParamTable() {
		add(v.Env, v.Meaning, v.Values, v.Default, true)
	}
	return all
})

// controlHandle is a handle of a control variable.
type controlHandle struct{ variable *control }

var controlHandles = table[controlHandle]{kind: ofControl, class: tErrInvalidHandle}

func (a *cCall) tCvarGetNum() error { return a.setToolCount(0, len(controls())) }

func (a *cCall) tCvarGetIndex() error {
	return setIndexOf(a, 0, 1, controls(), func(x *control, name string) bool { return x.name == name })
}

func (a *cCall) tCvarGetInfo() error {
	x, err := elementAt(a, 0, controls())
	if err != nil {
		return err
	}
	if err := a.setOptionalText(1, x.name); err != nil {
		return err
	}
	level := mpiTVerbosityUserBasic
	if x.tunes {
		level = mpiTVerbosityTunerBasic
	}
	a.setOptionalInt(3, level)
	a.setOptionalHandle(4, charHandle)
	a.setOptionalHandle(5, tEnumNullHandle)
	if err := a.setOptionalText(6, x.meaning); err != nil {
		return err
	}
	a.setOptionalInt(8, mpiTBindNoObject)
	a.setOptionalInt(9, mpiTScopeConstant)
	return nil
}

func (a *cCall) tCvarHandleAlloc() error {
	x, err := elementAt(a, 0, controls())
	if err != nil {
		return err
	}
	if a.word[2] == 0 || a.word[3] == 0 {
		return a.toolError(tErrInvalid)
	}
	h, err := controlHandles.add(&controlHandle{x})
	if err != nil {
		return err
	}
	if err := a.setHandle(2, h); err != nil {
		return err
	}
	return a.setInt(3, len(x.value)+1)
}

// controlAt returns the control variable of a handle.
func (a *cCall) controlAt(h handle) (*control, error) {
	if err := a.toolError(success); err != nil {
		return nil, err
	}
	x, err := controlHandles.get(h)
	if err != nil {
		return nil, err
	}
	return x.variable, nil
}

func (a *cCall) tCvarHandleFree() error {
	h, err := a.handleAt(0)
	if err != nil {
		return a.toolError(tErrInvalid)
	}
	if err := a.toolError(success); err != nil {
		return err
	}
	return freeHandle(&controlHandles, h, 0)
}

func (a *cCall) tCvarRead(h handle) error {
	x, err := a.controlAt(h)
	if err != nil {
		return err
	}
	if a.word[1] == 0 {
		return a.toolError(tErrInvalid)
	}
	return a.setString(1, x.value, len(x.value)+1)
}

func (a *cCall) tCvarWrite(h handle) error {
	x, err := a.controlAt(h)
	if err != nil {
		return err
	}
	return errorf(tErrCvarSetNever, "%s is a variable of the environment, which counts when the process starts", x.name)
}
