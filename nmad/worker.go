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

// DefaultSendBuffer is how many bytes of sends that have returned a worker keeps.
const DefaultSendBuffer = 1 << 20

// WorkerConfig says what the worker of a domain is to be like (Progress Worker).
type WorkerConfig struct {
	// Thread has the worker be a thread of marcel with these attributes; nil: a goroutine with an OS thread of its own.
	Thread *marcel.Attr
	// CPUs are those that the OS thread is bound to; empty: all of the process.
	CPUs topo.CPUSet
	// Spin is how long the worker polls in vain before it sleeps on the descriptors of its links; 0: 5 us; below 0: it
	// never sleeps, which is for one that has a CPU of its own.
	Spin time.Duration
	// SendBuffer is how many bytes of messages Send may keep whose callers have gone on, at least 64 a message; 0:
	// DefaultSendBuffer; below 0: none.
	SendBuffer int
}

// worker is the one thread that handles the messages of a domain, as in FiTMPI (Mao, Song, Wu, Yang). It is the owner of
// the domain's lock. Other threads leave the requests that they start in the inbox of a gate, which is the request queue,
// ring the bell, and sleep; the worker signals to them what has ended.
//
//	starter:  push r onto the inbox; owed = true; ring
//	worker:   unring; owed: handle all inboxes; poll the domain's engine until the bell rings, then sleep in it; and again
//
// Both look after they wrote, so no request is left behind; testdata/spin/worker.pml is the model.
type worker struct {
	d           *Domain
	engine      *pioman.Engine // the domain's
	bell        pioman.Completion
	neverSleeps bool        // it never sleeps
	ownGateDue  atomic.Bool // the gate to the own rank is to be polled
	stopping    atomic.Bool
	stopped     sync.WaitGroup

	room    atomic.Int64 // bytes of the send buffer that are free
	buffers [bufferClasses]sync.Pool
}

const (
	leastKept     = 64 // bytes that a message takes in the send buffer at least
	bufferClasses = 48 // by the power of two of their size
	hasWork       = 1  // of bell
)

// startWorker starts the worker of a domain that is being opened, and waits until it is the owner of the domain's lock.
func (d *Domain) startWorker(cfg *WorkerConfig) error {
	params := pioman.DefaultParams()
	if cfg.Spin > 0 {
		params.BusyWait = cfg.Spin
	}
	w := &worker{d: d, neverSleeps: cfg.Spin < 0, engine: pioman.New(pioman.Config{SharedCPUs: d.s.cfg.SharedCPUs, Params: &params})}
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
			runtime.LockOSThread() // and ends locked: the OS thread goes with its mask
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

// run is the worker.
func (w *worker) run(begun chan<- error) {
	defer w.stopped.Done()
	l := w.d.access.lock
	l.Bias()
	defer func() {
		l.Strict.Store(false) // what is started from here on its starter ends
		l.Tend()
	}()
	begun <- nil
	for {
		w.bell.Clear(hasWork) // before all looks
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

// politeness is how many polls of a worker that never sleeps pass, some tens of us, before it lets others run that wait
// for its P or VP.
const politeness = 1000

// pollUntilWork polls the links. Since the worker does not wait for the bell, to ring is one atomic operation.
func (w *worker) pollUntilWork() {
	for n := 1; !w.bell.Test(hasWork); n++ {
		w.engine.Poll()
		switch {
		case n%politeness != 0:
			asm.Pause()
		case marcel.OnThread():
			marcel.Yield()
		default:
			runtime.Gosched()
		}
	}
}

// pollOwn polls the gate to the own rank, which is no task of the engine, until its long messages have come to their ends.
func (w *worker) pollOwn() {
	w.ownGateDue.Store(false)
	g := w.d.ownGate()
	for streams := true; streams && !w.stopping.Load(); {
		g.poll()
		h := g.lock()
		streams = h.flow.HasChunks() && h.endErr == nil
		h.unlock()
	}
}

// takes leaves the inbox of a gate to the worker, and says whether that was possible: the worker may have ended. It does
// not look at the lock, whose line the worker writes.
func (w *worker) takes(g *Gate) bool {
	if g.rank == g.ownRank {
		return false
	}
	l := w.d.access.lock
	l.Owed.Store(true)
	w.ring()
	return l.Strict.Load() // it is cleared before the worker looks for the last time
}

// ring has the worker look at the inboxes. It never waits.
func (w *worker) ring() {
	if !w.bell.Test(hasWork) {
		w.bell.Signal(hasWork)
	}
}

// stop ends the worker, and waits for that.
func (w *worker) stop() {
	w.stopping.Store(true)
	w.bell.Signal(hasWork)
	w.stopped.Wait()
}

// workerSend is a message in the send buffer: its sender has gone on.
type workerSend struct {
	w     *worker
	g     *Gate
	r     Request
	op    Op
	bytes []byte
	room  int64
}

// send is Gate.Send: if there is room the worker gets a copy of the message, and the caller goes on. Else the caller
// sleeps until its own bytes were sent.
func (w *worker) send(g *Gate, in *Context, tag uint64, buf []byte) error {
	if late := g.lateError.Load(); late != nil && g.lateError.CompareAndSwap(late, nil) {
		return fmt.Errorf("nmad: a message that was sent before to rank %d: %w", g.rank, *late)
	}
	if err := g.Err(); err != nil {
		return err
	}
	k := w.keep(buf)
	if k == nil {
		r := requests.Get().(*Request)
		r.prepare(g, flow.OpSend, in, tag, buf, flow.NotifyState)
		g.submit(r)
		_, _, err := finish(r)
		return err
	}
	k.g = g
	k.op.Tag, k.op.Buf, k.op.Context = tag, k.bytes, in
	if err := g.Post(&k.r, &k.op); err != nil {
		k.release()
		return err
	}
	return nil
}

// requests are those of the calls that block.
var requests = sync.Pool{New: func() any { return &Request{} }}

// finish waits for a request of requests, and puts it back.
func finish(r *Request) (n int, size uint64, err error) {
	err = r.Wait()
	n, size = r.Len(), r.core.Size
	if r.doneOrIdle() {
		requests.Put(r)
	} else {
		r.Cancel() // it could not be waited for
	}
	return n, size, err
}

// keep copies a message into the send buffer; nil: there is no room.
func (w *worker) keep(buf []byte) *workerSend {
	room := int64(max(len(buf), leastKept))
	if w.room.Add(-room) < 0 {
		w.room.Add(room)
		return nil
	}
	class := bits.Len64(uint64(room - 1))
	k, _ := w.buffers[class].Get().(*workerSend)
	if k == nil {
		k = &workerSend{w: w, bytes: make([]byte, 1<<class)}
		k.op.Done = k.sent
	}
	k.room, k.bytes = room, k.bytes[:len(buf)]
	copy(k.bytes, buf)
	return k
}

// sent is called by the worker when the message was sent, or will not be.
func (k *workerSend) sent(r *Request) {
	if err := r.core.Err(); err != nil {
		k.g.lateError.Store(&err)
	}
	k.release()
}

func (k *workerSend) release() {
	w, room := k.w, k.room
	k.g, k.bytes = nil, k.bytes[:cap(k.bytes)]
	w.buffers[bits.Len64(uint64(room-1))].Put(k)
	w.room.Add(room)
}
