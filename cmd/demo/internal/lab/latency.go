package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/nmad/driver"
)

// wire is what a ping-pong needs: a gate, or a bare link.
type wire interface {
	Send(tag uint64, buf []byte) error
	Recv(tag uint64, buf []byte) (int, error)
}

// latencyTag is the tag of all messages of a ping-pong: both directions, one at a time.
const latencyTag = 1

// warmup is how many exchanges precede the counted ones, and never more than those: beside threads that compute one may
// take as long as all their slices.
func warmup(iters int) int { return min(max(iters/10, 10), 1000, iters) }

// longest bounds one round of a ping-pong, ours and the peers', and leastSamples how few it may count then:
// where two processes share a core, an exchange may take milliseconds.
const (
	longest      = time.Second
	leastSamples = 20
)

// ping plays a ping-pong with pong and returns the one-way times, half of each round trip, in ns. What comes back must
// be what was sent.
func ping(w wire, size, iters int) ([]float64, error) {
	return pingMany(w, latencyTag, 1, size, iters, func() {})
}

// pingMany plays with the threads that pong on n tags, from first on, in turn. It calls warm once,
// before the first exchange that counts.
func pingMany(w wire, first uint64, n, size, iters int, warm func()) ([]float64, error) {
	out, in := make([]byte, size+1), make([]byte, size+1)
	samples := make([]float64, 0, iters)
	overhead, end := stat.ClockOverhead(), asm.Cycles()+asm.ToCycles(int64(longest))
	ns := nsPerCycle()
	for i := range warmup(iters) + iters {
		if i == warmup(iters) {
			warm()
		}
		tag := first + uint64(i%n)
		out[0] = byte(i)
		t0 := asm.Cycles()
		if err := w.Send(tag, out[:size]); err != nil {
			return nil, fmt.Errorf("send message %d: %w", i, err)
		}
		m, err := w.Recv(tag, in)
		t1 := asm.Cycles()
		if err != nil {
			return nil, fmt.Errorf("receive answer %d: %w", i, err)
		}
		if m != size || in[0] != byte(i) {
			return nil, fmt.Errorf("answer %d is damaged: %d bytes that begin with %d", i, m, in[0])
		}
		if i >= warmup(iters) {
			samples = append(samples, float64(max(t1-t0-overhead, 1))*ns/2)
		}
		if t1 > end && len(samples) >= min(leastSamples, iters) {
			break
		}
	}
	for k := range n { // longer than agreed: the end
		if err := w.Send(first+uint64(k), out); err != nil {
			return nil, fmt.Errorf("send the end: %w", err)
		}
	}
	return samples, nil
}

// pong sends back whatever comes with a tag, until something comes that is longer than size.
func pong(w wire, tag uint64, size int) error {
	buf := make([]byte, size+1)
	for i := 0; ; i++ {
		n, err := w.Recv(tag, buf)
		if err != nil {
			return fmt.Errorf("receive message %d: %w", i, err)
		}
		if n > size {
			return nil
		}
		if err := w.Send(tag, buf[:n]); err != nil {
			return fmt.Errorf("send answer %d: %w", i, err)
		}
	}
}

// nsPerCycle is what the cycle counter counts.
func nsPerCycle() float64 { return float64(asm.Nanos(1<<30)) / (1 << 30) }

// bare is a link of a driver as a wire: the driver polled directly, and nothing else.
type bare struct {
	w *duo.World
	h driver.Header
}

const looksForLife = 1 << 16 // polls between two

// Send implements wire.
func (plain *bare) Send(tag uint64, buf []byte) error {
	plain.h = driver.Header{Kind: 1, Body: uint32(len(buf)), Tag: tag, Size: uint64(len(buf)), Seq: plain.h.Seq + 1}
	for n := 1; ; n++ {
		if ok, err := plain.w.Link.Send(&plain.h, buf, nil, false); ok || err != nil {
			return err
		}
		if n%looksForLife == 0 {
			if err := plain.w.Lost(); err != nil {
				return err
			}
		}
	}
}

