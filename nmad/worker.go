package nmad

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/lock"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched/topo"
)

// DefaultSendBuffer is the default of WorkerConfig.SendBuffer, in bytes.
const DefaultSendBuffer = 1 << 20

// WorkerConfig configures the worker of a domain (Progress Worker).
type WorkerConfig struct {
	// Thread makes the worker a thread of marcel with these attributes. If it is nil, the worker is a goroutine with an
	// OS thread of its own.
	Thread *marcel.Attr
	// CPUs are the processors to which the OS thread of a goroutine is bound; an empty set does not bind it.
	CPUs topo.CPUSet
	// Spin is how long the worker polls without finding anything before it sleeps on the descriptors of its links. 0 is
	// 5 us. Below 0 the worker never sleeps, for a worker that has a CPU of its own.
	Spin time.Duration
	// SendBuffer is the memory for messages whose Send has returned before they were sent, in bytes. A message takes at
	// least 64. 0 is DefaultSendBuffer; below 0 there is none, and each Send waits until its message was sent.
	SendBuffer int
}

// worker is the one thread that handles the messages of a domain, as in FiTMPI (Mao, Song, Wu, Yang). It is the owner
// of the domain's lock. Another thread leaves the request that it starts in the inbox of the gate, rings the bell, and
// sleeps; the worker wakes it when the request is done.
//
//	starter:  push r onto the inbox; Owed = true; set the bell
//	worker:   clear the bell; if Owed is set handle all inboxes; poll the domain's engine, and sleep in it, until the bell is
//	          set; start over
//
// Each of the two writes before it looks, so no request is left behind. testdata/spin/worker.pml is the model.
type worker struct {
	domain      *Domain
	engine      *pioman.Engine // the domain's
	bell        pioman.Completion
	neverSleeps bool        // WorkerConfig.Spin is below 0
	ownGateDue  atomic.Bool // the gate to the own rank has to be polled; tend sets it, in the worker
	stopping    atomic.Bool
	stopped     sync.WaitGroup

	room    atomic.Int64 // free bytes of the send buffer; senders and the worker write it
	buffers [bufferClasses]sync.Pool
}

const (
	minKeptBytes  = 64 // bytes that each message takes at least in the send buffer
	bufferClasses = 48 // class c has buffers of 1<<c bytes
	hasWork       = 1  // bit of worker.bell
)

// startWorker starts the worker of a domain that is being opened, and waits until the worker owns the domain's lock. It
// fails if the worker cannot be bound to its processors.
func (d *Domain) startWorker(cfg *WorkerConfig) error {
	params := pioman.DefaultParams()
	if cfg.Spin > 0 {
		params.BusyWait = cfg.Spin
	}
	w := &worker{
		domain: d, neverSleeps: cfg.Spin < 0,
		engine: pioman.New(pioman.Config{SharedCPUs: d.session.cfg.SharedCPUs, Params: &params}),
	}
	switch room := cfg.SendBuffer; {
	case room == 0:
		w.room.Store(DefaultSendBuffer)
	case room > 0:
		w.room.Store(int64(room))
	}
	d.access = domainAccess{engine: w.engine, worker: w}
	d.access.serialize(d.all)
	d.access.lock.Strict.Store(true)
	d.access.lists = lock.NewLists()
	begun := make(chan error, 1)
	w.stopped.Add(1)
	if cfg.Thread != nil {
		marcel.SpawnWith(*cfg.Thread, func() { w.run(begun) })
	} else {
		go func() {
			runtime.LockOSThread() // never unlocked: so Go ends the OS thread, whose mask is changed, with the goroutine
			if !cfg.CPUs.Empty() {
				if err := cfg.CPUs.Bind(0); err != nil {
					w.stopped.Done()
					begun <- fmt.Errorf("bind the worker to the processors %v: %w", cfg.CPUs, err)
					return
				}
			}
			w.run(begun)
		}()
	}
	var err error
	offThread(func() { err = <-begun })
	return err
}

// run is the worker's loop. It sends nil to begun when the worker owns the lock, and returns after stop.
func (w *worker) run(begun chan<- error) {
	defer w.stopped.Done()
	l := w.domain.access.lock
	l.Bias()
	defer func() {
		l.Strict.Store(false) // from here on starters handle their requests themselves
		l.Tend()
	}()
	begun <- nil
	for {
		w.bell.Clear(hasWork) // before the worker looks for work
		if w.stopping.Load() {
			return
		}
		if l.Owed.Load() {
			l.Tend()
			continue
		}
		if w.ownGateDue.Load() {
			w.pollOwn()
			continue
		}
		if w.neverSleeps {
			w.pollUntilWork()
			continue
		}
		if err := w.bell.Wait(w.engine, hasWork); err != nil {
			return // the engine was closed
		}
	}
}

