package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Config says what a pool is like. It is the same in all processes.
type Config struct {
	Workers   int // of each process; default 1
	TaskBytes int // of each task; default 8
	Shelf     int // tasks that a worker offers to others, at most; default 1024
}

// Pool is the tasks of all processes.
type Pool struct {
	w     *rma.World
	cfg   Config
	seg   *rma.Segment
	each  uint64 // bytes of a worker's shelf
	total int    // workers of all processes
}

// Where things are in the part of a process: the idle ones, of rank 0, then the shelves. A shelf begins with its lock
// and the number of its tasks, each in a cache line of its own.
const (
	line     = 64
	idleWord = 0
	lockWord = 0
	sizeWord = line
	tasksAt  = 2 * line
)

// ErrConfig is that of nmad: a pool, or a task, that cannot be.
var ErrConfig = nmad.ErrConfig

// Open makes the pool. All processes call it.
func Open(w *rma.World, cfg Config) (*Pool, error) {
	cfg.Workers, cfg.TaskBytes, cfg.Shelf = cmp.Or(cfg.Workers, 1), cmp.Or(cfg.TaskBytes, 8), cmp.Or(cfg.Shelf, 1024)
	if cfg.Workers < 1 || cfg.TaskBytes < 1 || cfg.Shelf < 1 {
		return nil, fmt.Errorf("pool: %w: %+v: at least 1 each", ErrConfig, cfg)
	}
	p := &Pool{w: w, cfg: cfg, total: cfg.Workers * w.Size()}
	p.each = (tasksAt + uint64(cfg.Shelf*cfg.TaskBytes) + line - 1) / line * line
	var err error
	p.seg, err = w.Alloc(line + cfg.Workers*int(p.each))
	return p, err
}

// Close ends the pool. All processes call it, when their workers have ended.
func (p *Pool) Close() error { return p.seg.Free() }

// shelf is where the shelf of a worker is, of all processes.
func (p *Pool) shelf(worker int) rma.Ref {
	return p.seg.At(worker/p.cfg.Workers, line+uint64(worker%p.cfg.Workers)*p.each)
}

// Worker is a thread's share in the pool. For that thread alone.
type Worker struct {
	p      *Pool
	d      *rma.Domain
	number int    // among all
	tasks  []byte // the newest last
	loot   []byte // room for what is stolen
	Done   int64  // tasks that it has run
	Steals int64  // times that it has taken tasks of others
}

// Worker returns worker i of this process. The thread that will run it calls it: its domain is that thread's alone.
func (p *Pool) Worker(i int) (*Worker, error) {
	d, err := p.w.Domain(rma.DomainConfig{Access: nmad.Private})
	if err != nil {
		return nil, err
	}
	return p.Over(d, i), nil
}

// Over is Worker with a domain of the caller's, that it may share among workers.
func (p *Pool) Over(d *rma.Domain, i int) *Worker {
	return &Worker{p: p, d: d, number: p.w.Rank()*p.cfg.Workers + i, loot: make([]byte, p.cfg.Shelf*p.cfg.TaskBytes)}
}

// Push adds a task, of TaskBytes bytes, which are copied.
func (w *Worker) Push(task []byte) error {
	if len(task) != w.p.cfg.TaskBytes {
		return fmt.Errorf("pool: %w: a task of %d bytes, and all have %d", ErrConfig, len(task), w.p.cfg.TaskBytes)
	}
	w.tasks = append(w.tasks, task...)
	return nil
}

// Run runs tasks, this worker's and those of others, until no worker has any; do may Push more. It returns the first
// error of do, or of the network, or of ctx, which it looks at while it is idle; then tasks are left. A pool is run
// once.
func (w *Worker) Run(ctx context.Context, do func(task []byte) error) error {
	n := w.p.cfg.TaskBytes
	for {
		for len(w.tasks) > 0 {
			task := w.tasks[len(w.tasks)-n:]
			w.tasks = w.tasks[:len(w.tasks)-n]
			task = append(w.loot[:0], task...) // do pushes into its place
			w.Done++
			if err := do(task); err != nil {
				return err
			}
			if err := w.offer(); err != nil {
				return err
			}
		}
		if found, err := w.take(w.number); err != nil || !found {
			if err != nil {
				return err
			}
			if over, err := w.idle(ctx); over || err != nil {
				return err
			}
		}
	}
}

