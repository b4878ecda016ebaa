//go:build ofi && cgo

package ofi

/*
#cgo pkg-config: libfabric
#cgo noescape pm2_ofi_register
#cgo nocallback pm2_ofi_register
#include <stdlib.h>
#include <string.h>
#include "fabric.h"
*/
import "C"

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"unsafe"
)

// The memory of an endpoint, as fabric.h has it.
const (
	slots   = C.PM2_OFI_SLOTS
	buffers = C.PM2_OFI_BUFFERS
)

// event is a completion.
type event = C.struct_fi_cq_data_entry

// operation is the provider's part of a transfer.
type operation = C.struct_pm2_ofi_op

// mr is memory that the provider knows.
type mr = C.struct_fid_mr

// fabric is an endpoint of libfabric, with all that belongs to it. One thread at a time; its calls do not wait.
type fabric struct {
	c        *C.struct_pm2_ofi
	provider string // and domain, for people
	domain   string
	name     []byte         // address
	at       netip.AddrPort // the same, of a provider that has addresses of sockets; else not valid
	slots    [][]byte
	inject   int    // bytes of the longest packet that needs its slot for the call only
	most     uint64 // bytes of the longest remote read, or write
	fd       int    // readable when something is there; -1: there is none

	writes    bool   // it has remote writes that are complete once the bytes are in the memory of the peer
	addresses bool   // remote reads and writes name addresses; else offsets
	local     bool   // all memory has to be registered
	keyMask   uint64 // keys have these bits
}

// fault is an error of libfabric.
type fault struct {
	provider, call string
	errno          int // negative
}

func (f *fault) Error() string {
	return fmt.Sprintf("%s: %s: %s", f.provider, f.call, C.GoString(C.fi_strerror(C.int(-f.errno))))
}

// Unwrap gives the error of the system that it stands for, if there is one.
func (f *fault) Unwrap() error {
	if f.errno < -255 {
		return nil
	}
	return syscall.Errno(-f.errno)
}

// maxInjectedBytes is the longest packet that is worth a copy of the provider's, in bytes.
const maxInjectedBytes = 4096

// openFabric opens an endpoint of that provider, "" the best one, if possible at the host's address.
func openFabric(provider string, host netip.Addr) (*fabric, error) {
	p := C.CString(provider)
	defer C.free(unsafe.Pointer(p))
	if provider == "" {
		provider = "any provider"
	}
	var all *C.struct_fi_info
	if r := C.pm2_ofi_offers(p, &all); r != 0 {
		return nil, &fault{provider, "fi_getinfo", int(r)}
	}
	i := C.fi_dupinfo(choose(all, host))
	C.fi_freeinfo(all)
	if w := C.pm2_ofi_writes(i); w != nil {
		C.fi_freeinfo(i)
		i = w
	}
	setSource(i, host)
	var call *C.char
	var errno C.int
	c := C.pm2_ofi_open(i, &call, &errno)
	if c == nil {
		return nil, &fault{provider, C.GoString(call), int(errno)}
	}
	mode := i.domain_attr.mr_mode
	f := &fabric{
		c: c, provider: C.GoString(i.fabric_attr.prov_name), domain: C.GoString(i.domain_attr.name),
		name:   C.GoBytes(unsafe.Pointer(&c.name), C.int(c.name_size)),
		inject: min(int(i.tx_attr.inject_size), maxInjectedBytes), most: uint64(i.ep_attr.max_msg_size), fd: int(c.fd),
		writes: i.caps&C.FI_REMOTE_WRITE != 0, addresses: mode&C.FI_MR_VIRT_ADDR != 0, local: mode&C.FI_MR_LOCAL != 0,
		keyMask: ^uint64(0) >> (64 - 8*min(uint64(i.domain_attr.mr_key_size), 8)),
	}
	if hasSockets(i) {
		f.at = addrPort(f.name)
	}
	size := int(c.slot_size)
	memory := unsafe.Slice((*byte)(c.memory), slots*size)
	for k := range slots {
		f.slots = append(f.slots, memory[k*size:(k+1)*size:(k+1)*size])
	}
	return f, nil
}

