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

// controlHandles are the handles of control variables.
var controlHandles = table[control]{kind: ofControl, class: tErrInvalidHandle}

func (a *cCall) tCvarGetNum() int { return len(controls()) }

func (a *cCall) tCvarGetIndex(name string) (int, error) {
	return indexOf(controls(), name, func(x control) bool { return x.name == name })
}

func (a *cCall) tCvarGetInfo(index int) error {
	x, err := elementAt(controls(), index)
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

func (a *cCall) tCvarHandleAlloc(index int) (h handle, count int, err error) {
	x, err := elementAt(controls(), index)
	if err != nil {
		return 0, 0, err
	}
	h, err = controlHandles.add(x)
	return h, len(x.value) + 1, err
}

func (a *cCall) tCvarHandleFree(h *handle) error { return freeHandle(&controlHandles, h, 0) }

func (a *cCall) tCvarRead(x *control) error { return a.setString(1, x.value, len(x.value)+1) }

func (a *cCall) tCvarWrite(x *control) error {
	return errorf(tErrCvarSetNever, "%s is a variable of the environment, which counts when the process starts", x.name)
}
