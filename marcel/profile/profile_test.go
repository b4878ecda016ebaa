package profile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"runtime/pprof"
	"runtime/trace"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/marcel/profile"
	"github.com/pm2-go/pm2/sched"
)

func start(t *testing.T) *sched.Scheduler {
	t.Helper()
	s, err := sched.New(sched.Config{VPs: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// spin uses the CPU, switching between threads now and then, until over.
func spin(over func() bool) {
	for !over() {
		for t0 := time.Now(); time.Since(t0) < 200*time.Microsecond; {
		}
		marcel.Yield()
	}
}

// A CPU profile tells which thread used the CPU, though two take turns on one VP; and the
// label goes with the thread.
func TestLabelsInACPUProfile(t *testing.T) {
	s := start(t)
	remove, err := profile.Label()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := profile.Label(); !errors.Is(err, profile.ErrActive) {
		t.Errorf("a second time: %v", err)
	}
	const first, second, after = "kneading dough", "baking bread", "washing up"
	var samples map[string]int
	for limit := time.Now().Add(time.Minute); ; { // the profiler takes 100 samples a second of CPU time
		var out bytes.Buffer
		if err := pprof.StartCPUProfile(&out); err != nil {
			t.Skipf("no CPU profile can be taken: %v", err)
		}
		end := time.Now().Add(300 * time.Millisecond)
		over := func() bool { return time.Now().After(end) }
		a := s.Spawn(marcel.Attr{Name: first}, func() { spin(over) })
		b := s.Spawn(marcel.Attr{Name: second}, func() { spin(over) })
		a.Join()
		b.Join()
		pprof.StopCPUProfile()
		samples = labels(t, out.Bytes())
		if samples[first] > 0 && samples[second] > 0 || time.Now().After(limit) {
			break
		}
	}
	if samples[first] == 0 || samples[second] == 0 {
		t.Errorf("samples by label: %v", samples)
	}
	remove()
	var labeled bool
	s.Spawn(marcel.Attr{Name: after}, func() {
		// What the goroutine carries now shows in the goroutine profile.
		var out bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&out, 0); err == nil {
			labeled = labels(t, out.Bytes())[after] > 0
		}
	}).Join()
	if labeled {
		t.Error("a thread that started later is labeled")
	}
}

// A thread that ends by Goexit or a caught panic leaves no label behind.
func TestLabelEndsWithTheThread(t *testing.T) {
	s := start(t)
	remove, err := profile.Label()
	if err != nil {
		t.Fatal(err)
	}
	s.Spawn(marcel.Attr{Name: "exits"}, marcel.Exit).Join()
	if err := s.Spawn(marcel.Attr{Name: "panics", Catch: true}, func() { panic("x") }).Join(); err == nil {
		t.Error("no panic came")
	}
	remove()
	s.Spawn(marcel.Attr{}, func() {
		var out bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&out, 0); err != nil {
			t.Error(err)
		}
		for name := range labels(t, out.Bytes()) {
			t.Errorf("a goroutine carries the label %q of a thread that has ended", name)
		}
	}).Join()
}

// A trace of the Go runtime has the task.
func TestRegionsInARuntimeTrace(t *testing.T) {
	s := start(t)
	remove, err := profile.Region()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skipf("no trace can be taken: %v", err)
	}
	s.Spawn(marcel.Attr{Name: "peeling potatoes"}, func() { marcel.Yield() }).Join()
	trace.Stop()
	for _, want := range []string{"peeling potatoes", profile.Type} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("the trace does not mention %q", want)
		}
	}
}

// labels counts the samples of a profile by the value of our label. A profile is a
// protocol buffer (github.com/google/pprof/proto/profile.proto): samples are field
// 2, the strings field 6; of a sample, labels are field 3; of a label, the key is
// field 1 and a string value field 2.
func labels(t *testing.T, zipped []byte) map[string]int {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var strings []string
	var samples [][]byte
	fields(raw, func(n int, _ uint64, body []byte) {
		switch n {
		case 2:
			samples = append(samples, body)
		case 6:
			strings = append(strings, string(body))
		}
	})
	count := map[string]int{}
	for _, s := range samples {
		fields(s, func(n int, _ uint64, body []byte) {
			if n != 3 {
				return
			}
			var key, value uint64
			fields(body, func(n int, v uint64, _ []byte) {
				switch n {
				case 1:
					key = v
				case 2:
					value = v
				}
			})
			if strings[key] == profile.Key {
				count[strings[value]]++
			}
		})
	}
	return count
}

// fields calls f for each field of a protocol buffer: a number, or bytes.
func fields(b []byte, f func(number int, v uint64, body []byte)) {
	varint := func() (v uint64) {
		for shift := 0; len(b) > 0; shift += 7 {
			c := b[0]
			b = b[1:]
			v |= uint64(c&0x7f) << shift
			if c < 0x80 {
				break
			}
		}
		return v
	}
	for len(b) > 0 {
		tag := varint()
		switch tag & 7 {
		case 0:
			f(int(tag>>3), varint(), nil)
		case 2:
			n := varint()
			f(int(tag>>3), 0, b[:n])
			b = b[n:]
		default:
			return
		}
	}
}