// choose gives the best of some offers; the earlier is the better one, as libfabric says.
func choose(all *C.struct_fi_info, host netip.Addr) (best *C.struct_fi_info) {
	least := 0
	for i := all; i != nil; i = i.next {
		price := 4 * lastResort(C.GoString(i.fabric_attr.prov_name))
		if !hasSockets(i) || addrPort(source(i)).Addr() != host {
			price += 2
		}
		if i.tx_attr.inject_size == 0 {
			price++
		}
		if best == nil || price < least {
			best, least = i, price
		}
	}
	return best
}

// setSource has an endpoint be bound: of shm to the name of this process; of a provider of sockets to the
// host's address, at a port that the kernel chooses. The provider does not offer the address of an interface
// whose carrier is not up yet, and bound to the loopback instead an endpoint would reach no other host.
func setSource(i *C.struct_fi_info, host netip.Addr) {
	switch name := C.GoString(i.fabric_attr.prov_name); {
	case isShm(name):
		C.free(i.src_addr)
		i.src_addr = unsafe.Pointer(C.CString(scheme + own()))
		i.src_addrlen = C.strlen((*C.char)(i.src_addr)) + 1
	case hasSockets(i) && lastResort(name) > 0:
		setAddr(source(i), host)
	}
}

// hasSockets reports whether the addresses of an offer are those of IP sockets.
func hasSockets(i *C.struct_fi_info) bool {
	return i.src_addr != nil && (i.addr_format == C.FI_SOCKADDR || i.addr_format == C.FI_SOCKADDR_IN || i.addr_format == C.FI_SOCKADDR_IN6)
}

// source is the address of an offer, in C's memory.
func source(i *C.struct_fi_info) []byte {
	return unsafe.Slice((*byte)(i.src_addr), int(i.src_addrlen))
}

func isShm(provider string) bool { return strings.HasPrefix(provider, "shm") }

// shm reports whether the provider is that within a host.
func (f *fabric) shm() bool { return isShm(f.provider) }

func (f *fabric) close() { C.pm2_ofi_close(f.c) }

// check makes an error of a negative result.
func (f *fabric) check(call string, r int) error {
	if r >= 0 {
		return nil
	}
	return &fault{f.provider, call, r}
}

// insert makes an address of a peer known.
func (f *fabric) insert(name []byte) (to uint64, err error) {
	var a C.fi_addr_t
	r := C.fi_av_insert(f.c.av, unsafe.Pointer(unsafe.SliceData(name)), 1, &a, 0, nil)
	if r == 0 {
		r = -C.FI_EINVAL
	}
	return uint64(a), f.check("fi_av_insert", int(r))
}

func (f *fabric) remove(to uint64) {
	a := C.fi_addr_t(to)
	C.fi_av_remove(f.c.av, &a, 1, 0)
}

// poll gives what has happened, until the next call. failure is the error of the only event; nil: all have
// succeeded.
func (f *fabric) poll() (events []event, failure, err error) {
	n := C.fi_cq_read(f.c.cq, unsafe.Pointer(&f.c.events), C.PM2_OFI_BATCH)
	if n == -C.FI_EAVAIL {
		var e C.struct_fi_cq_err_entry
		if n = C.fi_cq_readerr(f.c.cq, &e, 0); n > 0 {
			n, f.c.events[0].op_context = 1, e.op_context
			failure = &fault{f.provider, "completion", -int(e.err)}
		}
	}
	if n < 0 && n != again {
		return nil, nil, f.check("fi_cq_read", int(n))
	}
	return unsafe.Slice(&f.c.events[0], max(n, 0)), failure, nil
}

