// Package nmad passes messages between the processes of a job. It is written as
// ltasks of package pioman: communication goes on whenever a thread waits, a
// processor is idle, or time passes, while the program computes. Its
// layers and names are those of NewMadeleine (Aumage, Brunet, Furmento, Namyst:
// "NewMadeleine: a fast communication scheduling engine for high performance
// networks", 2007).
//
//	func main() {
//		_, err := pioman.Enable()                      // messages move while the program computes; else inside Wait only
//		job, err2 := nmad.Join(context.Background())   // this process and the others, as the launcher says
//		if err := errors.Join(err, err2); err != nil {
//			panic(err)
//		}
//		g := job.Gate(1 - job.Rank())                  // the way to the other one
//		in := make([]byte, 1<<20)
//		send, receive := g.Isend(7, make([]byte, 1<<20)), g.Irecv(7, in)
//		compute()                                      // both messages move meanwhile
//		err = errors.Join(send.Wait(), receive.Wait()) // polls a little, then blocks this thread only
//		fmt.Println(receive.Len(), err, job.Close())
//	}
//
//	go run ./cmd/demo run -n 2 ./program
//
// A request may also stand in a marcel.Select, beside a semaphore or a time limit: Request.Case.
//
// # The picture
//
//	 Isend Irecv Send Recv        any number of threads and goroutines
//	         │
//	┌────────▼─────────────── Gate, one per peer, one spin lock ────────────────┐
//	│ inbox: what others have left    waits: waiters    news: what is to tell   │
//	│ ┌──────────────────── internal/flow: the protocols ─────────────────────┐ │
//	│ │ messages, answers, credit   internal/match: posted ◀─▶ unexpected     │ │
//	│ └───▲───┬─────────────────────────────────────────────────────▲───┬─────┘ │
//	│ track: packets in and out                        rails: bytes in and out  │
//	└─────────┬─────────────────────────────────────────────────────▲───────────┘
//	   small track: packets in order, up to MaxBody     large tracks: bytes
//	         ▼ (first rail)                                          │ (all rails)
//	   driver.Link: shm, tcp, unix ...       pioman: ltask polls, Source sleeps
//
//	   control connection (internal/bootstrap): which processes leave and die
//
// Session keeps the table of gates, each of which is made when it is first asked for; the links of a gate are made when it first has something
// to send, or all when the job starts (linking.go, Config.Link, PM2_LINK); internal/bootstrap brings
// the processes together and watches over them; package launch starts them.
// The protocols know neither lock, network nor clock (internal/flow), nor does what pairs messages with receives (internal/match). The
// tests of gates run over internal/simnet, and testdata holds protocol scenarios to be read.
//
// # Sends and receives
//
// Isend, Irecv and their blocking forms are the short way. StartSend with a SendOp, and
// StartRecv with a RecvOp, start everything else there is, with a request of the caller's
// and without allocating:
//
//	synchronous             Sync, Issend           done only when the receive is posted
//	in parts                Parts, Pack, Unpack    [][]byte, never put together
//	described               Data, Vector           a column, a list: walked over while it moves
//	tag masks               Match                  the receive posted first gets the message,
//	any source              Session.StartRecv      whether it names tag and source or not
//	late choice of buffer   Choose, Claim          when it is known what has come
//	loans                   Alloc, Buffer, Loan    read where the sender has it, over shared memory
//	priority                Priority               under the strategy "priority"
//	callbacks               Done, Monitor          outside of all locks, one at a time per gate
//	completion queues       Queue                  in the order in which requests end
//
// A request is waited for by Wait, WaitContext, WaitAny, WaitAll, or stands in a
// marcel.Select (Request.Case). Iprobe and Probe look for messages without a receive, Peek also at
// their first bytes. Cancel takes a receive back: it says whether it has, and then nothing was received and
// the buffer is not touched any more.
//
// Starting never waits: a thread that finds the lock of the gate taken leaves the request for
// the holder (inbox.go). So it may be done in callbacks, which hooks may run.
//
// # The protocols
//
// A message of up to MaxBody bytes goes eagerly, in one packet, as long as the
// receiver has memory for it (internal/flow/credit.go). All others go by rendezvous:
//
//	sender                          receiver
//	  │ EAGER(tag, seq, body) ─────▶  │ posted: copied into its buffer, done
//	 done                             │ else: kept aside, unexpected
//
//	  │ RDV(tag, seq, size, cookie) ▶ │ posted, or as soon as it is:
//	  │ ◀─── RTR(cookie, offset, n, rail) │ in all min(size, room); one chunk, or several
//	  │ n bytes, large track ═══════▶ │ of that rail, straight into its buffer
//	 done                            done
//
// A message in memory of Gate.Alloc, over shared memory, is announced by LOAN, and a receive that takes
// loans reads it where it lies; internal/flow/lending.go has the protocol, buffer.go the states of a buffer:
//
//	 │ LOAN(tag, seq, size, cookie; where) ▶ │ takes loans: done, reads, releases
//	done ◀──────────────── RETURN(cookie)    │ else as after RDV
//
// Of a message in parts long pieces travel as they lie, short ones a tray full at a time (internal/flow/tray.go).
//
// A short send that finds the rail idle, no message before it and the lock free goes to the link at once: it meets neither the
// gate's queue nor the strategy (begin.go, sendNow). When a request ends, the holder of the gate's lock as a rule only
// writes the request's own word; it signals the pioman.Completion only for a waiter that is parked (request.go).
//
// EAGER and RDV carry the number of the message on its gate, so order per tag is
// that of the sends. The bytes of several rendezvous follow one another on each rail in
// the order of their RTRs. Short messages that wait for the network, or that threads send which
// were woken together (internal/flow/gather.go), may share a packet, an AGGREGATE, if the strategy wants
// it (package strategy, Config.Strategy, PM2_STRATEGY). Where each packet costs a system call those
// that wait leave in one (driver.Caps.Syscalls), and the announcement of a message that is posted while others are
// on their way waits for the next poll, so that many are announced at once (strategy.PutsOff).
// Up to which size that is worth it is sampled for each rail (threshold.go); what is short enough for
// it takes a way of its own inside the driver (driver.Caps.Short). Gate.Protocols and Gate.Exceptions,
// or demo explain-protocol, tell which message takes which protocol, and why. A
// synchronous send takes the rendezvous at any size. internal/flow/request.go draws the states of a request, mover.go those of
// a transfer, closing.go those of a gate. docs/wire.md has every frame.
//
// # Rails
//
// Two processes may be joined by several links, rails: PM2_DRIVER=tcp,tcp with
// PM2_LISTEN=10.0.0.1:0,10.1.0.1:0, or PM2_DRIVER=shm,tcp. All packets, and so all short
// messages, go over the first one, so that order costs nothing: the one named first, or, with a profile, that with the
// least latency; long messages are shared out
// over all of them by the receiver, as the strategy wants it (internal/flow/rendezvous.go): under
// split-balance, the default with several rails, so that all rails end together, by what they were measured to cost
// (Gate.Sample, Config.Profile) and by how they get on; under split-equal in equal shares;
// else each message whole, over the rail that ends it first. Gate.Rails tells who
// gets how much and why, where each rail lies and from which processors it is polled,
// Stats.Rails who got it. The loss of one rail is the loss of the peer.
//
// # Guarantees
//
//   - Between two processes, messages with the same tag are received in the order in
//     which they were sent, whatever their sizes. Other tags do not wait for them.
//   - A message longer than its buffer ends its receive with ErrTruncated and
//     damages nothing else. Empty messages work, and such above 2 GiB.
//   - Sending and receiving short messages allocates nothing in steady state (with
//     IsendInto, IrecvInto, Send, Recv), and so does a rendezvous.
//   - The memory for unexpected messages is bounded per peer (Config.Unexpected, and
//     Config.Announced records), by back-pressure that leaves every message within reach
//     of its receive.
//   - When a process dies, or its link breaks, exactly the requests of its gate fail,
//     with a PeerError that is ErrPeerLost and names the rank, at once, whether or not
//     anybody polls. What had arrived completely can still be received, unless it is behind a message with the same tag
//     that had not: no receive gets a message in the place of one that is lost. A peer that
//     breaks the protocol fails its gate with ErrProtocol; nothing that it sends
//     can make this process read or write outside its buffers.
//     What each operation waits for at most is in docs/bounds.md.
//   - After losses the processes that are left agree on what has succeeded, and on which of them
//     they are (Session.Agree, Session.Shrink, Gate.Err, Session.Failed): the answer is the same in
//     all, whichever processes die meanwhile, rank 0 included.
//   - A send that is done leaves its buffer to the caller, and all its bytes are with the kernel or in memory that
//     the peer reads: they arrive whether or not this process polls or waits any more (internal/flow/leaving.go). Only a send by a thread
//     of an engine that hooks poll may be done earlier, while its bytes are gathered for a packet (internal/flow/gather.go).
//   - Close waits for sends that are under way, within bounds; what was sent is
//     received by peers even if they post the receive later. It leaves
//     no goroutine and no descriptor behind.
//   - Nothing exported panics on bad input, nil and zero values included; a nil Pack, Unpack, Vector or
//     Profile is the caller's own, and touches nothing here. A callback or a Data that panics ends the program.
//
// Between the proof of the secret at the start and the end of the session, bytes on
// links are neither encrypted nor signed; control frames are signed.
//
// # Locks
//
// One spin lock per gate (Gate.mu). Nothing is locked inside it but the list of receives
// from any source (match.Any), the blocks of buffers (bufferPool.mu), the queue of callbacks that are owed (upcalls.mu), the pools of trays and
// walkers, and what the
// engine locks in Need, Done and Completion.Signal, none of which blocks or calls
// back. Pollers only try it. Copies over the large track are made without it.
// Session.mu is never held together with a gate's.
package nmad
