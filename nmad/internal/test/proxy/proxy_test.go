package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

func TestParse(t *testing.T) {
	const text = "seed=7 short=0.25 delay=0.01:2ms connection=2 flip=up:1000:4 drop=down:#3+9:16 cut=up:5 wait=down:7:20ms quiet=300ms last=1s strangers=3 play=2 rights=lose scribble=20:1ms"
	got, err := Parse(strings.ReplaceAll(text, " flip", ", flip"))
	want := Plan{
		Seed: 7, Short: 0.25, Delay: fault.Chance{Share: 0.01, For: 2 * time.Millisecond}, Connection: 2,
		Edits: []Edit{{Kind: "flip", At: 1000, Size: 4}, {Kind: "drop", Down: true, Packet: 3, At: 9, Size: 16}, {Kind: "cut", At: 5}, {Kind: "wait", Down: true, At: 7, For: 20 * time.Millisecond}},
		Quiet: 300 * time.Millisecond, Last: time.Second, Strangers: 3, Play: 2, Rights: "lose", Scribble: Spoil{20, time.Millisecond},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if got.String() != text {
		t.Errorf("written as %q, was %q", got, text)
	}
	for _, bad := range []string{
		"flip=up:1000", "flip=aside:1:1", "flip=up:0:1", "flip=up:1:0", "flip=up:1:5000", "flip=up:#0+1:1", "flip=up:#1:1", "cut=up:1:1", "wait=up:1", "wait=up:1:1h",
		"end=", "quiet=0s", "last=1h", "strangers=0", "play=x", "rights=some", "scribble=1", "scribble=1:1ns", "connection=-1", "short=2", "delay=1", "seed=x", "refuse=1",
	} {
		_, err := Parse("seed=1 " + bad)
		if !errors.Is(err, driver.ErrConfig) || !strings.Contains(err.Error(), bad) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, p := range []Plan{
		{Short: -1}, {Edits: []Edit{{Kind: "burn", At: 1}}}, {Edits: []Edit{{Kind: "flip", At: 1}}}, {Edits: []Edit{{Kind: "cut", At: 1, Size: 2}}},
		{Quiet: time.Hour}, {Rights: "all"}, {Scribble: Spoil{Words: 1}}, {Strangers: -2},
	} {
		if _, err := New(Config{Target: "127.0.0.1:1", Plan: p}); !errors.Is(err, driver.ErrConfig) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, c := range []Config{{}, {Target: "@x", Listen: "127.0.0.1:0"}} {
		if _, err := New(c); !errors.Is(err, driver.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("seed=7 short=0.25 flip=up:1000:4 drop=down:#3+9:16 wait=down:7:20ms scribble=20:1ms")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err == nil {
			err = p.check()
		} else if !errors.Is(err, driver.ErrConfig) {
			t.Fatal(err)
		}
		if again, err2 := Parse(p.String()); err == nil && (err2 != nil || !again.equal(p)) {
			t.Fatalf("%q is written as %q: %v", text, p, err2)
		}
	})
}

// edited passes a stream through an editor, in blocks, up to what ends it.
func edited(t *testing.T, plan string, stream []byte, size int) (out []byte, log []*Alteration) {
	t.Helper()
	p, err := Parse(plan)
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{edits: p.of(1, false), dice: rand.New(rand.NewPCG(p.Seed, 0)), note: func(a *Alteration) { log = append(log, a) }}
	e.track.start()
	for b := stream; len(b) > 0; {
		n, v := e.edit(b[:min(size, len(b))])
		b = b[n:]
		if v.cut || v.end {
			return e.out, log
		}
	}
	e.release()
	return e.out, log
}

// packets is what a dialer says over tcp: its hello, a proof, and packets of kind 1 and 2, in turn, of which the first
// kind has bodies.
func packets(bodies ...string) []byte {
	hello := make([]byte, driverAt)
	hello = append(hello, 3)
	hello = append(hello, "tcp\x00"...)
	b := meet.AppendFrame(nil, 0xA1, hello)
	b = meet.AppendFrame(b, 0xA2, bytes.Repeat([]byte{'p'}, 33))
	for i, body := range bodies {
		h := driver.Header{Kind: uint8(1 + i%2), Body: uint32(len(body)), Seq: uint32(i)}
		b = append(b, make([]byte, driver.HeaderSize)...)
		h.Put(b[len(b)-driver.HeaderSize:])
		b = append(b, body...)
	}
	return b
}

func TestEdits(t *testing.T) {
	stream := packets("first body", "", "third body", "")
	start := len(packets()) // of the first packet
	at := func(n int) string { return fmt.Sprint(start + n + 1) }
	first := start + 32
	third := first + 10 + 32 + 32
	for _, c := range []struct {
		plan   string
		want   func(b []byte) []byte
		places map[string]int
		proven bool
	}{
		{"drop=up:" + at(32+2) + ":3", func(b []byte) []byte { return append(b[:first+2], b[first+5:]...) }, map[string]int{"body of kind 1": 3}, true},
		{"drop=up:#3+33:10", func(b []byte) []byte { return append(b[:third], b[third+10:]...) }, map[string]int{"body of kind 1": 10}, true},
		{"drop=up:1:2", func(b []byte) []byte { return b[2:] }, map[string]int{"hello": 2}, false},
		{"repeat=up:#1+33:4", func(b []byte) []byte {
			return append(b[:first], append(bytes.Clone(b[first-4:first]), b[first:]...)...)
		}, map[string]int{"body of kind 1": 4}, true},
		{"swap=up:#1+33:4", func(b []byte) []byte {
			copy(b[first:], "t bofirsdy")
			return b
		}, map[string]int{"body of kind 1": 8}, true},
		{"swap=up:#4+31:4", func(b []byte) []byte { return b }, map[string]int{"header seq of kind 2": 2}, true},
		{"cut=up:" + at(0), func(b []byte) []byte { return b[:start] }, map[string]int{"header kind": 1}, true},
		{"end=up:#2+17", func(b []byte) []byte { return b[:first+10+16] }, map[string]int{"header size of kind 2": 1}, true},
		{"drop=up:#9+1:5 drop=down:1:5 drop=up:100000:1", func(b []byte) []byte { return b }, nil, false},
	} {
		for _, size := range []int{len(stream), 1, 7, 33} {
			got, log := edited(t, c.plan, bytes.Clone(stream), size)
			if want := c.want(bytes.Clone(stream)); !bytes.Equal(got, want) {
				t.Errorf("%s, in blocks of %d: %q, want %q", c.plan, size, got, want)
			}
			if c.places == nil && len(log) == 0 {
				continue
			}
			if len(log) != 1 || !reflect.DeepEqual(log[0].Places, c.places) || log[0].Proven != c.proven {
				t.Errorf("%s, in blocks of %d: %+v, want %v", c.plan, size, log, c.places)
			}
		}
	}
	got, log := edited(t, "seed=5 flip=up:#1+29:6", bytes.Clone(stream), 9)
	wrong := 0
	for i := range got {
		if d := got[i] ^ stream[i]; d != 0 {
			if wrong++; i < first-4 || i >= first+2 || d&(d-1) != 0 {
				t.Errorf("byte %d differs by %#x", i-start, d)
			}
		}
	}
	if wrong != 6 || len(log) != 1 || !reflect.DeepEqual(log[0].Places, map[string]int{"header seq of kind 1": 4, "body of kind 1": 2}) {
		t.Errorf("%d bytes are wrong, %+v", wrong, log)
	}
	got, _ = edited(t, "seed=5 invent=up:#1+1:100", bytes.Clone(stream), 9)
	again, _ := edited(t, "seed=5 invent=up:#1+1:100", bytes.Clone(stream), 1000)
	other, _ := edited(t, "seed=6 invent=up:#1+1:100", bytes.Clone(stream), 9)
	if len(got) != len(stream)+100 || !bytes.Equal(got[:start], stream[:start]) || !bytes.Equal(got[start+100:], stream[start:]) {
		t.Errorf("invented: %q", got)
	}
	if !bytes.Equal(got, again) || bytes.Equal(got, other) {
		t.Error("the same seed, and other bytes; or another one, and the same")
	}
}

// FuzzEditor: whatever is edited, and in whatever blocks it comes, all of it comes out but for what was edited.
func FuzzEditor(f *testing.F) {
	f.Add("flip=up:3:4 swap=up:100:5", packets("abc", "", "def"), uint8(7))
	f.Add("repeat=up:#1+1:9 drop=up:#2+3:4", packets("abc", "", "def"), uint8(1))
	f.Fuzz(func(t *testing.T, plan string, stream []byte, size uint8) {
		p, err := Parse(plan)
		if err != nil {
			return
		}
		p.Edits = p.Edits[:min(len(p.Edits), 8)]
		out, log := edited(t, p.String(), bytes.Clone(stream), 1+int(size))
		whole, _ := edited(t, p.String(), bytes.Clone(stream), max(1, len(stream)))
		if !bytes.Equal(out, whole) {
			t.Fatalf("in blocks of %d: %q, at once %q", 1+int(size), out, whole)
		}
		if len(log) == 0 && !bytes.Equal(out, stream) {
			t.Fatalf("%q became %q, and nothing was edited", stream, out)
		}
	})
}

// between makes a proxy before a listener, and a connection through it.
func between(t *testing.T, network, plan string) (p *Proxy, dialed, accepted net.Conn) {
	t.Helper()
	pl, err := Parse(plan)
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{"tcp": "127.0.0.1:0", "unix": "@pm2-proxy-test-" + strings.ReplaceAll(t.Name(), "/", "-")}[network]
	ln, err := net.Listen(network, where)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if p, err = New(Config{Target: ln.Addr().String(), Plan: pl}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if dialed, err = net.Dial(network, p.Addr()); err != nil {
		t.Fatal(err)
	}
	if accepted, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{dialed, accepted} {
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		t.Cleanup(func() { _ = c.Close() })
	}
	return p, dialed, accepted
}

// TestRelay: bytes go through both ways, and the ends of both directions, each for itself.
func TestRelay(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			p, a, b := between(t, network, "seed=3 short=0.5 delay=0.1:1ms")
			long := bytes.Repeat([]byte("a long message "), 50000)
			go func() { _, _ = a.Write(long); closeWrite(a) }()
			if got, err := io.ReadAll(b); err != nil || !bytes.Equal(got, long) {
				t.Errorf("%d bytes of %d, %v", len(got), len(long), err)
			}
			if _, err := b.Write([]byte("answer")); err != nil {
				t.Error(err)
			}
			_ = b.Close()
			if got, err := io.ReadAll(a); err != nil || string(got) != "answer" {
				t.Errorf("%q, %v", got, err)
			}
			if up, down := p.Moved(); up != uint64(len(long)) || down != 6 || len(p.Log()) != 0 {
				t.Errorf("%d up, %d down, %v", up, down, p.Log())
			}
		})
	}
}

// TestTorn: what is cut ends on both sides, and so does what is quiet after an edit, or lasts too long.
func TestTorn(t *testing.T) {
	for plan, what := range map[string]string{"cut=up:4": "cut", "drop=up:2:1 quiet=20ms": "quiet", "last=20ms": "last"} {
		t.Run(what, func(t *testing.T) {
			p, a, b := between(t, "tcp", plan)
			_, _ = a.Write([]byte("abcdef"))
			got, _ := io.ReadAll(b)
			if want := map[string]string{"cut": "abc", "quiet": "acdef", "last": "abcdef"}[what]; string(got) != want {
				t.Errorf("%q came, want %q", got, want)
			}
			if _, err := a.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) && what != "last" && what != "quiet" {
				t.Errorf("the dialer reads: %v", err)
			}
			log := p.Log()
			if len(log) == 0 || log[len(log)-1].What != what {
				t.Errorf("%+v", log)
			}
		})
	}
}
