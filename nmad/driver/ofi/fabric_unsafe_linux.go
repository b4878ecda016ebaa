//go:build ofi && cgo

package ofi

/*
#cgo pkg-config: libfabric
#cgo noescape pm2_ofi_poll
#cgo nocallback pm2_ofi_poll
#cgo noescape pm2_ofi_post
#cgo nocallback pm2_ofi_post
#cgo noescape pm2_ofi_send
#cgo nocallback pm2_ofi_send
#cgo noescape pm2_ofi_trywait
#cgo nocallback pm2_ofi_trywait
#cgo noescape pm2_ofi_read
#cgo nocallback pm2_ofi_read
#cgo noescape pm2_ofi_register
#cgo noescape pm2_ofi_unregister
#cgo nocallback pm2_ofi_register
#cgo nocallback pm2_ofi_unregister
#include <stdlib.h>
#include "fabric.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"syscall"
	"unsafe"
)

// What an event says.
const (
	eventPacket = C.PM2_OFI_PACKET
	eventSpent  = C.PM2_OFI_SPENT
	eventDone   = C.PM2_OFI_DONE
	eventFailed = C.PM2_OFI_FAILED
)

// event is what the provider says, as fabric.h has it.
type event = C.struct_pm2_ofi_event

// operation is the provider's part of a remote read.
type operation = C.struct_pm2_ofi_op

// mr is memory that the provider knows.
type mr = C.struct_fid_mr

// fabric is an endpoint of libfabric, with all that belongs to it. One thread at a time; its calls do not wait.
type fabric struct {
	c        *C.struct_pm2_ofi
	provider string // and domain, for people
	domain   string
	name     []byte // address
	slots    [][]byte
	events   []event
	inject   int    // bytes of the longest packet that needs its slot for the call only
	most     uint64 // bytes of the longest remote read
	fd       int    // readable when something is there; -1: there is none

	addresses bool   // remote reads name addresses; else offsets
	local     bool   // all memory has to be registered
	keyMask   uint64 // keys have these bits
}

// shape is how much memory an endpoint has.
type shape struct {
	slots, slotSize     int // for packets on their way out
	buffers, bufferSize int // for those that come
}

// fault is an error of libfabric.
type fault struct {
	provider, call string
	errno          int // negative
}

func (f *fault) Error() string {
	return fmt.Sprintf("%s: %s: %s", f.provider, f.call, C.GoString(C.pm2_ofi_error(C.int(f.errno))))
}

// Unwrap gives the error of the system that it stands for, if there is one.
func (f *fault) Unwrap() error {
	if f.errno < -255 {
		return nil
	}
	return syscall.Errno(-f.errno)
}

// openFabric opens an endpoint of that provider, "" the best one, if possible at the host's address.
func openFabric(provider, host string, family int, s shape) (*fabric, error) {
	p, h := C.CString(provider), C.CString(host)
	defer C.free(unsafe.Pointer(p))
	defer C.free(unsafe.Pointer(h))
	shm := C.CString(scheme + own())
	defer C.free(unsafe.Pointer(shm))
	want := C.struct_pm2_ofi_shape{
		slots: C.uint32_t(s.slots), slot_size: C.uint32_t(s.slotSize),
		buffers: C.uint32_t(s.buffers), buffer_size: C.uint32_t(s.bufferSize),
	}
	var got C.struct_pm2_ofi_facts
	var call *C.char
	var errno C.int
	c := C.pm2_ofi_open(p, h, C.int(family), shm, &want, &got, &call, &errno)
	if c == nil {
		if provider == "" {
			provider = "any provider"
		}
		return nil, &fault{provider, C.GoString(call), int(errno)}
	}
	f := &fabric{
		c: c, provider: C.GoString(&got.provider[0]), domain: C.GoString(&got.domain[0]),
		name: C.GoBytes(unsafe.Pointer(&got.name[0]), C.int(got.name_size)), inject: int(got.inject), most: uint64(got.most), fd: int(got.fd),
		addresses: got.addresses != 0, local: got.local != 0,
		keyMask: ^uint64(0) >> (64 - 8*min(uint64(got.key_size), 8)),
		events:  unsafe.Slice(got.events, 2*C.PM2_OFI_BATCH+1),
	}
	size := int(got.slot_size)
	memory := unsafe.Slice((*byte)(got.memory), s.slots*size)
	for i := range s.slots {
		f.slots = append(f.slots, memory[i*size:(i+1)*size:(i+1)*size])
	}
	return f, nil
}

// shm says whether the provider is that within a host.
func (f *fabric) shm() bool { return strings.HasPrefix(f.provider, "shm") }

func boolean(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (f *fabric) close() { C.pm2_ofi_close(f.c) }

// check makes an error of a negative result.
func (f *fabric) check(call string, r C.int) error {
	if r >= 0 {
		return nil
	}
	return &fault{f.provider, call, int(r)}
}

// failure is the error of an event.
func (f *fabric) failure(v *event) error { return &fault{f.provider, "completion", -int(v.size)} }

// insert makes an address of a peer known.
func (f *fabric) insert(name []byte) (to uint64, err error) {
	var a C.uint64_t
	r := C.pm2_ofi_insert(f.c, unsafe.Pointer(unsafe.SliceData(name)), &a)
	return uint64(a), f.check("fi_av_insert", r)
}

func (f *fabric) remove(to uint64) { C.pm2_ofi_remove(f.c, C.uint64_t(to)) }

// poll gives what has happened; it stays valid until the next call.
func (f *fabric) poll() ([]event, error) {
	n := C.pm2_ofi_poll(f.c)
	if n < 0 {
		return nil, f.check("fi_cq_read", n)
	}
	return f.events[:n], nil
}

// bytesAt is what an event says of a packet.
func bytesAt(v *event) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&v.at))), int(v.size))
}

// post gives a buffer for packets to the provider; false: not now.
func (f *fabric) post(buffer uint32) (bool, error) {
	r := C.pm2_ofi_post(f.c, C.uint32_t(buffer))
	if r == again {
		return false, nil
	}
	return true, f.check("fi_recvmsg", r)
}

// Results of send and others: it has been done, and the slot is free; it is under way; not now.
type result int

const (
	done result = iota
	begun
	busy
)

const again = -11 // FI_EAGAIN

// send sends the first bytes of a slot. told: an event is to say when they are gone.
func (f *fabric) send(slot uint32, size int, to uint64, told bool) (result, error) {
	r := C.pm2_ofi_send(f.c, C.uint32_t(slot), C.size_t(size), C.uint64_t(to), boolean(told))
	switch {
	case r == 1:
		return done, nil
	case r == 0:
		return begun, nil
	case r == again:
		return busy, nil
	}
	return busy, f.check("fi_send", r)
}

// quiet says that the descriptor will be readable at the next event: none is there.
func (f *fabric) quiet() bool { return C.pm2_ofi_trywait(f.c) == 0 }

func newOperation(id uint64) *operation { return C.pm2_ofi_op_new(C.uint64_t(id)) }

func freeOperation(o *operation) { C.free(unsafe.Pointer(o)) }

// register has the provider know memory.
func (f *fabric) register(g *registration, buf []byte) error {
	key := C.uint64_t(g.key)
	r := C.pm2_ofi_register(f.c, addressOf(buf), C.size_t(len(buf)), boolean(g.remote), &key, &g.mr)
	g.key = uint64(key)
	return f.check("fi_mr_reg", r)
}

// close takes memory back: a peer can read there no more.
func (g *registration) close() {
	C.pm2_ofi_unregister(g.mr)
	g.mr = nil
}

// read begins to read a peer's memory into buf, which is pinned.
func (f *fabric) read(o *operation, buf []byte, g *registration, from uint64, w *window) (result, error) {
	r := C.pm2_ofi_read(f.c, o, addressOf(buf), C.size_t(len(buf)), g.mr, C.uint64_t(from), C.uint64_t(w.at), C.uint64_t(w.key))
	if r == again {
		return busy, nil
	}
	return begun, f.check("fi_read", r)
}

// addressOf is where memory lies that is pinned. As a number, for cgo would look for pointers in all of the object
// of which a user's buffer may be a part.
func addressOf(buf []byte) C.uintptr_t {
	return C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(buf))))
}

// there is where a window begins, for its peer.
func (f *fabric) there(buf []byte) uint64 {
	if !f.addresses && !f.shm() {
		return 0
	}
	return uint64(addressOf(buf))
}
