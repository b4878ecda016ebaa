package idle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	_ "github.com/pm2-go/pm2/nmad/driver/shm"
	_ "github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/pioman"
)

// A scenario is what a process of the test does, as its parent hands it over in
// scenarioVariable.
type scenario struct {
	Driver   string        // "shm", "tcp"; empty: no session at all
	Hooks    bool          // the engine hangs on the scheduler's hooks
	Receives int           // pending while the process is watched
	Blocked  int           // threads that wait in the kernel by marcel.Blocking
	Stuck    int           // threads that wait in a channel, without saying so
	Sockets  int           // TCP connections, each with a receive pending; without a session
	Window   time.Duration // how long it is watched
	Spin     bool          // compute all the time, to see that this is noticed
}

// usage is what a process says about itself.
type usage struct {
	CPU  time.Duration // of all threads, user and system
	Wall time.Duration
}

const (
	scenarioVariable = "PM2_IDLE_SCENARIO"
	settle           = 500 * time.Millisecond // from the receives to the watching
	lifetime         = 2 * time.Minute        // of a process whose parent has gone
)

// asChild runs the scenario if this process was started for one.
func asChild() {
	text := os.Getenv(scenarioVariable)
	if text == "" {
		return
	}
	time.AfterFunc(lifetime, func() {
		fmt.Fprintln(os.Stderr, "still there after", lifetime)
		os.Exit(3)
	})
	var s scenario
	err := json.Unmarshal([]byte(text), &s)
	var u usage
	if err == nil {
		marcel.Run(func() { u, err = s.run() })
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(u)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run is a thread.
func (s scenario) run() (u usage, err error) {
	if s.Hooks {
		stop, err := pioman.Enable()
		if err != nil {
			return u, err
		}
		defer stop()
	}
	free, err := s.hold()
	if err != nil {
		return u, err
	}
	defer free()
	if s.Driver == "" {
		return s.alone()
	}
	job, err := nmad.Join(context.Background())
	if err != nil {
		return u, err
	}
	defer func() {
		if e := job.Close(); err == nil {
			err = e
		}
	}()
	peer := job.Gate(1 - job.Rank())
	if err := exchange(peer, 0); err != nil { // both are there, and the link works
		return u, err
	}
	results := make([]error, s.Receives)
	threads := make([]marcel.Thread, s.Receives)
	for i := range threads {
		threads[i] = marcel.Spawn(func() { results[i] = receive(peer, uint64(1+i)) })
	}
	marcel.Sleep(settle)
	u = s.watch()
	for i := range threads {
		if err := peer.Send(uint64(1+i), message(uint64(1+i))); err != nil {
			return u, fmt.Errorf("send to a process that was idle: %w", err)
		}
	}
	for i, t := range threads {
		if err := t.Join(); err != nil {
			return u, err
		}
		if results[i] != nil {
			return u, results[i]
		}
	}
	return u, exchange(peer, 0)
}

// alone is a process without a session.
func (s scenario) alone() (u usage, err error) {
	check := func() error { return nil }
	if s.Sockets > 0 {
		var free func()
		if check, free, err = pend(s.Sockets); err != nil {
			return u, err
		}
		defer free()
	}
	marcel.Sleep(settle)
	u = s.watch()
	return u, check()
}

// hold lets threads block until free is called, which waits for their end.
func (s scenario) hold() (free func(), err error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	gate := make(chan bool)
	var threads []marcel.Thread
	for range s.Blocked {
		threads = append(threads, marcel.Spawn(func() {
			marcel.Blocking(func() {
				var b [1]byte
				for {
					if _, err := unix.Read(pipe[0], b[:]); err != unix.EINTR {
						return
					}
				}
			})
		}))
	}
	for range s.Stuck {
		threads = append(threads, marcel.Spawn(func() { <-gate }))
	}
	return func() {
		close(gate)
		unix.Close(pipe[1]) // ends the reads
		for _, t := range threads {
			_ = t.Join() // no Attr.Catch: always nil
		}
		unix.Close(pipe[0])
	}, nil
}

// watch measures what the process uses while this thread sleeps.
func (s scenario) watch() usage {
	began, before := time.Now(), used()
	if s.Spin {
		for time.Since(began) < s.Window {
		}
	} else {
		marcel.Sleep(s.Window)
	}
	return usage{CPU: used() - before, Wall: time.Since(began)}
}

// used is the CPU time of all threads of this process.
func used() time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// message is what travels under a tag: of several sizes, so that also a rendezvous
// waits.
func message(tag uint64) []byte {
	size := 1
	if tag%2 == 0 {
		size = 1 << 20
	}
	return bytes.Repeat([]byte{byte(tag + 1)}, size)
}

func receive(g *nmad.Gate, tag uint64) error {
	want := message(tag)
	got := make([]byte, len(want))
	n, err := g.Recv(tag, got)
	if err != nil {
		return fmt.Errorf("receive under tag %d: %w", tag, err)
	}
	if n != len(want) || !bytes.Equal(got, want) {
		return fmt.Errorf("received %d bytes under tag %d that are not what was sent", n, tag)
	}
	return nil
}

// exchange sends one message and receives one.
func exchange(g *nmad.Gate, tag uint64) error {
	r := g.Isend(tag, message(tag))
	if err := receive(g, tag); err != nil {
		return err
	}
	return r.Wait()
}
