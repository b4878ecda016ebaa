// Package nmad passes messages between the processes of a job. It is written as
// ltasks of package pioman: communication goes on whenever a thread waits, a
// processor is idle, or time passes, while the program computes. Its
// layers and names are those of NewMadeleine (Aumage, Brunet, Furmento, Namyst:
// "NewMadeleine: a fast communication scheduling engine for high performance
// networks", 2007).
//
//	job, err := nmad.Join(ctx)          // who am I, who are the others
//	g := job.Gate(1)                    // the way to rank 1
//	r := g.Isend(tag, buf)              // starts now, progresses while we compute
//	n, err := g.Recv(tag, other)        // waits for a message of rank 1
//	err = r.Wait()                      // polls a little, then blocks this thread only
//	i := marcel.Select(r.Case(), stop)  // or whichever comes first: a message, a semaphore, a time limit...
//	err = job.Close()
//
// # The picture
//
//	 Isend Irecv Send Recv        any number of threads and goroutines
//	         │
//	┌────────▼──────────────── Gate, one per peer, one spin lock ───────────────┐
//	│ collect    sender.queue      posted ◀─match─▶ unexpected      (by tag)    │
//	│ optimise   drain: answers, credit, messages  (the place for strategies)   │
//	│ transfer   transmit ── receive ── pushes and pulls (movers)               │
//	└────────┬───────────────────────────────────────────────────────▲──────────┘
//	   small track: packets in order, up to MaxBody     large track: bytes
//	         ▼                                                       │
//	   driver.Link: shm, tcp, ...            pioman: ltask polls, Source sleeps
//
//	   control connection (internal/bootstrap): who leaves, who has died
//
// Session opens the links and keeps the table of gates; internal/bootstrap brings
// the processes together and watches over them; package launch starts them.
// The core (gate, sender, receiver, match, credit, rendezvous, mover, progress)
// knows neither network nor clock: its tests run over internal/simnet, and
// testdata holds protocol scenarios to be read.
//
// # The protocols
//
// A message of up to MaxBody bytes goes eagerly, in one packet, as long as the
// receiver has memory for it (credit.go). All others go by rendezvous:
//
//	sender                          receiver
//	  │ EAGER(tag, seq, body) ─────▶  │ posted: copied into its buffer, done
//	 done                             │ else: kept aside, unexpected
//
//	  │ RDV(tag, seq, size, cookie) ▶ │ posted, or as soon as it is:
//	  │ ◀──────────── RTR(cookie, n)  │ n = min(size, room)
//	  │ n bytes, large track ═══════▶ │ straight into its buffer
//	 done                            done
//
// EAGER and RDV carry the number of the message on its gate, so order per tag is
// that of the sends. The bytes of several rendezvous follow one another in the
// order of their RTRs. request.go draws the states of a request, mover.go those of
// a transfer, closing.go those of a gate. docs/wire.md has every frame.
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
//     anybody polls. What had arrived completely can still be received. A peer that
//     breaks the protocol fails its gate with ErrProtocol; nothing that it sends
//     can make this process read or write outside its buffers.
//   - Close waits for sends that are under way, within bounds; what was sent is
//     received by peers even if they post the receive later. It leaves
//     no goroutine and no descriptor behind.
//   - Nothing exported panics on bad input.
//
// Between the proof of the secret at the start and the end of the session, bytes on
// links are neither encrypted nor signed; control frames are signed.
//
// # Locks
//
// One spin lock per gate (Gate.mu). Nothing is locked inside it but what the
// engine locks in Need, Done and Completion.Signal, none of which blocks or calls
// back. Pollers only try it. Copies over the large track are made without it.
// Session.mu is never held together with a gate's.
package nmad
