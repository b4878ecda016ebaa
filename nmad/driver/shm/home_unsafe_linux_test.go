package shm

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
	"github.com/pm2-go/pm2/sched/topo"
)

// nowhere is the home of a process on a machine of one node.
func nowhere() driver.Locality { return driver.Locality{Node: -1, Why: "a test"} }

// first is the home of a process all of which is on node 0, which every machine has.
func first() driver.Locality { return driver.Locality{Node: 0, CPUs: topo.CPUs(0), Why: "a test"} }

// policyOf asks the kernel where the memory of a page comes from: MPOL_F_ADDR.
func policyOf(t *testing.T, page *byte) (policy int, nodes uint64) {
	t.Helper()
	var mode int32
	var mask [maxNodes / 64]uint64
	_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&mode)), uintptr(unsafe.Pointer(&mask)),
		maxNodes, uintptr(unsafe.Pointer(page)), 2, 0)
	if errno != 0 {
		t.Skipf("the kernel does not tell of memory policies: %v", errno)
	}
	return int(mode), mask[0]
}

// nodeOf asks where a page is: MPOL_F_NODE and MPOL_F_ADDR.
func nodeOf(t *testing.T, page *byte) int {
	t.Helper()
	var node int32
	_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&node)), 0, 0, uintptr(unsafe.Pointer(page)), 3, 0)
	if errno != 0 {
		t.Skipf("the kernel does not tell where pages are: %v", errno)
	}
	return int(node)
}

// permitted skips where a sandbox forbids mbind.
func permitted(t *testing.T) {
	t.Helper()
	p, err := createParts(standard, nowhere)
	defer p.close()
	if err != nil {
		t.Fatal(err)
	}
	if err := prefer(p.mem.Bytes(), 0); errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("mbind: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// TestHome: over real links, what arrives at a process comes from its home for both sides, and
// nothing else does.
func TestHome(t *testing.T) {
	permitted(t)
	for _, c := range []struct {
		name           string
		dialer, accept func() driver.Locality
		want           [2]int // policy by direction
	}{
		{"neither", nowhere, nowhere, [2]int{0, 0}},
		{"the dialer", first, nowhere, [2]int{0, preferred}},
		{"the side that accepts", nowhere, first, [2]int{preferred, 0}},
		{"both", first, first, [2]int{preferred, preferred}},
	} {
		t.Run(c.name, func(t *testing.T) {
			accepts := drivertest.Open(t, Driver{home: c.accept}, drivertest.Config(0))
			dials := drivertest.Open(t, Driver{home: c.dialer}, drivertest.Config(1))
			for i, l := range linkOf(t, dials, accepts) {
				mem := l.(*link).mem.Bytes()
				for d := range 2 {
					at := standard.direction(d)
					for what, offset := range map[string]uint64{"credit": at.credit, "cells": at.cells, "bodies": at.bodies, "last slot": at.end - 1} {
						got, nodes := policyOf(t, &mem[offset])
						if got != c.want[d] || got == preferred && nodes != 1 {
							t.Errorf("side %d, direction %d, %s: policy %d, nodes %#b; want %d", i, d, what, got, nodes, c.want[d])
						}
					}
					if node := nodeOf(t, &mem[at.cells]); c.want[d] == preferred && node != 0 {
						t.Errorf("side %d, direction %d: the cells are on node %d", i, d, node)
					}
				}
				want := []func() driver.Locality{c.dialer, c.accept}[i]()
				if got := l.Caps().Locality; got.Node != want.Node || !got.CPUs.Equal(want.CPUs) || !strings.Contains(got.Why, "a test") {
					t.Errorf("side %d lies at %+v, want %+v", i, got, want)
				}
			}
		})
	}
}

// TestNoSuchNode: what the kernel refuses is said, and the link works.
func TestNoSuchNode(t *testing.T) {
	far := func() driver.Locality { return driver.Locality{Node: maxNodes - 1, Why: "a test"} }
	p, err := createParts(tiny, far)
	defer p.close()
	if err != nil || !strings.Contains(p.locality.Why, "lets no memory be asked for") {
		t.Errorf("%+v, %v", p.locality, err)
	}
	if prefer(p.mem.Bytes(), -1) == nil || prefer(p.mem.Bytes(), maxNodes) == nil {
		t.Error("a node that cannot be is accepted")
	}
}

// TestPages: the two directions share no page, whatever the geometry.
func TestPages(t *testing.T) {
	for _, g := range []geometry{standard, tiny} {
		m := make([]byte, g.size())
		a, b := pages(m, g, 0), pages(m, g, 1)
		if len(a)+len(b) > len(m) {
			t.Errorf("%+v: %d and %d bytes of %d", g, len(a), len(b), len(m))
		}
		if len(b) > 0 && &b[0] != &m[uint64(len(m))-uint64(len(b))] {
			t.Errorf("%+v: the second direction does not reach to the end", g)
		}
	}
}
