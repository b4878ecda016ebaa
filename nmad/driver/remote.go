package driver

// RemoteMemory is implemented by links of networks that write and read memory of the peer by themselves: no message
// reaches the layer above it there. Caps.Remote says whether a link has these calls. Safe for concurrent use, also with
// those of Link, and with Close. Moving bytes may need calls of Recv, by either side, as all that moves does.
type RemoteMemory interface {
	// Expose lets the peer write and read b, which must stay where it is until the Exposure is closed. It may take some
	// milliseconds for much memory. errors.ErrUnsupported: the link cannot; other errors: the network lacks something,
	// or the link has ended.
	Expose(b []byte) (Exposure, error)
	// StartRemote begins a put or a get, and reports whether it has; if not, nothing was begun, and the bytes may go
	// another way. It does not wait for the network, and allocates nothing in steady state. o, and its buffer, belong to
	// the link until it calls Done.
	StartRemote(o *RemoteOp) bool
}

// Exposure is memory that the peer of a link can write and read. Safe for concurrent use.
type Exposure interface {
	// Key is what the peer needs.
	Key() RemoteKey
	// Close takes the memory back: the peer begins no write and no read there any more. A peer that is in the middle of
	// a write may end it, so the caller first has the peer end all that it has begun. Of a peer that is lost it says
	// lost: then no byte comes there any more once Close returns. The end of the link closes it, too.
	Close(lost bool)
}

// RemoteKey opens memory of a peer: by it the peer's network finds and checks the memory. It can be sent in a message.
type RemoteKey struct {
	Address uint64 // of the first byte, as the network has it
	Key     uint64
}

// RemoteOp is a put to, or a get from, memory of the peer.
type RemoteOp struct {
	Put    bool
	Buf    []byte // on the heap, or not Go's; at least one byte
	Key    RemoteKey
	Offset uint64 // from the first byte of the memory, in bytes; the caller has checked it
	// Done is called once, by any thread: a put is complete in the memory of the peer, the bytes of a get are in Buf, or
	// the error says that the peer is lost. The caller of Done holds locks of the link: Done must not call a link, or
	// wait. It may start o again later.
	Done func(error)
}
