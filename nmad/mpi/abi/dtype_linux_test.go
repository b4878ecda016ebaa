//go:build cgo

package main

import (
	"errors"
	"sync"
	"testing"
)

// TestOnce: a datatype that is made once has one handle, whichever thread asks for it first.
func TestOnce(t *testing.T) {
	for r := range 30 {
		made := new([8]handle)
		var threads sync.WaitGroup
		begin := make(chan struct{})
		for i := range made {
			threads.Go(func() {
				a := &cCall{}
				a.word[2] = uintptrOf(pointer(&made[i]))
				<-begin
				x, err := a.typeCreateF90Real(6, -r)
				if err == nil && x.handle == 0 { // else two threads would each give it one
					err = errors.New("it has no handle yet when others get it, too")
				}
				if err == nil {
					err = a.setType(2, x)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		threads.Wait()
		for _, h := range made {
			if h != made[0] {
				t.Fatalf("range %d: threads have the handles %#x", -r, *made)
			}
		}
	}
}