// offer puts the older half of the tasks on the shelf, if that is empty.
func (w *Worker) offer() error {
	n := w.p.cfg.TaskBytes
	if len(w.tasks) < 2*n {
		return nil
	}
	at := w.p.shelf(w.number)
	if size, err := rma.Load[uint64](w.d, at.Add(sizeWord)); err != nil || size > 0 {
		return err // only this worker makes it longer
	}
	k := min(len(w.tasks)/n/2, w.p.cfg.Shelf)
	if err := w.lock(at, true); err != nil {
		return err
	}
	err := errors.Join(w.d.Put(at.Add(tasksAt), w.tasks[:k*n]), rma.Store(w.d, at.Add(sizeWord), uint64(k)), w.unlock(at))
	w.tasks = w.tasks[:copy(w.tasks, w.tasks[k*n:])]
	return err
}

// errHeld: another worker has the lock.
var errHeld = errors.New("held")

// lock takes the lock of a shelf; if it is not to wait the error may be errHeld.
func (w *Worker) lock(at rma.Ref, wait bool) error {
	for {
		old, err := rma.CompareAndSwap(w.d, at.Add(lockWord), 0, uint64(w.number)+1)
		if err != nil || old == 0 {
			return err
		}
		if !wait {
			return errHeld
		}
		marcel.Yield()
	}
}

func (w *Worker) unlock(at rma.Ref) error { return rma.Store(w.d, at.Add(lockWord), uint64(0)) }

// take takes half of the tasks on a shelf, of the own one all, and reports whether there were any.
func (w *Worker) take(victim int) (bool, error) {
	at, n, own := w.p.shelf(victim), uint64(w.p.cfg.TaskBytes), victim == w.number
	if size, err := rma.Load[uint64](w.d, at.Add(sizeWord)); err != nil || size == 0 {
		return false, err
	}
	if err := w.lock(at, own); err != nil {
		if errors.Is(err, errHeld) {
			err = nil
		}
		return false, err
	}
	size, err := rma.Load[uint64](w.d, at.Add(sizeWord))
	k := (size + 1) / 2
	if own {
		k = size
	}
	if err == nil && k > 0 {
		err = errors.Join(w.d.Get(w.loot[:k*n], at.Add(int64(tasksAt+(size-k)*n))), rma.Store(w.d, at.Add(sizeWord), size-k))
	}
	if err = errors.Join(err, w.unlock(at)); err != nil || k == 0 {
		return false, err
	}
	w.tasks = append(w.tasks, w.loot[:k*n]...)
	if !own {
		w.Steals++
	}
	return true, nil
}

// idle is one of the idle workers until it has stolen something, or all are idle: then it is over.
func (w *Worker) idle(ctx context.Context) (over bool, err error) {
	idle := w.p.seg.At(0, idleWord)
	if _, err := rma.Fetch(w.d, rma.Add, idle, int64(1)); err != nil {
		return false, err
	}
	for turn := 0; ; turn++ {
		if all, err := rma.Load[int64](w.d, idle); err != nil || all == int64(w.p.total) {
			return true, err
		}
		for i, first := 0, rand.IntN(w.p.total); i < w.p.total; i++ {
			victim := (first + i) % w.p.total
			if victim == w.number {
				continue
			}
			if size, err := rma.Load[uint64](w.d, w.p.shelf(victim).Add(sizeWord)); err != nil {
				return false, err
			} else if size == 0 {
				continue
			}
			if _, err := rma.Fetch(w.d, rma.Add, idle, int64(-1)); err != nil {
				return false, err
			}
			if found, err := w.take(victim); found || err != nil {
				return false, err
			}
			if _, err := rma.Fetch(w.d, rma.Add, idle, int64(1)); err != nil {
				return false, err
			}
		}
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		if marcel.Yield(); turn%64 == 63 {
			marcel.Sleep(20 * time.Microsecond) // other processes may want the core
		}
	}
}
