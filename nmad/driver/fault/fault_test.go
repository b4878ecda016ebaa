package fault

import (
	"errors"
	"math/bits"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// around makes a link with faults around one end of a simulated one.
func around(t *testing.T, plan string) (l *Link, other *simnet.Link) {
	t.Helper()
	p, err := Parse(plan)
	if err != nil {
		t.Fatal(err)
	}
	a, b := simnet.Pair(simnet.Options{MaxBody: 100, Packets: 10, Large: 1000})
	return newLink(a, p, 0, 1, 1), b
}

func TestParse(t *testing.T) {
	got, err := Parse("seed=7, rank=1 refuse=0.25 short=1 delay=0.01:2ms stall=0:1s cut=push:1000 flip=seq:4 ring=10 trace=/tmp/x")
	want := Plan{
		Seed: 7, Rank: Only{true, 1}, Refuse: 0.25, Short: 1, Delay: Chance{0.01, 2 * time.Millisecond}, Stall: Chance{0, time.Second},
		Cut: Point{"push", 1000}, Flip: Point{"seq", 4}, Ring: 10, Trace: "/tmp/x",
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if p, err := Parse(" "); err != nil || p != (Plan{}) {
		t.Errorf("nothing: %+v, %v", p, err)
	}
	for _, bad := range []string{
		"seed", "seed=-1", "rank=x", "peer=-1", "refuse=2", "refuse=NaN", "short=", "delay=0.1", "delay=0.1:1h", "stall=x:1s",
		"cut=push", "cut=push:0", "cut=nowhere:1", "flip=push:1", "ring=0", "ring=99999999999", "trace=", "color=red", "=",
	} {
		_, err := Parse("seed=1 " + bad)
		if !errors.Is(err, driver.ErrConfig) || !strings.Contains(err.Error(), bad) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("seed=7 rank=1 refuse=0.25 delay=0.01:2ms cut=push:1000 flip=seq:4 ring=10")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err == nil {
			err = p.check()
		}
		if err != nil && !errors.Is(err, driver.ErrConfig) {
			t.Fatal(err)
		}
	})
}

func TestCheck(t *testing.T) {
	for _, p := range []Plan{
		{Refuse: -1}, {Short: 1.5}, {Delay: Chance{2, 0}}, {Stall: Chance{0, time.Hour}}, {Cut: Point{"nowhere", 1}}, {Flip: Point{"", 1}}, {Ring: -1},
	} {
		if _, err := (Driver{Inner: &simnet.Net{}, Plan: p}).Open(driver.Config{}); !errors.Is(err, driver.ErrConfig) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestByName: the driver as users write it.
func TestByName(t *testing.T) {
	inner := &simnet.Net{}
	if err := driver.Register(inner); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvFaults, "seed=9")
	d, err := driver.Lookup("fault:sim")
	if err != nil || d.Name() != "fault:sim" || d.(Driver).Plan.Seed != 9 {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = driver.Lookup("fault:fault:sim"); err != nil || d.Name() != "fault:fault:sim" {
		t.Errorf("%+v, %v", d, err)
	}
	for name, says := range map[string]string{
		"fautl:sim": `"fault"`, "fault:sin": `"sim"`, "fault:": "unknown", ":sim": "unknown",
		"fault:fault:fault:fault:fault:fault:sim": "at most",
	} {
		if _, err := driver.Lookup(name); !errors.Is(err, driver.ErrUnknown) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; should mention %s", name, err, says)
		}
	}
	t.Setenv(EnvFaults, "sed=9")
	if _, err := driver.Lookup("fault:sim"); !errors.Is(err, driver.ErrConfig) {
		t.Errorf("a wrong plan: %v", err)
	}
}

// play sends and pushes a fixed sequence and gives what became of it, without the times.
func play(t *testing.T, plan string) (events []Entry) {
	t.Helper()
	l, other := around(t, plan)
	buf, sink := make([]byte, 90), make([]byte, 200)
	var h driver.Header
	for i := range 400 {
		if _, err := l.Send(&driver.Header{Kind: 1, Body: 10, Seq: uint32(i)}, buf[:10], nil, false); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Push(buf); err != nil {
			t.Fatal(err)
		}
		if _, _, err := other.Recv(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Pull(sink); err != nil {
			t.Fatal(err)
		}
	}
	events, lost := l.Record()
	if lost != 0 {
		t.Fatalf("%d entries are lost", lost)
	}
	for i := range events {
		events[i].After = 0
	}
	return events
}

// TestSameSeed: a plan can be repeated.
func TestSameSeed(t *testing.T) {
	first := play(t, "seed=3 refuse=0.3 short=0.4")
	if again := play(t, "seed=3 refuse=0.3 short=0.4"); !reflect.DeepEqual(first, again) {
		t.Error("the same seed, and other faults")
	}
	if other := play(t, "seed=4 refuse=0.3 short=0.4"); reflect.DeepEqual(first, other) {
		t.Error("another seed, and the same faults")
	}
	count := map[Event]int{}
	short := 0
	for _, e := range first {
		count[e.Event]++
		if e.Event == Pushed && e.Header.Size < 90 {
			short++
		}
	}
	if n := count[Refused]; n < 150 || n > 330 {
		t.Errorf("%d of 800 calls were refused, a share of 0.3 was asked for", n)
	}
	if short < 40 || short > 200 {
		t.Errorf("%d of %d pushes were short, a share of 0.4 was asked for", short, count[Pushed])
	}
}

// TestOnly: elsewhere nothing goes wrong.
func TestOnly(t *testing.T) {
	for _, plan := range []string{"refuse=1 rank=1", "refuse=1 peer=0", "refuse=1 rank=0 peer=2"} {
		l, _ := around(t, plan)
		if ok, err := l.Send(&driver.Header{}, nil, nil, false); !ok || err != nil {
			t.Errorf("%s: %v, %v", plan, ok, err)
		}
	}
	l, _ := around(t, "refuse=1 rank=0 peer=1")
	if ok, err := l.Send(&driver.Header{}, nil, nil, false); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestRefusedIsNotForgotten: one that was refused here is told that there is room, and may
// sleep only when the link below has refused it.
func TestRefusedIsNotForgotten(t *testing.T) {
	l, _ := around(t, "refuse=1")
	if ok, err := l.Send(&driver.Header{}, nil, nil, false); ok || err != nil {
		t.Fatal(ok, err)
	}
	if !l.Arm(false) {
		t.Error("a sender that does not wait for room cannot sleep")
	}
	l.Disarm()
	if l.Arm(true) {
		t.Error("a sender that was refused for nothing may sleep")
	}
	l.plan.Refuse, l.plan.Short = 0, 1
	if n, err := l.Push(make([]byte, 50)); n == 50 || n == 0 || err != nil {
		t.Fatal(n, err)
	}
	if l.Arm(true) {
		t.Error("a sender that was cut short for nothing may sleep")
	}
}

func TestCut(t *testing.T) {
	t.Run("push", func(t *testing.T) {
		l, other := around(t, "cut=push:250")
		buf, got, total := make([]byte, 200), make([]byte, 1000), 0
		for {
			n, err := l.Push(buf)
			if total += n; err != nil {
				if !errors.Is(err, driver.ErrPeerLost) || strings.Contains(err.Error(), "\n") {
					t.Error(err)
				}
				break
			}
		}
		if n, _ := other.Pull(got); total != 250 || n != 250 {
			t.Errorf("%d bytes left, %d arrived, the cut is after 250", total, n)
		}
		if _, err := l.Send(&driver.Header{}, nil, nil, false); !errors.Is(err, driver.ErrPeerLost) {
			t.Errorf("Send: %v", err)
		}
		if _, err := l.Flush(); !errors.Is(err, driver.ErrPeerLost) {
			t.Errorf("Flush: %v", err)
		}
		if _, _, err := l.Recv(&driver.Header{}); !errors.Is(err, driver.ErrPeerLost) {
			t.Errorf("Recv: %v", err)
		}
		if l.Arm(false) || l.Arm(true) {
			t.Error("a lost link can be armed")
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := l.Push(buf); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
	t.Run("recv", func(t *testing.T) {
		l, other := around(t, "cut=recv:3")
		var h driver.Header
		for range 5 {
			if _, err := other.Send(&h, nil, nil, false); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 5 {
			if _, ok, err := l.Recv(&h); ok != (i < 3) || errors.Is(err, driver.ErrPeerLost) != (i >= 3) {
				t.Errorf("packet %d: %v, %v", i, ok, err)
			}
		}
	})
}

// TestFlip: one bit, of one field, of one packet.
func TestFlip(t *testing.T) {
	for _, field := range flips {
		l, other := around(t, "seed=5 flip="+field+":2")
		sent := driver.Header{Kind: 1, Flags: 2, Body: 3, Tag: 4, Size: 5, Cookie: 6, Seq: 7}
		for i := range 3 {
			if ok, err := other.Send(&sent, []byte{1, 2, 3}, nil, false); !ok || err != nil {
				t.Fatal(ok, err)
			}
			var got driver.Header
			if _, ok, err := l.Recv(&got); !ok || err != nil {
				t.Fatal(ok, err)
			}
			var a, b [driver.HeaderSize]byte
			sent.Put(a[:])
			got.Put(b[:])
			wrong := 0
			for j := range a {
				wrong += bits.OnesCount8(a[j] ^ b[j])
			}
			if want := map[bool]int{true: 1}[i == 1]; wrong != want {
				t.Errorf("%s: packet %d: %d bits are wrong, want %d", field, i, wrong, want)
			}
		}
	}
}

// TestSilence: what is there arrives, later, and one that polls again sees it.
func TestSilence(t *testing.T) {
	l, other := around(t, "delay=1:1ms")
	if _, err := other.Send(&driver.Header{Kind: 8}, nil, nil, false); err != nil {
		t.Fatal(err)
	}
	var h driver.Header
	if _, ok, err := l.Recv(&h); ok || err != nil {
		t.Fatal("it came at once:", ok, err)
	}
	if l.Arm(false) {
		t.Error("a sleeper would not be woken for it")
	}
	l.plan.Delay.Share = 1e-9 // no further silence
	for end := time.Now().Add(time.Minute); ; {
		if _, ok, err := l.Recv(&h); err != nil {
			t.Fatal(err)
		} else if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it never came")
		}
	}
}

// TestRecord: it is bounded, readable while it grows, and goes to a file.
func TestRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace")
	l, other := around(t, "ring=4 trace="+name)
	var h driver.Header
	for i := range 6 {
		if _, err := l.Send(&driver.Header{Kind: 1, Tag: 0xab, Size: 8, Seq: uint32(i), Body: 8}, make([]byte, 8), nil, false); err != nil {
			t.Fatal(err)
		}
		if _, _, err := other.Recv(&h); err != nil {
			t.Fatal(err)
		}
	}
	entries, lost := l.Record()
	if lost != 2 || len(entries) != 4 || entries[0].Header.Seq != 2 || entries[3].Header.Seq != 5 {
		t.Errorf("%d lost, %v", lost, entries)
	}
	for i := 1; i < len(entries); i++ {
		if entries[i].After < entries[i-1].After {
			t.Error("out of order")
		}
	}
	for range 2 { // the second one changes nothing
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(name + ".0-1.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 5 || !strings.Contains(lines[0], "2 before them were overwritten") ||
		!strings.Contains(lines[4], "sent     kind=1 tag=0xab size=8 body=8 cookie=0x0 seq=5") {
		t.Errorf("%s", text)
	}
	l, _ = around(t, "trace="+filepath.Join(name, "no", "folder"))
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), "cannot keep a record") {
		t.Errorf("a file that cannot be: %v", err)
	}
}
