//go:build !race

package nmad

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/pm2-go/pm2/pioman"
)

// extent is memory of one object.
type extent struct {
	at, size uintptr
	what     string
}

// belongings walks over what a gate reaches by pointers, slices and interfaces, and lists the objects. It stops at what
// is not of a gate: the session, the domain and the engines; functions and maps are not walked into.
func belongings(g *Gate) (all []extent) {
	seen := map[uintptr]bool{}
	stops := []reflect.Type{reflect.TypeFor[Session](), reflect.TypeFor[Domain](), reflect.TypeFor[pioman.Engine](), reflect.TypeFor[monitors](), reflect.TypeFor[agreements](), reflect.TypeFor[worker]()}
	var walk func(v reflect.Value)
	object := func(at, size uintptr, what string) bool {
		if size == 0 || at == 0 || seen[at] {
			return false
		}
		seen[at] = true
		all = append(all, extent{at, size, what})
		return true
	}
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if e := v.Type().Elem(); !v.IsNil() && !slices.Contains(stops, e) && object(v.Pointer(), e.Size(), e.String()) {
				walk(v.Elem())
			}
		case reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			if e := v.Type().Elem(); v.Len() > 0 && object(v.Pointer(), uintptr(v.Cap())*e.Size(), "[]"+e.String()) {
				for i := range min(v.Len(), 1000) {
					walk(v.Index(i))
				}
			}
		case reflect.Struct:
			if t := v.Type(); strings.HasPrefix(t.Name(), "Pointer[") && t.PkgPath() == "sync/atomic" {
				return // what it leads to is published, and not written
			}
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		}
	}
	walk(reflect.ValueOf(g))
	return all
}

// TestDomainsShareNoLine: of what the gates of up to 63 private domains of a process have, nothing that is written
// while messages pass lies on a cache line (two of 64 bytes, as processors fetch the neighbor) where another one has
// something. It compares every byte of objects on such lines before and after.
func TestDomainsShareNoLine(t *testing.T) {
	const line, most = 128, MaxDomains - 1
	type owned struct {
		extent
		domain int
	}
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "shm" })
	var gates [2][most]*Gate
	var turns [most]chan struct{}
	over := make(chan struct{})
	done := func() {
		if <-over; t.Failed() {
			t.FailNow()
		}
	}
	for i := range most { // a goroutine each
		turns[i] = make(chan struct{})
		go func() {
			defer func() { over <- struct{}{} }() // also if it fails
			all := j.domain(DomainConfig{Access: Private}, 1+i)
			gates[0][i], gates[1][i] = all[0].Gate(1), all[1].Gate(0)
			over <- struct{}{}
			for range turns[i] {
				pass(t, "while lines are looked at", gates[0][i], gates[1][i], 8, 8)
				over <- struct{}{}
			}
		}()
		done()
	}
	exchange := func() {
		for i := range most {
			turns[i] <- struct{}{}
			done()
		}
	}
	exchange()
	at := map[uintptr][]owned{} // by line
	for i, g := range gates[0] {
		for _, x := range belongings(g) {
			for l := x.at / line; l <= (x.at+x.size-1)/line; l++ {
				at[l] = append(at[l], owned{x, i})
			}
		}
	}
	type part struct { // of an object, on a line
		owned
		line uintptr
	}
	bytes := func(x part) []byte {
		from, to := max(x.at, x.line*line), min(x.at+x.size, (x.line+1)*line)
		return slices.Clone(unsafe.Slice((*byte)(pointer(from)), to-from))
	}
	before := map[part][]byte{}
	for l, all := range at {
		if slices.ContainsFunc(all, func(x owned) bool { return x.domain != all[0].domain }) {
			for _, x := range all {
				p := part{x, l}
				before[p] = bytes(p)
			}
		}
	}
	t.Logf("%d domains have objects on %d lines; %d parts of objects lie where another domain has one, too", most, len(at), len(before))
	for range 5 {
		exchange()
	}
	written := map[string]int{}
	for x, old := range before {
		if !slices.Equal(bytes(x), old) {
			written[x.what]++
		}
	}
	if len(written) > 0 {
		t.Errorf("written, and on lines that domains share: %v", written)
	}
	for i := range most {
		close(turns[i])
		done()
	}
	j.close()
}

// pointer is that to an object which a gate holds.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
