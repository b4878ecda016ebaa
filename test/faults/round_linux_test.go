package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/internal/test/orphans"
	"github.com/pm2-go/pm2/nmad/launch"
)

// round is one job and what comes of it.
type round struct {
	plan  *plan
	mark  string
	dir   string // for temporary files of the ranks
	job   *launch.Job
	hosts *hosts
	group *group
	loads []*companion

	come  chan struct{} // a line has come; room for one
	mu    sync.Mutex
	ranks []*voice

	began, ended time.Time // of the fault; ended zero: it has no end
	joined       time.Time // when all had joined
	early        bool      // the fault came before all had joined
	hung         bool
	starved      string // why the machine has kept a rank from running; empty: it has not
	bad          []string
	left         []string
	exit         error
}

// voice is what a rank says.
type voice struct {
	r       *round
	rest    []byte // of standard output: a line that has not ended
	joined  bool
	heard   time.Time // when it said last that it lives
	stands  bool      // it was found to say nothing any more
	account *account
	errs    bytes.Buffer // standard error
}

const mostText = 8 << 20 // bytes of a rank's standard error that are kept

// Write takes standard output.
func (v *voice) Write(b []byte) (int, error) {
	v.r.mu.Lock()
	v.rest = append(v.rest, b...)
	for {
		text, rest, whole := bytes.Cut(v.rest, []byte("\n"))
		if !whole {
			break
		}
		v.rest = rest
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			v.errs.Write(append(text, '\n'))
			continue
		}
		v.joined = v.joined || l.What == "joined"
		v.heard = time.Now()
		if l.Account != nil {
			v.account = l.Account
		}
	}
	v.r.mu.Unlock()
	select {
	case v.r.come <- struct{}{}:
	default:
	}
	return len(b), nil
}

// shout is standard error of a rank.
type shout struct{ v *voice }

func (s shout) Write(b []byte) (int, error) {
	s.v.r.mu.Lock()
	defer s.v.r.mu.Unlock()
	if s.v.errs.Len() < mostText {
		s.v.errs.Write(b)
	}
	return len(b), nil
}

// await waits until is returns true for all ranks but without. It returns false if the job, or the time, is over
// before.
func (r *round) await(is func(*voice) bool, without int, until <-chan time.Time) bool {
	for {
		n := 0
		r.mu.Lock()
		for rank, v := range r.ranks {
			if rank != without && is(v) {
				n++
			}
		}
		r.mu.Unlock()
		want := r.plan.Size
		if without >= 0 {
			want--
		}
		if n == want {
			return true
		}
		select {
		case <-r.come:
		case <-r.job.Done():
			return false
		case <-until:
			return false
		}
	}
}

