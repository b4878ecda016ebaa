// Package pio is input and output through the progress engine: sockets and pipes whose operations block the thread that
// calls them and nothing else.
//
//	stop, err := pioman.Enable()       // idle VPs poll
//	l, err2 := pio.Listen("tcp", ":0") // loopback, unless a host is given
//	if err := errors.Join(err, err2); err != nil {
//		panic(err)
//	}
//	answer := marcel.Spawn(func() {
//		c, _ := l.AcceptConn() // other threads of this VP run on
//		_, _ = io.Copy(c, c)
//		_ = c.Close()
//	})
//	c, _ := pio.Dial("tcp", l.Addr().String())
//	fmt.Fprint(c, "hello")
//	_, _ = c.Read(make([]byte, 5))
//	fmt.Println(c.Close(), answer.Join(), l.Close())
//	stop()
//
// The folder is called io, the package pio, so that it can stand beside package io: import pio
// "github.com/pm2-go/pm2/pioman/io". Conn is a net.Conn, Listener a net.Listener; both work for marcel's threads and
// for plain goroutines. The kernel announces nothing of files on disks: a thread reads and writes them by package os,
// within marcel.Blocking. The package answers PIOMan's I/O interface (Trahay & Denis, 2009), and is there for programs
// that come from PIOMan.
//
// # How a read waits
//
//	 thread                          the reactor's one task                kernel
//	───────                         ────────────────────────              ──────
//	clear ready
//	read(2): EAGAIN
//	first time: epoll_ctl ────────────────────────────────────────▶ watched, edge triggered
//	Completion.Wait for ready:
//	  5 us of polling ────────▶ epoll_wait(0) ◀───────────────────── an edge
//	  then asleep; idle VPs,      Signal ready ──▶ the thread goes on: clear ready, read(2)
//	  switch and timer hooks
//	  poll
//	no thread is ready ───────▶ the engine's sleeper: the reactor's epoll
//	                            descriptor is its one Source, inside the
//	                            engine's own epoll
//
// direction.go says why no edge gets lost. A reactor calls epoll_wait only while a thread waits for one of its
// descriptors: otherwise its task is one load. For the engine any number of descriptors is one task and one source. An
// operation that need not wait is one system call, without epoll.
//
// # Closing
//
// Close ends all waits with net.ErrClosed, waits until all operations have left, and only then closes the descriptor:
// no operation can meet another file under the same number (internal/shelf, Uses). An event that the kernel has
// reported before finds no descriptor, or makes the user of the next one with that number try once more.
//
// # Guarantees
//
//   - Read, Write, Readv and Writev allocate nothing in steady state.
//   - A wait blocks its thread alone: no VP, and no OS thread each.
//   - With operations that only wait, no CPU is used, whatever their number.
//   - A wait for the kernel is a cancellation point (marcel.Thread.Cancel); a wait behind another Read or Write of the
//     same descriptor is none. A canceled Write may have written a part; a canceled Read loses no bytes.
//   - Deadlines and Close end operations in progress; Close returns with the descriptor closed.
//   - Reads of one descriptor take turns, and so do writes: each is whole.
//   - A waiter holds no lock but that of its direction of the descriptor.
//
// With the engine explicit (pioman.Enable not called) everything works, too: waiters poll, for up to 1.5 ms, and then
// one of them sleeps in the kernel for all.
package pio
