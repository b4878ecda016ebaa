// Package stress drives the scheduler with everything that threads can do at once and checks that nothing was lost,
// doubled, or left behind.
//
//	go test ./test/stress                            # 40,000 threads on 1 and on 2 VPs, 4,000 on 5; with -long 2.5 times as many
//	go test ./test/stress -count 20                  # the same twenty times
//	go test ./test/stress -short                     # fewer threads
//	go test ./test/stress -run Mix -threads 5000000 -vps 2 -timeout 1h
//	go test ./test/stress -run Mix -seed 42          # what a failure has printed
//
// The mix: threads spawned by threads and by goroutines yield, lock, wait for conditions, barriers and semaphores, wake
// each other across VPs, join and detach, grow their stacks, hold memory under a collector that runs all the time
// (GOGC=5 and forced), block with and without saying so (system calls, channels, sync.Mutex, time.Sleep), compute past
// their slice, panic and exit. What is checked:
//
//   - every thread began and unwound exactly once, in the way it was meant to;
//   - exclusion: plain counters behind a mutex lose no update, and never two are
//     inside;
//   - conservation: what goes into a queue comes out of it once, and a
//     semaphore's units are neither lost nor made;
//   - identity: Self stays the same over every switch, a bound thread stays on its VP,
//     a goroutine is never taken for a thread;
//   - a parked thread's stack and memory are what they were;
//   - after Stop no goroutine of the scheduler is left, no OS thread has a
//     narrowed mask or another policy, GOMAXPROCS is what it was; and the number
//     of OS threads does not grow from one scheduler to the next.
//
// The soak has fewer threads at a time, and all that package marcel offers:
//
//	go test ./test/stress -run Soak -v -soak 1h -timeout 0
//	go test ./test/stress -run Soak -seed 42 -actions "cancel|yield"
//
// In rounds of a fraction of a second it starts one or two schedulers, of 1, 2 or 4 VPs, with either policy, on
// machines real and synthetic, has threads and goroutines take steps of their choice (actions_test.go lists them) while
// VPs are disabled, threads suspended, moved and given other priorities, traces recorded and Stop called too early,
// then stops everything and does the accounts. A round that does not end in a minute ends the program with all there is
// to know. Memory and OS threads must not grow from round to round. Choices depend on the seed alone, their order does
// not.
//
// The storm is the soak with hundreds of threads at a time while the process is collected, profiled, traced, and given
// other numbers of Ps; in every other round the collector is off, since it would set free threads that the scheduler
// has left stopped:
//
//	go test ./test/stress -run Storm -v -storm 1h -timeout 0
//
// With the build tag chaos (sched/chaos.go) all of this runs on a scheduler whose queues begin with two places, whose
// thieves know no restraint, and whose switches check all that is known of those that take part:
//
//	go test -tags chaos ./test/stress
//
// The hand-off tests need no clock: what a stuck thread waits for is done by a thread behind it on the same VP, so that
// without a hand-off nothing would ever end. A watchdog then prints all stacks.
//
// A new Go release is fit for use when this package passes on it.
package stress
