//go:build cgo && linux

package main

import (
	"strings"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// cInfo is an MPI_Info: keys with values.
type cInfo = mpi.Info

func newInfo(keysAndValues ...string) *cInfo { return mpi.NewInfo(keysAndValues...) }

// merged returns a copy of x with the keys of other set.
func merged(x, other *cInfo) *cInfo {
	m := x.Dup()
	for _, k := range other.Keys() {
		v, _ := other.Get(k)
		m.Set(k, v)
	}
	return m
}

// info returns the info whose handle is argument i.
func (a *cCall) info(i int) (*cInfo, error) {
	if a.handle(i) == infoEnvHandle {
		return environment(), nil
	}
	return infos.get(a.handle(i))
}

// Parameter types of methods: an info that may be MPI_INFO_NULL, and one that the method changes.
type (
	hints      = cInfo
	changeable = cInfo
)

// hints is info that takes MPI_INFO_NULL for an empty one.
func (a *cCall) hints(i int) (*hints, error) {
	if a.handle(i) == infoNullHandle {
		return newInfo(), nil
	}
	return a.info(i)
}

// changeable is info that refuses MPI_INFO_ENV, which cannot be changed.
func (a *cCall) changeable(i int) (*changeable, error) {
	if a.handle(i) == infoEnvHandle {
		return nil, errorf(errInfo, "MPI_INFO_ENV cannot be changed")
	}
	return a.info(i)
}

// setInfo gives x a handle and writes that to argument i; MPI_INFO_NULL if x is nil.
func (a *cCall) setInfo(i int, x *cInfo) error {
	if x == nil {
		return a.setHandle(i, infoNullHandle)
	}
	return setNewHandle(a, i, &infos, x)
}

// infoKey is a key of an info.
type infoKey = string

// key returns the info key at argument i. It refuses one that is empty or too long.
func (a *cCall) key(i int) (infoKey, error) {
	if a.word[i] == 0 {
		return "", errorf(errInfoKey, "there is no key")
	}
	k, err := a.string(i)
	if err == nil && (strings.TrimSpace(k) == "" || len(k) >= mpiMaxInfoKey) {
		err = errorf(errInfoKey, "a key has 1 to %d bytes: %q", mpiMaxInfoKey-1, k)
	}
	return k, err
}

func (a *cCall) infoCreate() *cInfo        { return newInfo() }
func (a *cCall) infoCreateEnv() *cInfo     { return environment() }
func (a *cCall) infoDup(x *cInfo) *cInfo   { return x.Dup() }
func (a *cCall) infoGetNkeys(x *cInfo) int { return len(x.Keys()) }

func (a *cCall) infoFree(h *handle) error { return freeHandle(&infos, h, infoNullHandle) }

func (a *cCall) infoSet(x *changeable, k infoKey) error {
	v, err := a.string(2)
	if err != nil || v == "" || len(v) >= mpiMaxInfoVal {
		return errorf(errInfoValue, "a value has 1 to %d bytes", mpiMaxInfoVal-1)
	}
	x.Set(k, v)
	return nil
}

func (a *cCall) infoDelete(x *changeable, k infoKey) error {
	if !x.Delete(k) {
		return errorf(errInfoNokey, "there is no key %q", k)
	}
	return nil
}

func (a *cCall) infoGet(x *cInfo, k infoKey, room int) (bool, error) {
	if room < 0 {
		return false, errorf(errArg, "a value of %d bytes", room)
	}
	v, ok := x.Get(k)
	if !ok {
		return false, nil
	}
	return true, a.setString(3, v, room+1) // the length does not count the zero
}

func (a *cCall) infoGetString(x *cInfo, k infoKey) (bool, error) {
	v, ok := x.Get(k)
	if !ok {
		return false, nil
	}
	return true, a.setTextInOut(2, 3, v)
}

// setTextInOut writes s to argument to, cut to as many bytes as the int at argument room says, and sets that int
// to the length of s with its zero byte.
func (a *cCall) setTextInOut(room, to int, s string) error {
	n, err := a.intAt(room)
	if err != nil {
		return err
	}
	if *n > 0 {
		if err := a.setString(to, s, int(*n)); err != nil {
			return err
		}
	}
	*n = int32(len(s) + 1)
	return nil
}

func (a *cCall) infoGetValuelen(x *cInfo, k infoKey) (bool, error) {
	v, ok := x.Get(k)
	if !ok {
		return false, nil
	}
	return true, a.setInt(2, len(v))
}

func (a *cCall) infoGetNthkey(x *cInfo, n int) error {
	all := x.Keys()
	if n < 0 || n >= len(all) {
		return errorf(errArg, "key %d of %d", n, len(all))
	}
	return a.setString(2, all[n], mpiMaxInfoKey)
}
