// Package nmad passes messages between the processes of a job, which move while the program computes: whenever a thread
// waits, a processor is idle, or time passes, the progress engine (package pioman) runs nmad's tasks.
//
//	func main() {
//		_, err := pioman.Enable()                    // messages move while the program computes; else inside Wait only
//		job, err2 := nmad.Join(context.Background()) // this process and the others, as the launcher says
//		if err := errors.Join(err, err2); err != nil {
//			panic(err)
//		}
//		g := job.Gate(1 - job.Rank()) // the way to the other one
//		in := make([]byte, 1<<20)
//		send, receive := g.Isend(7, make([]byte, 1<<20)), g.Irecv(7, in)
//		compute()                                      // both messages move meanwhile
//		err = errors.Join(send.Wait(), receive.Wait()) // polls a little, then blocks this thread only
//		fmt.Println(receive.Len(), err, job.Close())
//	}
//
//	go run ./cmd/demo run -n 2 ./program
//
// Layers and names are those of NewMadeleine (Aumage, Brunet, Furmento, Namyst: "NewMadeleine: a fast communication
// scheduling engine for high performance networks", 2007).
//
//	 Isend Irecv Send Recv        any number of threads and goroutines
//	         │
//	┌────────▼─────────────── Gate, one per peer and domain, with its lock ─────┐
//	│ inbox: what others have left    toSignal: waiters    upcalls: callbacks   │
//	│ ┌──────────────────── internal/flow: the protocols ─────────────────────┐ │
//	│ │ messages, answers, credit   internal/match: posted ◀─▶ unexpected     │ │
//	│ └───▲───┬─────────────────────────────────────────────────────▲───┬─────┘ │
//	│ track: packets in and out                        rails: bytes in and out  │ ◀── Gate.tick: pioman's ltask polls
//	└─────────▲───────────────────────────────────────────────────▲─────────────┘ ◀── source.Arm: pioman's sleeper sleeps
//	   small track: packets in order, up to MaxBody     large tracks: bytes
//	          ▼ (first rail)                                      ▼ (all rails)
//	┌───────────────────── driver.Link, one per rail ───────────────────────────┐
//	│                        shm, tcp, unix ...                                 │
//	└───────────────────────────────────────────────────────────────────────────┘
//
//	   control connection (internal/roster): which processes leave and die
//
// # Sends and receives
//
// Isend, Irecv and their blocking forms are the short way. Post with an Operation starts everything else there is, with
// a request of the caller's and without allocating; Start with a new one:
//
//	what is sent
//	  in parts                Parts, Pack            [][]byte, never put together
//	  described               Data, Vector           a column, a list: walked over while it moves
//	  loans                   Alloc, Buffer, Loan    read where the sender has it, over shared memory
//	  buffered                Buffered, Attach       done at once; a copy waits in memory of the program's
//	  synchronous             Sync                   done only when the receive is posted
//	  priority                Priority               under the strategy "priority"
//	  over gates of its own   Session.Domain         for a thread that shares none with others
//	which message a receive takes
//	  tag masks               Match                  the receive posted first gets the message,
//	  any source              AnySource              whether it names tag and source or not
//	  late choice of buffer   Choose, Claim          when it is known what has come
//	how the program hears of the end
//	  callbacks               Done, Monitor          outside of all locks, one at a time per gate
//	  completion queues       Queue                  in the order in which requests end
//	  select                  Request.Case           beside a semaphore, a mailbox, a time limit
//
// Wait, WaitContext, WaitAny and WaitAll wait for requests. Iprobe and Probe look for messages without a receive, Peek
// also at their first bytes. Cancel takes a receive back. Starting never waits, and may be done in callbacks.
//
// No wait of this package is a cancellation point: a thread that is canceled (marcel.Thread.Cancel) first comes to the
// end of its wait, so that no request is left with a buffer on the stack of a thread that has gone. A context ends
// waits: WaitContext, WaitAny, WaitAll, Probe, Queue.WaitContext. A marcel.Select over Request.Case is a cancellation
// point; the requests go on.
//
// # Guarantees
//
//   - Between two processes, messages of one domain with the same tag are received in the order in which they were
//     sent, whatever their sizes. Other tags do not wait for them.
//   - A send that is done leaves its buffer to the caller, and the message arrives whether or not this process polls or
//     waits any more; but short messages of threads that hooks have woken may be done before their common packet leaves.
//   - A message longer than its buffer ends its receive with ErrTruncated and damages nothing else. Empty messages
//     work, and such above 2 GiB.
//   - Short messages and rendezvous allocate nothing in steady state (IsendInto, IrecvInto, Send, Recv).
//   - Memory for unexpected messages is bounded per peer (Config.Unexpected, Config.Announced).
//   - When a process dies, or its link breaks, exactly the requests of its gate fail, at once, with a PeerError that
//     names the rank. A peer that breaks the protocol fails its gate with ErrProtocol. How long each operation waits at
//     most is in docs/bounds.md.
//   - Close waits for sends that are under way, within bounds, and leaves no goroutine and no descriptor.
//   - Nothing exported panics on bad input. A callback or a Data that panics ends the program.
//
// The processes prove to each other that they know the job's secret. After that, bytes on links are neither encrypted
// nor signed; control frames are signed.
//
// README.md, beside the code, has the protocols, rails, the guarantees in full, and locks.
package nmad