// Recv implements wire.
func (plain *bare) Recv(_ uint64, buf []byte) (int, error) {
	for n := 1; ; n++ {
		body, ok, err := plain.w.Link.Recv(&plain.h)
		if ok || err != nil {
			return copy(buf, body), err
		}
		if n%looksForLife == 0 {
			if err := plain.w.Lost(); err != nil {
				return 0, err
			}
		}
	}
}

// wireOf is what a World has.
func wireOf(w *duo.World) wire {
	if w.Link != nil {
		return &bare{w: w}
	}
	return w.Gate
}

const kindLatency = "latency"

// latency measures one round between the two processes, both set up alike but for the CPUs.
func latency(ctx context.Context, p *duo.Pair, c duo.Setup, size, iters int) ([]float64, error) {
	return onPair(ctx, p, c, duo.Order{Kind: kindLatency, Iters: iters, Size: size}, func(w *duo.World) ([]float64, error) {
		return ping(wireOf(w), size, iters)
	})
}

// onPair has rank 1 carry an order out while f carries out this side of it, either in a World of the setup on its own
// CPU. It returns what f does.
func onPair[T any](ctx context.Context, p *duo.Pair, c duo.Setup, o duo.Order, f func(w *duo.World) (T, error)) (x T, err error) {
	mine, theirs := setups(p, c)
	o.Setup = theirs
	err = p.Do(ctx, o, mine, func(w *duo.World) (err error) {
		x, err = f(w)
		return err
	})
	return x, err
}

// threads runs f in n threads of w, which share its VPs, and waits for all; f gets the number of its thread. It returns
// all errors.
func threads(w *duo.World, n int, name string, f func(k int) error) error {
	joins, errs := make([]func() error, n), make([]error, n)
	for k := range n {
		joins[k] = w.Spawn(k%w.VPs(), fmt.Sprint(name, " ", k), func() { errs[k] = f(k) })
	}
	for k, join := range joins {
		errs[k] = errors.Join(join(), errs[k])
	}
	return errors.Join(errs...)
}

// setups are c for either rank: one VP each, on its own CPU.
func setups(p *duo.Pair, c duo.Setup) (mine, theirs duo.Setup) {
	mine, theirs = c, c
	mine.CPUs, theirs.CPUs = []int{p.CPUs[0]}, []int{p.CPUs[1]}
	mine.Free, theirs.Free = !p.Apart, !p.Apart
	mine.SharedCPUs, theirs.SharedCPUs = p.Shared(), p.Shared()
	return mine, theirs
}

// followers are what rank 1 does, by the kind of the order.
var followers = map[string]func(w *duo.World, o *duo.Order) error{
	kindLatency:    func(w *duo.World, o *duo.Order) error { return pong(wireOf(w), latencyTag, o.Size) },
	kindAccess:     accessOther,
	kindBeside:     pongBeside,
	kindFan:        pongMany,
	kindLoad:       pongBesideLoad,
	kindGates:      gatesOther,
	kindPrivate:    exchangeOther,
	kindShared:     exchangeOther,
	kindOneGate:    exchangeOther,
	kindSerialized: exchangeOther,
	kindFine:       exchangeOther,
	kindDomains:    exchangeOther,
	kindProcesses:  exchangeOther,
	kindGets:       getsOther,
	kindGetting:    getsOther,
	kindTree:       treeOther,
	kindHandlers:   handlersOther,
	kindLimits:     limitsOther,
	kindSendCall:   callOther,
	kindRecvCall:   callOther,
	kindKernel:     kernelOther,
	kindOverlap:    overlapOther,
	kindCollective: collectiveOther,
}

// Follow is rank 1 of whichever experiment needs one.
func Follow() error {
	return duo.Follow(func(w *duo.World, o *duo.Order) error {
		follow := followers[o.Kind]
		if follow == nil {
			return fmt.Errorf("an unknown order: %q", o.Kind)
		}
		return follow(w, o)
	})
}
