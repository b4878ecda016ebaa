package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/nmad"
)

const kindOverlap = "overlap"

// The tags of the messages of an overlap.
//
//	rank 0                                rank 1
//	  how long you compute ──── order ───▶  Irecv
//	  clock on      ◀────────── ready ────
//	  Isend, compute, Wait ════ data ════▶  compute, Wait
//	  clock off     ◀────────── have ─────  and the CPU time that it used
const (
	orderTag = 2000 + iota
	readyTag
	dataTag
	haveTag
)

// lengths say for how long the ranks compute: so many times what the message alone takes, or so
// many ns.
type lengths struct {
	of []float64
	ns bool
}

// compute is the k-th in ns, where the message alone takes alone.
func (l lengths) compute(k int, alone float64) float64 {
	if l.ns {
		return l.of[k]
	}
	return l.of[k] * alone
}

// args are for a peer's program.
func (l lengths) args() []string {
	var words []string
	for _, x := range l.of {
		words = append(words, strconv.FormatFloat(x, 'f', -1, 64))
	}
	option := "-f"
	if l.ns {
		option = "-t"
	}
	return []string{option, strings.Join(words, ",")}
}

// A point is a length of computation beside a message.
type point struct {
	alone   float64    // ns
	compute float64    // ns, where the CPU is not shared
	total   []float64  // ns, from the start of the send to the word that all is there
	cpu     [2]float64 // ns, of the ranks, median of what they used meanwhile
}

// sides are the ranks that compute.
type sides struct {
	name             string
	sender, receiver bool
}

var bothSides = sides{"both", true, true}
var senderOnly = sides{"sender", true, false}
var receiverOnly = sides{"receiver", false, true}

// overlapper is rank 0's side.
type overlapper struct {
	gate *nmad.Gate
	buf  []byte
	rate float64
	word [8]byte
}

// overlapPoints measures points of one message size. The gate's other end does overlapOther.
func overlapPoints(w *duo.World, size, iters int, who sides, long lengths) ([]point, error) {
	o := &overlapper{gate: w.Gate, buf: make([]byte, size), rate: workRate()}
	for i := range o.buf {
		o.buf[i] = byte(i * 31)
	}
	var none []float64
	for i := range iters + 1 {
		total, _, err := o.send(0, 0)
		if err != nil {
			return nil, err
		}
		if i > 0 { // the first one warms up
			none = append(none, total)
		}
	}
	alone := stat.Median(none)
	var points []point
	for k := range long.of {
		p := point{alone: alone, compute: long.compute(k, alone)}
		var mine, theirs float64
		if who.sender {
			mine = p.compute
		}
		if who.receiver {
			theirs = p.compute
		}
		var cpu [2][]float64
		for range iters {
			total, used, err := o.send(mine, theirs)
			if err != nil {
				return nil, err
			}
			p.total = append(p.total, total)
			for rank := range cpu {
				cpu[rank] = append(cpu[rank], used[rank])
			}
		}
		for rank := range cpu {
			p.cpu[rank] = stat.Median(cpu[rank])
		}
		points = append(points, p)
	}
	return points, o.order(math.Inf(1))
}

// order tells rank 1 how many ns to compute; infinity is the end.
func (o *overlapper) order(ns float64) error {
	binary.LittleEndian.PutUint64(o.word[:], math.Float64bits(ns))
	return o.gate.Send(orderTag, o.word[:])
}

// send is one message, beside which the ranks compute for so many ns; it returns the time that it
// took and the CPU time that each rank used meanwhile, in ns.
func (o *overlapper) send(mine, theirs float64) (total float64, cpu [2]float64, err error) {
	if err := o.order(theirs); err != nil {
		return 0, cpu, err
	}
	if _, err := o.gate.Recv(readyTag, nil); err != nil {
		return 0, cpu, err
	}
	used, began := cpuTime(), asm.Cycles()
	r := o.gate.Isend(dataTag, o.buf)
	workSteps(int64(mine * o.rate))
	if err := r.Wait(); err != nil {
		return 0, cpu, err
	}
	if _, err := o.gate.Recv(haveTag, o.word[:]); err != nil {
		return 0, cpu, err
	}
	total = float64(asm.Nanos(asm.Cycles() - began))
	cpu[0] = cpuTime() - used
	cpu[1] = math.Float64frombits(binary.LittleEndian.Uint64(o.word[:]))
	return total, cpu, nil
}

// overlapOther is rank 1's side.
func overlapOther(w *duo.World, o *duo.Order) error {
	size := o.Size
	buf, rate := make([]byte, size), workRate()
	var word [8]byte
	for {
		if _, err := w.Gate.Recv(orderTag, word[:]); err != nil {
			return err
		}
		ns := math.Float64frombits(binary.LittleEndian.Uint64(word[:]))
		if math.IsInf(ns, 1) {
			return nil
		}
		clear(buf[:min(size, 64)])
		r := w.Gate.Irecv(dataTag, buf)
		used := cpuTime()
		if err := w.Gate.Send(readyTag, nil); err != nil {
			return err
		}
		workSteps(int64(ns * rate))
		if err := r.Wait(); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(word[:], math.Float64bits(cpuTime()-used))
		if err := w.Gate.Send(haveTag, word[:]); err != nil {
			return err
		}
		if r.Len() != size {
			return fmt.Errorf("%d bytes came, %d were sent", r.Len(), size)
		}
		for i := range min(size, 64) {
			if buf[i] != byte(i*31) || buf[size-1-i] != byte((size-1-i)*31) {
				return errors.New("the message is damaged")
			}
		}
	}
}

// cpuTime is what all threads of this process have used, in ns.
func cpuTime() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return math.NaN()
	}
	return float64(t.Nano())
}
