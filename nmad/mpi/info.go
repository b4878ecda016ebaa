package mpi

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Info is a list of hints for a communicator: keys with values, in the order in which they were set. The zero Info is
// empty. Any number of threads may use an Info at once. A call that takes an Info copies it.
type Info struct {
	mu    sync.Mutex
	pairs [][2]string // under mu
}

// KeyDomain is the only key that has an effect: it gives a communicator a domain of its own, so that its messages share
// no lock with those of other communicators. Its value is an access of nmad: "shared", "serialized" or "private".
// Messages in a shared or serialized domain progress in the background. A communicator with a private domain, and its
// requests, belong to one thread. Their messages progress in calls of that thread: each call that waits or polls, on
// whichever communicator, moves all communicators with private domains that the thread has made. So MPI's rule of
// progress holds while the thread calls, and a peer may have to wait while it computes.
const KeyDomain = "pm2_domain"

// NewInfo returns an Info with these keys and values, in turn. It panics if there is a key without a value.
func NewInfo(keysAndValues ...string) *Info {
	if len(keysAndValues)%2 != 0 {
		panic(fmt.Sprintf("mpi: info: the key %q has no value", keysAndValues[len(keysAndValues)-1]))
	}
	x := &Info{}
	for i := 0; i < len(keysAndValues); i += 2 {
		x.Set(keysAndValues[i], keysAndValues[i+1])
	}
	return x
}

// Set gives a key a value.
func (in *Info) Set(key, value string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if i := in.find(key); i >= 0 {
		in.pairs[i][1] = value
		return
	}
	in.pairs = append(in.pairs, [2]string{key, value})
}

// Get returns the value of a key, and whether it has one.
func (in *Info) Get(key string) (value string, ok bool) {
	if in == nil {
		return "", false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if i := in.find(key); i >= 0 {
		return in.pairs[i][1], true
	}
	return "", false
}

// Delete removes a key, and reports whether it was there.
func (in *Info) Delete(key string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	i := in.find(key)
	if i >= 0 {
		in.pairs = slices.Delete(in.pairs, i, i+1)
	}
	return i >= 0
}

// Keys returns the keys, in the order in which they were set.
func (in *Info) Keys() (all []string) {
	for _, p := range in.Dup().pairs {
		all = append(all, p[0])
	}
	return all
}

// Dup returns a copy.
func (in *Info) Dup() *Info {
	if in == nil {
		return &Info{}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return &Info{pairs: slices.Clone(in.pairs)}
}

// String lists the keys with their values, for people.
func (in *Info) String() string {
	var all []string
	for _, p := range in.Dup().pairs {
		all = append(all, p[0]+"="+p[1])
	}
	return strings.Join(all, " ")
}

// find returns the index of a key; -1: it is not there. The caller holds mu.
func (in *Info) find(key string) int {
	return slices.IndexFunc(in.pairs, func(p [2]string) bool { return p[0] == key })
}
