//go:build !race && !portable

package nmad

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/internal/test/effort"
)

// countedVariable makes a process of this binary one whose instructions TestLockedInstructions counts: it has the kind
// of the process's domains, and how many messages go each way meanwhile.
const countedVariable = "PM2_TEST_COUNTED"

//go:noinline
func countFrom() { countMarks++ }

//go:noinline
func countTo() { countMarks++ }

var countMarks int // so that the marks are not empty

// TestCountedProcess is that process: two sessions over shm, a domain of each, and a thread on either side, of which one
// is looked at. It says which, and goes on when it is told to.
func TestCountedProcess(t *testing.T) {
	var kind string
	var messages int
	if _, err := fmt.Sscan(os.Getenv(countedVariable), &kind, &messages); err != nil {
		t.Skip("it is a part of TestLockedInstructions")
	}
	debug.SetGCPercent(-1)
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "shm" })
	c := DomainConfig{Number: 1, Progress: Explicit}
	for c.Access = Shared; c.Access.String() != kind; c.Access++ {
	}
	end := make(chan error)
	var answers atomic.Int64
	go func() {
		runtime.LockOSThread()
		g, err := gateOf(j.sessions[1], c, 0)
		var b [8]byte
		for err == nil && b[0] != 255 {
			r := g.Irecv(1, b[:])
			for over := false; !over; over, err = r.Test() { // it never sleeps
			}
			if err == nil {
				err = g.Send(1, b[:])
				answers.Add(1)
			}
		}
		end <- err
	}()
	runtime.LockOSThread()
	g, err := gateOf(j.sessions[0], c, 1)
	b := make([]byte, 8)
	sent := int64(0)
	exchange := func(n int) {
		for i := 0; i < n && err == nil; i++ {
			if err = g.Send(1, b); err == nil {
				// So that the receive need not wait, whatever else the machine does. What sleeps has no instruction to step through.
				for sent++; answers.Load() < sent; {
					_ = unix.Nanosleep(&unix.Timespec{Nsec: 20_000}, nil)
				}
				_, err = g.Recv(1, b)
			}
		}
	}
	exchange(2000)
	fmt.Println(unix.Gettid())
	_, _ = os.Stdin.Read(make([]byte, 1))
	countFrom()
	exchange(messages)
	countTo()
	b[0] = 255
	exchange(1)
	if err == nil {
		err = <-end
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func gateOf(s *Session, c DomainConfig, rank int) (*Gate, error) {
	d, err := s.Domain(c)
	if err != nil {
		return nil, err
	}
	return d.Gate(rank), nil
}

// TestLockedInstructions steps through the instructions of a thread that exchanges short messages over shm with one that
// polls, and counts those that lock the bus. In a private domain they are the driver's alone: a message that is sent
// becomes visible before its sender looks whether the receiver sleeps (a doorbell), and so does credit now and then.
// docs/domains.md has the figures.
func TestLockedInstructions(t *testing.T) {
	if !kernel.HasMembarrier() {
		t.Skip("without membarrier the owner's store is a locked one")
	}
	messages := effort.Choose(2, 3, 8)
	per := map[string]int{} // by kind, without the driver's
	for kind := Shared; kind <= Private; kind++ {
		at := step(t, kind.String(), messages)
		var text []string
		for name, n := range at {
			if !strings.HasPrefix(name, "shm.") {
				per[kind.String()] += n
			} else if n > messages {
				t.Errorf("%v: %d locked instructions of %s for %d messages", kind, n, name, messages)
			}
			text = append(text, fmt.Sprintf("%.1f in %s", float64(n)/float64(messages), name))
		}
		slices.Sort(text)
		t.Logf("%v: besides the driver's %.1f locked instructions for a message sent and one received: %s", kind, float64(per[kind.String()])/float64(messages), strings.Join(text, ", "))
	}
	if n := per["private"]; n != 0 {
		t.Errorf("private: %d locked instructions in %d messages each way", n, messages)
	}
	if per["shared"] == 0 {
		t.Error("a lock that is shared takes no locked instruction: this counts nothing")
	}
}

// step counts the locked instructions of such a process between its marks, by function.
func step(t *testing.T, kind string, messages int) map[string]int {
	t.Helper()
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestCountedProcess$")
	cmd.Env = append(os.Environ(), fmt.Sprint(countedVariable, "=", kind, " ", messages), "GODEBUG=asyncpreemptoff=1")
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	tid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.PtraceAttach(tid); err != nil {
		t.Skip("threads of other processes cannot be traced here: ", err)
	}
	var ws unix.WaitStatus
	wait := func() {
		if _, err := unix.Wait4(tid, &ws, unix.WALL, nil); err != nil || !ws.Stopped() {
			t.Fatalf("the traced thread is not stopped: %v, %v", ws, err)
		}
	}
	wait()
	if _, err := in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	from, to := uint64(reflect.ValueOf(countFrom).Pointer()), uint64(reflect.ValueOf(countTo).Pointer())
	at := map[string]int{}
	counts := false
	for steps := 0; steps < 5_000_000; steps++ {
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(tid, &regs); err != nil {
			t.Fatal(err)
		}
		switch regs.Rip {
		case from:
			counts = true
		case to:
			_ = unix.PtraceDetach(tid)
			return at
		}
		if counts {
			var code [8]byte
			if _, err := unix.PtracePeekText(tid, uintptr(regs.Rip), code[:]); err != nil {
				t.Fatal(err)
			}
			if locks(code[:]) {
				// A thread as slow as this one is preempted between messages: that is the runtime's.
				if name := function(uintptr(regs.Rip)); !strings.HasPrefix(name, "runtime.") && !strings.HasPrefix(name, "internal/runtime/") {
					at[name[strings.LastIndex(name, "/")+1:]]++
				}
			}
		}
		err = unix.PtraceSingleStep(tid) // what signals it got are lost: none is needed
		if err != nil {
			t.Fatal(err)
		}
		wait()
	}
	t.Fatal("the end does not come")
	return nil
}

// function is the one at an address, with the path of its package, into which others may be inlined.
func function(pc uintptr) string {
	return runtime.FuncForPC(runtime.FuncForPC(pc).Entry()).Name()
}

// locks says whether an instruction has the prefix LOCK, or is XCHG with memory, which needs none.
func locks(code []byte) bool {
	i := 0
	for prefix := true; prefix && i < 4; {
		switch b := code[i]; {
		case b == 0xf0:
			return true
		case b == 0x66, b == 0x67, b == 0xf2, b == 0xf3, b >= 0x40 && b <= 0x4f:
			i++
		default:
			prefix = false
		}
	}
	return (code[i] == 0x86 || code[i] == 0x87) && code[i+1]>>6 != 3
}
