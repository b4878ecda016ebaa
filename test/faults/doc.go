// Package faults runs jobs of real processes, has one of them fail, and checks what becomes of the others.
//
//	go test ./test/faults                                   two rounds, 50 with -long
//	go test ./test/faults -campaign 300 -v -timeout 0       three hundred, and what each of them does
//	go test ./test/faults -campaign 1 -seed 1234 -v         one round again
//	go test ./test/faults -campaign 50 -fault kill -v       fifty with one kind of fault
//	go test ./test/faults -campaign 50 -driver unix -v      fifty over one network
//
// A round is a job of 2 to 8 ranks. Each is this test binary, started anew by package launch. All of them exchange
// messages with all: of 0 bytes to some MiB, in parts, described, lent, synchronous, probed for, canceled, waited for
// with a time limit; in half of the rounds also through one or two domains beside the job, of a kind that is drawn for
// each rank, private and with workers among them, which it closes when it is through; and in half of them they take
// part in collective operations of nmad/mpi. At a random moment one rank, the victim, meets its fault. Beside
// the messages a round may have one theme, or both (-theme one-sided, active, all, none); each is in half of the
// rounds:
//
//   - one-sided: each rank opens an rma.World, and gets memory of all kinds (Alloc, Make, Register). It puts blocks to all
//     ranks at odd places and in all ways there are; the target looks at each block, takes it away and acknowledges it.
//     Ranks get blocks back, and bytes that stay; they draw tickets, add, exchange. Around each block are bytes
//     that nothing may write, the canaries.
//   - active: each rank opens an am.World, sends requests to all through the default domain and one of its own, floods
//     them, has them answer by handlers, and calls functions of theirs: that return, fail, panic, call back, wait until
//     they are given up.
//
// The fault:
//
//	  the test                       the job
//	┌──────────┐  launch.Start   ┌────────┐ messages ┌────────┐
//	│ plan     ├────────────────▶│ rank 0 │◀────────▶│ rank 1 │ ...   shm, tcp, unix, rails; callers and engines of all kinds
//	│ fault ───┼── SIGKILL, SIGSTOP, prlimit, cgroup, ip link ──▶ victim
//	│ judge    │◀── accounts ────┤        │          │        │
//	└──────────┘                 └────────┘          └────────┘
//
//	none      nothing happens
//	kill      SIGKILL
//	pause     SIGSTOP, and SIGCONT before half a heartbeat is over
//	stop      SIGSTOP, and SIGCONT after more than a heartbeat
//	freeze    SIGSTOP, for good
//	load      other processes compute on the victim's processor
//	drag      its links are slow: driver fault:NAME with delays, stalls, refusals
//	cut       its links break one after the other: driver fault:NAME with cuts
//	flap      its host's network device goes down, and up a moment later
//	outage    the same, and up after more than a heartbeat
//	unplug    the same, for good
//	memory    its address space may not grow any more (RLIMIT_AS)
//	cgroup    its memory may not grow any more (control group): the kernel may kill it
//	files     its descriptors are used up from outside (RLIMIT_NOFILE)
//	hoard     it opens files until there are no more descriptors
//
// Flap, outage and unplug put the victim into a network name space of its own, on the far end of a virtual Ethernet
// pair. Where that is forbidden such a round is one of cut; where control groups are, a round of cgroup is one of
// memory. The report says how often.
//
// # What is checked
//
//   - Each request of each other rank ends, with success or with an error that is ErrPeerLost and names the victim. It ends
//     within the bound that the table in bounds_linux_test.go has for the fault and the kind of request. The bounds are
//     those of docs/bounds.md. As machines are shared, a bound is multiplied by -slack, and a second is added.
//   - A collective operation that fails does so within the same bound, at all ranks that wait for one that is lost. The
//     survivors revoke the communicator, shrink it, and go on in the smaller one.
//   - A block that is signaled is there, whole and at its place only. What is got is what was put. Of a rank that is lost
//     any part of its last block may have come, and no byte beside it. Tickets are given once each. The words with which
//     all ranks count have what those that live have counted, and of the lost ones at most what they were to count. After
//     memory is closed nothing is written there.
//   - Requests of a stream are handled once each and in order, and answered once each; all that those have sent that live
//     comes. Functions whose callers give up, or are lost, hear of it.
//   - What has failed because a rank was lost goes on to fail so.
//   - Between two survivors nothing fails, and after the fault they exchange a second helping of messages.
//   - Every byte that has arrived is right, and messages of one tag come in order. After a failed receive nothing is
//     written into its buffer, and no later message comes in its place.
//   - Where the fault allows the victim to live, nothing fails at all (none, pause, flap, load, drag), or its own requests
//     end, too.
//   - Close returns within its bound, also with requests under way. Then a rank has no goroutine in nmad or its drivers, no
//     descriptor and no memory of other processes that it had not had before.
//   - Of the job nothing is left: no process, no file in /dev/shm or in the directory for temporary files.
//
// A rank that the machine does not let run for half a heartbeat may be taken for lost. Each rank notes how late it is
// woken; a round in which survivors lose each other, or something takes too long, and one of them was so late says
// nothing about nmad, and is counted as void. What else is wrong counts.
//
// All decisions come from the seed of the round, which is printed, with the command that repeats it, when something is
// wrong. What the schedulers of the machine decide is not repeated. A round that does not end within -limit shows the
// stacks of all ranks, and fails. Each rank says four times a second that it lives; one that was not hit and says
// nothing for -stands shows what its OS threads and its goroutines do, and the round is wrong.
package faults
