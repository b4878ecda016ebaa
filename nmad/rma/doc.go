// Package rma gives the processes of a job one-sided access to each other's memory: put, get, atomics, and puts with
// a signal, without a call of the process whose memory it is.
//
//	job, err := nmad.Join(context.Background())
//	w, err := rma.Open(job)            // all processes
//	s, err := w.Alloc(1 << 20)         // all processes: a part each
//	d := w.Default()
//	next := (w.Rank() + 1) % w.Size()
//	err = d.PutSignal(s.At(next, 64), []byte("hello"), s.At(next, 0), rma.SignalAdd, 1)
//	_, err = d.WaitSignal(ctx, s.At(w.Rank(), 0), rma.GE, 1) // the bytes are there
//	fmt.Println(string(s.Bytes()[64:69]))
//	err = w.Close()                    // all processes
//
// # Ways
//
//	memory                                  put, get                           atomics, signals
//	own; mapped: Alloc, Make, same host     a copy by this core                the processor's instructions
//	Register, same host                     the kernel's copy, where allowed   messages
//	all other                               messages                           messages
//
// What is mapped takes no lock, no allocation and no part of the other process. Messages are answered by the engine
// of the target (pioman): by its hooks, once it is enabled, or by any thread of it that waits. What goes by messages
// has the same semantics; docs/rma.md has the memory model. Memory is mapped where messages between the processes of
// the host go through shared memory, too (drivers auto and shm).
//
// # Completion
//
// Put, Get, Fetch and PutSignal return when they are remotely complete. PutNB and GetNB end events; PutNBI, GetNBI,
// Post and Combine end by Flush. Fence orders. Operations without a fence or a flush between them may come in any
// order, those by messages do.
//
// # By messages
//
// In contexts FirstContext to LastContext of the job's domain. A request is a head of 80 bytes (request), with up to
// 8 KiB of a put behind it; any-source receives take it in, and their callbacks answer by the request's number: a
// head of 64 bytes (reply), and behind it the bytes of a get, straight from where they are. A longer put follows as a
// message of its own, which the target receives straight to where it goes. At most 64 operations of a process are
// under way at another one; more wait at their start. The target has as many answers for each process, so none makes
// it use more memory. It looks at key, range and alignment of each; what is wrong is answered with a status, and a
// long put that was refused is dropped.
//
// # Sleeping for a signal
//
// A store by another process tells none, so WaitSignal polls as all waits do, and then, by the word "sleeping" of its
// World's page, which the host's processes map:
//
//	waiter                                            signaller
//	1  sleeping++                                     1  data, then the word: a full fence
//	2  stands in the list of sleepers                 2  looks at sleeping; not 0:
//	3  looks at the word once more; else sleeps       3  sends askWake, whose callback wakes all in the list
//	4  woken: leaves the list, sleeping--, polls
//
// Either the waiter's look sees the word, or the signaller's look sees sleeping. A message that is not done may have
// come already, so a signaller that finds one sends another after it (waker). testdata/spin/signal.pml is the model.
// Signals by messages the target's own callback changes, and wakes. Only signals wake.
//
// # Closing what the kernel copies
//
//	copier                                            owner, in Region.Close
//	1  a free hazard of its page = rank, index        1  live word of the region = 0
//	2  live word of the region is the key? copies     2  looks at the hazards of all: waits for its own marks
//	3  hazard = 0                                     3  the memory is the caller's again
//
// Either the copier sees that the region is closed, or the owner sees the hazard (Michael, "Hazard pointers", 2004);
// testdata/spin/hazard.pml. A copier that is taken for lost with a hazard of the region is ended after a second: it
// may only have been stopped.
//
// # Guarantees
//
//   - No process writes here but where memory is open. After Region.Close, Segment.Free and World.Close none does.
//   - Nothing of the target is needed where memory is mapped; its death changes no bytes there. Operations to a
//     process that was lost fail with a *nmad.PeerError, also where it is mapped; Local goes on to give its bytes.
//   - Atomics of all processes on a word come one after the other, whichever way they go.
//   - Callbacks (nmad.Op.Done) and hooks may use what is mapped, but not what waits: operations by messages, first
//     uses of memory that is not from Alloc, Close.
//   - Nothing exported panics on bad input. Waits block the calling thread only. None is a cancellation point.
package rma