// yieldEvery is the number of polls, some tens of us, after which a worker that never sleeps yields to others that wait
// for its P or VP.
const yieldEvery = 1000

// pollUntilWork polls the links until the bell is set. While the worker does not wait for the bell, setting it is one
// atomic operation.
func (w *worker) pollUntilWork() {
	for n := 1; !w.bell.Test(hasWork); n++ {
		w.engine.Poll()
		switch {
		case n%yieldEvery != 0:
			asm.Pause()
		case marcel.OnThread():
			marcel.Yield()
		default:
			runtime.Gosched()
		}
	}
}

// pollOwn polls the gate to the own rank, which the engine does not poll, until its long messages have ended.
func (w *worker) pollOwn() {
	w.ownGateDue.Store(false)
	g := w.domain.ownGate()
	for streams := true; streams && !w.stopping.Load(); {
		g.poll()
		h := g.lock()
		streams = h.flow.HasChunks() && h.endErr == nil
		h.unlock()
	}
}

// takes asks the worker to handle the inbox of a gate, and reports whether the worker will: it may have ended, and it
// leaves the gate to the own rank to the starter. takes does not look at the lock, whose cache line the worker writes.
func (w *worker) takes(g *Gate) bool {
	if g.rank == g.ownRank {
		return false
	}
	l := w.domain.access.lock
	l.Owed.Store(true)
	w.ring()
	return l.Strict.Load() // the worker clears it before it looks for the last time
}

// ring sets the bell, so that the worker looks at the inboxes. It never waits.
func (w *worker) ring() {
	if !w.bell.Test(hasWork) {
		w.bell.Signal(hasWork)
	}
}

// stop ends the worker, and waits for its end.
func (w *worker) stop() {
	w.stopping.Store(true)
	w.bell.Signal(hasWork)
	w.stopped.Wait()
}

// workerSend is a message in the send buffer, whose Send has returned. Its memory is used again.
type workerSend struct {
	worker  *worker
	gate    *Gate
	request Request
	op      Operation // Done is sent
	bytes   []byte    // the message; its capacity is a power of two
	room    int64     // bytes that the message takes of worker.room
}

// send is Gate.Send, in a context, or in none if that is nil. If the send buffer has room, send copies the message
// there and returns. Otherwise the caller sleeps until its message was sent.
func (w *worker) send(g *Gate, msgContext *Context, tag uint64, buf []byte) error {
	if late := g.lateError.Load(); late != nil && g.lateError.CompareAndSwap(late, nil) {
		return fmt.Errorf("nmad: a message that was sent before to rank %d: %w", g.rank, *late)
	}
	if err := g.Err(); err != nil {
		return err
	}
	k := w.keep(buf)
	if k == nil {
		r := requests.Get().(*Request)
		r.prepare(g, flow.RequestSend, msgContext, tag, buf, flow.NotifyState)
		g.submit(r)
		_, _, err := resultOf(r)
		return err
	}
	k.gate = g
	k.op.Tag, k.op.Buf, k.op.Context = tag, k.bytes, msgContext
	if err := g.Post(&k.request, &k.op); err != nil {
		k.release()
		return err
	}
	return nil
}

// requests are those of the calls that block.
var requests = sync.Pool{New: func() any { return &Request{} }}

// resultOf waits for a request that was taken out of requests, and puts it back.
func resultOf(r *Request) (n int, size uint64, err error) {
	err = r.Wait()
	n, size = r.Len(), r.core.Size
	if r.doneOrNotStarted() {
		requests.Put(r)
	} else {
		r.Cancel() // the caller cannot wait here
	}
	return n, size, err
}

// keep copies a message into the send buffer; it returns nil if there is no room.
func (w *worker) keep(buf []byte) *workerSend {
	room := int64(max(len(buf), minKeptBytes))
	if w.room.Add(-room) < 0 {
		w.room.Add(room)
		return nil
	}
	class := bits.Len64(uint64(room - 1))
	k, _ := w.buffers[class].Get().(*workerSend)
	if k == nil {
		k = &workerSend{worker: w, bytes: make([]byte, 1<<class)}
		k.op.Done = k.sent
	}
	k.room, k.bytes = room, k.bytes[:len(buf)]
	copy(k.bytes, buf)
	return k
}

// sent is the Done of the message's send. The worker calls it when the message was sent, or has failed.
func (k *workerSend) sent(r *Request) {
	if err := r.core.Err(); err != nil {
		k.gate.lateError.Store(&err)
	}
	k.release()
}

// release gives the room in the send buffer, and the memory of the message, back.
func (k *workerSend) release() {
	w, room := k.worker, k.room
	k.gate, k.bytes = nil, k.bytes[:cap(k.bytes)]
	w.buffers[bits.Len64(uint64(room-1))].Put(k)
	w.room.Add(room)
}
