package pingpong

import (
	"strings"
	"testing"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
)

func TestIterations(t *testing.T) {
	for _, test := range []struct{ iters, bytes, want, warm int }{
		{10000, 1, 10000, 1000},
		{10000, 8 << 10, 10000, 1000},
		{10000, 16 << 10, 5000, 500},
		{10000, 4 << 20, 50, 10},
		{7, 1, 7, 10},
		{7, 4 << 20, 7, 10},
		{1 << 40, 1 << 30, 1 << 23, 1000},
	} {
		o := Options{Iters: test.iters}
		if n, w := o.iterations(test.bytes), o.warmup(test.bytes); n != test.want || w != test.warm {
			t.Errorf("--iters %d, %d B: %d after %d, want %d after %d", test.iters, test.bytes, n, w, test.want, test.warm)
		}
	}
	o := Options{Iters: 10000, Warmup: 3}
	if n, w := o.iterations(4<<20), o.warmup(4<<20); n != 10000 || w != 3 {
		t.Errorf("--iters 10000 --warmup 3, 4 MiB: %d after %d", n, w)
	}
}

func TestValidate(t *testing.T) {
	good := Options{Iters: 1, Threads: 1, Sizes: size.List{1}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, o := range map[string]Options{
		"at least 1 iteration":  {Iters: 0, Threads: 1, Sizes: size.List{1}},
		"from 1 to 4096":        {Iters: 1, Threads: 0, Sizes: size.List{1}},
		"1 to 4096 pairs":       {Iters: 1, Threads: 4097, Sizes: size.List{1}},
		"from 1 to 1024 mess":   {Iters: 1, Threads: 1, Window: 1025, Sizes: size.List{1}},
		"or 0 for a tenth":      {Iters: 1, Warmup: -1, Threads: 1, Sizes: size.List{1}},
		"at least one size":     {Iters: 1, Threads: 1},
		"over 8G of buffers":    {Iters: 1, Threads: 8, Sizes: size.List{1 << 30}},
		"choose thread, gorout": {Iters: 1, Threads: 1, Sizes: size.List{1}, Caller: "fiber"},
		"engine none is for go": {Iters: 1, Threads: 1, Sizes: size.List{1}, Caller: Thread, Engine: None},
		"only messages there a": {Iters: 1, Threads: 1, Sizes: size.List{1}, Caller: FromC, Both: true},
		"leave one of them out": {Iters: 1, Threads: 1, Sizes: size.List{1}, Offset: Offsets{Receive: 1}, Loan: true},
		"use fewer threads or ": {Iters: 1, Threads: 4096, Sizes: size.List{1, 4 << 20}},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

// TestOffsets: what is written is read again, and what is none says what is.
func TestOffsets(t *testing.T) {
	for text, want := range map[string]Offsets{"0": {}, "16": {16, 16}, "1:4095": {1, 4095}} {
		var o, again Offsets
		if err := o.UnmarshalText([]byte(text)); err != nil || o != want {
			t.Errorf("%q: %+v, %v", text, o, err)
		}
		if b, err := o.MarshalText(); err != nil || again.UnmarshalText(b) != nil || again != o {
			t.Errorf("%q: %s, %v", text, b, err)
		}
	}
	for _, text := range []string{"", ":", "x", "-1", "4096", "1:4096", "1:2:3"} {
		if err := new(Offsets).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "such as 16") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTally records known round trips and reads the quantiles of one way.
func TestTally(t *testing.T) {
	steps := int64(0)
	tl := newTally(1000, func(n int64) { steps += n })
	s := tl.samples(asm.ToCycles(50))
	for i := 1; i <= 1000; i++ {
		s.add(asm.ToCycles(int64(50 + 2000*i))) // one way: i us
	}
	s.flush()
	near := func(what string, got, want float64) {
		if got < want*0.99 || got > want*1.01 {
			t.Errorf("%s is %.1f ns, want %.1f", what, got, want)
		}
	}
	near("the minimum", tl.oneWay(0), 1e3)
	near("the median", tl.oneWay(50), 500e3)
	near("the 99th percentile", tl.oneWay(99), 990e3)
	if steps != stepsPerRow {
		t.Errorf("%d steps of progress, want %d", steps, stepsPerRow)
	}
	row := newRow(1000, 1000, 2, tl, 0)
	near("the bandwidth", row.Bandwidth, 4)
	if row.ProbeNS != nil {
		t.Error("a probe that was not made has a value")
	}
	s.add(1 << 62) // beyond the range: counted as the longest, not lost
	s.add(-5)      // the counters of two CPUs may differ
	s.flush()
	if n := tl.hist.TotalCount(); n != 1002 {
		t.Errorf("%d samples of 1002", n)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	s := newTally(1, func(int64) {}).samples(0)
	if n := testing.AllocsPerRun(10000, func() { s.add(1234) }); n != 0 {
		t.Errorf("a sample costs %.2f allocations", n)
	}
}
