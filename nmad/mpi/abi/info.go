//go:build cgo && linux

package main

import (
	"strings"
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// info is keys with values.
type info struct {
	mu sync.Mutex
	x  *mpi.Info
}

const (
	nullInfo handle = 0x130
	envInfo  handle = 0x131

	maxInfoKey   = 256 // with the zero at the end
	maxInfoValue = 1024
)

func newInfo(keysAndValues ...string) *info { return &info{x: mpi.NewInfo(keysAndValues...)} }

func (x *info) set(key, value string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.x.Set(key, value)
}

func (x *info) delete(key string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.x.Delete(key)
}

func (x *info) get(key string) (string, bool) {
	if x == nil {
		return "", false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.x.Get(key)
}

func (x *info) keys() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.x.Keys()
}

func (x *info) dup() *info {
	if x == nil {
		return newInfo()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return &info{x: x.x.Dup()}
}

// merged is x with what other sets.
func (x *info) merged(other *info) *info {
	m := x.dup()
	for _, k := range other.keys() {
		v, _ := other.get(k)
		m.set(k, v)
	}
	return m
}

// info is an argument that is one.
func (a *call) info(i int) (*info, error) {
	switch h := a.handle(i); h {
	case envInfo:
		return environment(), nil
	case nullInfo:
		return nil, wrong(errInfo, "it is MPI_INFO_NULL")
	default:
		return infos.get(h)
	}
}

// infoOrNull is info that may be MPI_INFO_NULL: an empty one.
func (a *call) infoOrNull(i int) (*info, error) {
	if a.handle(i) == nullInfo {
		return newInfo(), nil
	}
	return a.info(i)
}

// setInfo takes an info in, and writes its handle.
func (a *call) setInfo(i int, x *info) error {
	if _, err := a.out(i); err != nil {
		return err
	}
	h, err := infos.add(x)
	if err != nil {
		return err
	}
	return a.setHandle(i, h)
}

// own is info of one that may be changed.
func (a *call) own(i int) (*info, error) {
	if a.handle(i) == envInfo {
		return nil, wrong(errInfo, "MPI_INFO_ENV cannot be changed")
	}
	return a.info(i)
}

// key is an argument that is a key.
func (a *call) key(i int) (string, error) {
	if a.word[i] == 0 {
		return "", wrong(errInfoKey, "there is no key")
	}
	k, err := a.string(i)
	if err == nil && (strings.TrimSpace(k) == "" || len(k) >= maxInfoKey) {
		err = wrong(errInfoKey, "a key has 1 to %d bytes: %q", maxInfoKey-1, k)
	}
	return k, err
}

func (a *call) infoCreate() error { return a.setInfo(0, newInfo()) }

func (a *call) infoCreateEnv() error { return a.setInfo(2, environment()) }

func (a *call) infoDup() error {
	x, err := a.info(0)
	if err != nil {
		return err
	}
	return a.setInfo(1, x.dup())
}

func (a *call) infoFree() error {
	h, err := a.handleAt(0)
	if err != nil {
		return err
	}
	if h == nullInfo || h == envInfo {
		return wrong(errInfo, "a predefined info cannot be freed")
	}
	if _, err := infos.get(h); err != nil {
		return err
	}
	infos.drop(h)
	return a.setHandle(0, nullInfo)
}

func (a *call) infoSet() error {
	x, err := a.own(0)
	if err != nil {
		return err
	}
	k, err := a.key(1)
	if err != nil {
		return err
	}
	if a.word[2] == 0 {
		return wrong(errInfoValue, "there is no value")
	}
	v, err := a.string(2)
	if err != nil {
		return err
	}
	if v == "" || len(v) >= maxInfoValue {
		return wrong(errInfoValue, "a value has 1 to %d bytes", maxInfoValue-1)
	}
	x.set(k, v)
	return nil
}

func (a *call) infoDelete() error {
	x, err := a.own(0)
	if err != nil {
		return err
	}
	k, err := a.key(1)
	if err == nil && !x.delete(k) {
		err = wrong(errInfoNoKey, "there is no key %q", k)
	}
	return err
}

func (a *call) infoGet() error {
	x, err := a.info(0)
	if err != nil {
		return err
	}
	k, err := a.key(1)
	if err != nil {
		return err
	}
	if a.int(2) < 0 {
		return wrong(errArg, "a value of %d bytes", a.int(2))
	}
	v, ok := x.get(k)
	if ok {
		// The length does not count the zero.
		if err := a.setString(3, v, a.int(2)+1); err != nil {
			return err
		}
	}
	return a.setFlag(4, ok)
}

func (a *call) infoGetString() error {
	x, err := a.info(0)
	if err != nil {
		return err
	}
	k, err := a.key(1)
	if err != nil {
		return err
	}
	v, ok := x.get(k)
	if ok {
		room, err := a.narrow(2, 1)
		if err != nil {
			return err
		}
		if room[0] > 0 {
			if err := a.setString(3, v, int(room[0])); err != nil {
				return err
			}
		}
		room[0] = int32(len(v) + 1)
	}
	return a.setFlag(4, ok)
}

func (a *call) infoGetValuelen() error {
	x, err := a.info(0)
	if err != nil {
		return err
	}
	k, err := a.key(1)
	if err != nil {
		return err
	}
	v, ok := x.get(k)
	if ok {
		if err := a.setInt(2, len(v)); err != nil {
			return err
		}
	}
	return a.setFlag(3, ok)
}

func (a *call) infoGetNkeys() error {
	x, err := a.info(0)
	if err != nil {
		return err
	}
	return a.setInt(1, len(x.keys()))
}

func (a *call) infoGetNthkey() error {
	x, err := a.info(0)
	if err != nil {
		return err
	}
	all, n := x.keys(), a.int(1)
	if n < 0 || n >= len(all) {
		return wrong(errArg, "key %d of %d", n, len(all))
	}
	return a.setString(2, all[n], maxInfoKey)
}
