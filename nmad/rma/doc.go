// Package rma gives the processes of a job one-sided access to each other's memory: put, get, atomics, and puts with
// a signal, without a call of the process whose memory it is.
//
//	func main() {
//		_, err := pioman.Enable() // from here on messages are answered while the program computes
//		job, err2 := nmad.Join(context.Background())
//		if err := errors.Join(err, err2); err != nil {
//			panic(err)
//		}
//		w, err := rma.Open(job) // all processes, as Alloc and Close
//		if err != nil {
//			panic(err)
//		}
//		s, err := w.Alloc(1 << 20) // a part each
//		if err != nil {
//			panic(err)
//		}
//		d, next := w.Default(), (w.Rank()+1)%w.Size()
//		err = d.PutSignal(s.At(next, 64), []byte("hello"), s.At(next, 0), rma.SignalAdd, 1)
//		_, err2 = d.WaitSignal(context.Background(), s.At(w.Rank(), 0), rma.GE, 1) // the bytes are there
//		fmt.Println(string(s.Bytes()[64:69]))
//		fmt.Println(errors.Join(err, err2, w.Close(), job.Close()))
//	}
//
//	origin                  target: byte 64 on     the word at byte 0      target's WaitSignal
//	PutSignal ---- bytes --> hello                  0                       waits
//	          ---- then --------------------------> 1 ------- wakes ------> returns
//
// # Ways
//
//	memory                                  put, get                           atomics, signals
//	own; mapped: Alloc, Make, same host     a copy by this core                the processor's instructions
//	Register, same host                     the kernel's copy, where allowed   messages
//	any other, over the driver ofi          the network's own, if long         messages
//	any other                               messages                           messages
//
// Access to mapped memory takes no lock, allocates nothing, and needs nothing of the target. A thread of the target
// that waits, or, once pioman is enabled, a hook answers messages. The semantics are the same either way; docs/rma.md
// has the memory model. Memory is mapped where messages of the host go through shared memory, too (auto, shm, ofi:shm).
// remoteWays (remote.go) has the protocol by which a network puts and gets by itself, and by which that ends.
//
// # Completion
//
// Put and PutSignal return when the put is remotely complete, Get and Fetch when the caller has the value. PutNB and
// GetNB (non-blocking) complete their Event. PutNBI, GetNBI, UpdateNBI, CombineNBI and CompareAndSwapNBI (implicit) are
// complete after the next Flush of that rank. Until they are complete such operations may take effect in any order; a
// Fence or Flush orders them: docs/rma.md.
//
// # By messages
//
// Requests and answers go in the contexts FirstContext to LastContext of the job's domain. A request is a head of 80
// bytes (wireRequest), with up to 8 KiB of a put behind it. The target posts receives from any source; their callbacks
// answer with a head of 64 bytes (wireReply), and behind it the bytes of a get, straight from memory. The bytes of a
// longer put follow as a message, which the target receives straight into memory. At most 64 operations of a process
// are under way at another one; more wait at their start. So 64 answers for each process bound the target's memory. The
// target checks key, range and alignment, and answers with a status; it drops the bytes of a long put that it refuses.
//
// # Sleeping for a signal
//
// A store by another process wakes no thread, so WaitSignal polls as all waits do. Then the thread sleeps, and says so
// in the word "sleeping" of its World's page, which the host's processes map:
//
//	waiter                                            signaler
//	1  sleeping++                                     1  data, then the word: a full fence
//	2  enters the list of sleepers                    2  looks at sleeping; not 0:
//	3  looks at the word once more; else sleeps       3  sends askWake, whose callback wakes all in the list
//	4  woken: leaves the list, sleeping--, polls
//
// Either the waiter's look sees the word, or the signaler's look sees sleeping. An askWake under way may have been
// handled already, so a signaler that finds one has another sent after it (waker). testdata/spin/signal.pml is the
// model. A signal by a message the target's own callback changes, which wakes the waiters. No other store wakes them.
//
// # Closing what the kernel copies
//
//	copier                                            owner, in Region.Close
//	1  a free hazard of its page = rank, index        1  live word of the region = 0
//	2  live word of the region is the key? copies     2  waits until no page of the host has a hazard of the region
//	3  hazard = 0                                     3  the memory is the caller's again
//
// Either the copier sees that the region is closed, or the owner sees the hazard (Michael, "Hazard pointers", 2004);
// testdata/spin/hazard.pml is the model. If a copier is taken for lost while it has a hazard of the region, the owner
// ends its process after a second: it may only be stopped, and write when it goes on.
//
// # Guarantees
//
//   - Other processes write only into memory that is open. After Region.Close, Segment.Free and World.Close none does.
//   - Where memory is mapped, operations need nothing of the target, and its death changes no bytes. Operations to a
//     process that was lost fail with a *nmad.PeerError, also where its memory is mapped; Local still returns the bytes.
//   - Atomics of all processes on a word come one after the other, whichever way they go.
//   - Callbacks (nmad.Operation.Done) and hooks may use mapped memory. They must not call what waits: operations by messages,
//     first uses of memory that is not from Alloc, Close.
//   - Nothing exported panics on bad input. Waits block the calling thread only. None is a cancellation point.
package rma