// operationOf is the number of the operation that an event tells of; false: it cannot be told.
func operationOf(v *event) (id uint64, ok bool) {
	if v.op_context == nil {
		return 0, false
	}
	return uint64((*operation)(v.op_context).id), true
}

// packetOf gives the packet that an event of a receive buffer tells of (nil: none), and whether the provider is
// done with the buffer.
func packetOf(v *event) (packet []byte, spent bool) {
	if v.len > 0 {
		packet = unsafe.Slice((*byte)(v.buf), int(v.len))
	}
	return packet, v.flags&C.FI_MULTI_RECV != 0
}

// post gives a buffer for packets to the provider; false: not now.
func (f *fabric) post(buffer uint32) (bool, error) {
	r := C.pm2_ofi_post(f.c, C.uint32_t(buffer))
	if r == again {
		return false, nil
	}
	return true, f.check("fi_recvmsg", int(r))
}

// Results of send and others: it has been done, and the slot is free; it is under way; not now.
type result int

const (
	done result = iota
	begun
	busy
)

const again = -C.FI_EAGAIN

// result makes a result of what a call of libfabric returns: well, unless that is negative.
func (f *fabric) result(call string, well result, r int) (result, error) {
	switch {
	case r == again:
		return busy, nil
	case r < 0:
		return busy, f.check(call, r)
	}
	return well, nil
}

// send sends the first bytes of a slot. tracked: an event tells when the provider has sent them, also if it could copy
// them at once.
func (f *fabric) send(slot uint32, size int, to uint64, tracked bool) (result, error) {
	at := unsafe.Pointer(unsafe.SliceData(f.slots[slot]))
	if size <= f.inject && !tracked {
		return f.result("fi_inject", done, int(C.fi_inject(f.c.ep, at, C.size_t(size), C.fi_addr_t(to))))
	}
	context := unsafe.Pointer(&f.c.ops[slot])
	return f.result("fi_send", begun, int(C.fi_send(f.c.ep, at, C.size_t(size), f.c.desc, C.fi_addr_t(to), context)))
}

// quiet says that the descriptor will be readable at the next event: none is there.
func (f *fabric) quiet() bool { return C.fi_trywait(f.c.fabric, &f.c.waits, 1) == 0 }

func newOperation(id uint64) *operation {
	o := (*operation)(C.calloc(1, C.sizeof_struct_pm2_ofi_op))
	o.id = C.uint64_t(id)
	return o
}

func freeOperation(o *operation) { C.free(unsafe.Pointer(o)) }

// What memory is registered for.
const (
	forGets  = C.FI_READ  // of this process: the provider writes there
	forPuts  = C.FI_WRITE // of this process: the provider reads there
	forReads = C.FI_REMOTE_READ
	forPeers = C.FI_REMOTE_READ | C.FI_REMOTE_WRITE
)

// register has the provider know memory.
func (f *fabric) register(g *registration, buf []byte) error {
	key := C.uint64_t(g.key)
	r := C.pm2_ofi_register(f.c, addressOf(buf), C.size_t(len(buf)), C.uint64_t(g.access), &key, &g.mr)
	g.key = uint64(key)
	return f.check("fi_mr_reg", int(r))
}

// close takes memory back: a peer can begin no read or write there any more.
func (g *registration) close() {
	C.fi_close(&g.mr.fid)
	g.mr = nil
}

// move begins to move bytes between buf, which is pinned, and memory of a peer: to the peer with put, else from it.
func (f *fabric) move(o *operation, put bool, buf []byte, g *registration, peer, there, key uint64) (result, error) {
	call, direction := "fi_readmsg", C.int(0)
	if put {
		call, direction = "fi_writemsg", 1
	}
	r := C.pm2_ofi_move(f.c, o, direction, addressOf(buf), C.size_t(len(buf)), g.mr, C.uint64_t(peer), C.uint64_t(there), C.uint64_t(key))
	return f.result(call, begun, int(r))
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