// play plays a round to its end. The error says that the machine has kept it from beginning.
func (p *plan) play(limit time.Duration) (*round, error) {
	r := &round{plan: p, come: make(chan struct{}, 1), mark: fmt.Sprintf("%d-%d-%d", os.Getpid(), p.Seed, time.Now().UnixNano())}
	var err error
	if r.dir, err = os.MkdirTemp("", "pm2-faults-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(r.dir)
	defer func() {
		for _, h := range r.loads {
			h.end()
		}
		if r.group != nil {
			r.group.close()
		}
	}()
	before := orphans.Files()
	if err := r.start(); err != nil {
		return nil, err
	}
	defer func() {
		if r.hosts != nil {
			r.hosts.close()
		}
	}()
	over := time.NewTimer(limit)
	defer over.Stop()
	performed := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { r.watchStanding(performed) })
	r.perform(over.C)
	close(performed)
	watcher.Wait()
	for _, h := range r.loads {
		h.end()
	}
	r.loads = nil
	for range 200 { // the kernel may take a moment to end what was killed
		if r.left = leftovers(r.mark, r.dir, before); len(r.left) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return r, nil
}

// start starts the job, on two hosts if the plan says so.
func (r *round) start() (err error) {
	p := r.plan
	for range p.Size {
		r.ranks = append(r.ranks, &voice{r: r})
	}
	begin := func() {
		spec := launch.Spec{
			N: p.Size, Args: []string{"-test.run=^$"}, Driver: p.Driver, Strategy: p.Strategy, Eager: p.Eager, Link: p.Link, Heartbeat: p.Heartbeat,
			Stdout: func(rank int) io.Writer { return r.ranks[rank] }, Stderr: func(rank int) io.Writer { return shout{r.ranks[rank]} },
			Env: p.environment(r.mark, r.dir), Grace: 2 * time.Minute, Warn: func(string) {},
		}
		if p.Kind == freeze {
			spec.Grace = 100 * time.Millisecond // nothing fails: the launcher ends what is left stopped
		}
		if r.hosts != nil {
			spec.Rendezvous = r.hosts.addrs[0] + ":0"
			if p.Victim == 0 {
				spec.Rendezvous = r.hosts.addrs[1] + ":0"
			}
		}
		r.job, err = launch.Start(spec)
	}
	if !p.Kind.apart() {
		begin()
		return err
	}
	if r.hosts, err = newHosts(); err != nil {
		return err
	}
	p.Addrs = r.hosts.addrs
	for i, h := range r.hosts.at {
		p.Spaces[i] = h.path()
	}
	of0 := 0
	if p.Victim == 0 {
		of0 = 1
	}
	r.hosts.at[of0].run(begin) // rank 0 listens there
	if err != nil {
		r.hosts.close()
	}
	return err
}

// perform lets the fault happen and waits for the end.
func (r *round) perform(over <-chan time.Time) {
	p := r.plan
	hard := make(chan time.Time)
	performed := make(chan struct{})
	go func() { // the waiter hears of the limit
		select {
		case <-over:
			close(hard)
		case <-performed:
		}
	}()
	defer close(performed)
	isIn := func(v *voice) bool { return v.joined }
	through := func(v *voice) bool { return v.account != nil }
	if !p.Early {
		if !r.await(isIn, -1, hard) {
			r.collapse("not all ranks have joined")
			return
		}
		r.joined = time.Now()
	}
	time.Sleep(p.Moment)
	r.mu.Lock()
	for _, v := range r.ranks {
		r.early = r.early || !v.joined
	}
	gone := r.ranks[p.Victim].account != nil
	r.mu.Unlock()
	var err error
	if !gone || p.loses() {
		if r.began, r.ended, err = r.strike(); err != nil && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, os.ErrNotExist) {
			r.wrong(fmt.Sprintf("the fault could not happen: %v", err))
		}
	} else {
		r.began = time.Now()
		r.ended = r.began
	}
	if !r.await(through, p.Victim, hard) {
		select {
		case <-r.job.Done():
		default:
			r.collapse("survivors have not ended")
			return
		}
	}
	switch {
	case p.Kind == unplug, p.Kind == kill:
		_ = syscall.Kill(r.job.PID(p.Victim), syscall.SIGKILL)
	}
	select {
	case <-r.job.Done():
	case <-hard:
		r.collapse("the job has not ended")
		return
	}
	r.exit = r.job.Wait()
}

// wrong notes what must not be.
func (r *round) wrong(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bad = append(r.bad, what)
}

// collapse ends a job that does not end, and has all ranks show how their gates are and where their goroutines are.
func (r *round) collapse(why string) {
	r.hung = true
	r.wrong(why)
	for _, signal := range []syscall.Signal{describeSignal, syscall.SIGQUIT} {
		for rank := range r.plan.Size {
			if pid := r.job.PID(rank); pid > 0 && r.ranks[rank].account == nil {
				_ = syscall.Kill(pid, signal)
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
		}
		time.Sleep(time.Second / 2)
	}
	select {
	case <-r.job.Done():
	case <-time.After(10 * time.Second):
	}
	r.job.Kill()
	r.exit = r.job.Wait()
}

// keep writes what the ranks have said into files, and says where these are.
func (r *round) keep() string {
	dir, err := os.MkdirTemp("", fmt.Sprintf("pm2-faults-seed-%d-", r.plan.Seed))
	if err != nil {
		return err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for rank, v := range r.ranks {
		text, _ := json.MarshalIndent(v.account, "", " ")
		_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d", rank)), append(append(text, '\n'), v.errs.Bytes()...), 0o644)
	}
	return dir
}
