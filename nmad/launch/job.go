package launch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/cpus"
	"github.com/pm2-go/pm2/nmad/internal/manager"
	"github.com/pm2-go/pm2/nmad/internal/presence"
	"github.com/pm2-go/pm2/nmad/internal/process"
	"github.com/pm2-go/pm2/sched/topo"
)

// Job is a set of running processes: the ranks that this launcher has started. Safe for concurrent use.
type Job struct {
	spec     Spec
	listener net.Listener    // at the rendezvous address, until a process has taken it; nil: none
	addr     string          // the rendezvous address
	remotes  []Remote        // parts of the job that other hosts start
	baseRank int             // the first rank on this host: First, or 0 if the caller is rank 0
	cpuSets  [][]int         // processors of each rank, from baseRank on; nil: the ranks are not bound
	shared   bool            // there are fewer processors than processes
	guard    *guard          // nil: the job has none
	pmi      *manager.Server // nil: the job has none

	done    chan struct{} // closed when all children are reaped, and what they have left is gone
	givenUp chan struct{} // closed by GiveUp

	mu               sync.Mutex
	children         []*child       // by rank; nil: not started here, or not yet
	running          int            // children that are not reaped, or whose output was not passed on; and the helper while it starts them
	failure          error          // the error of Wait: an *ExitError, an *OutputError, an *AbortError or a *LeaveError
	weight           int            // how much failure says of why the job has failed: consequence, unclear or cause
	ending           bool           // the children were told to end
	interrupt        syscall.Signal // the signal to this process that has ended the job; 0: none
	interruptedTwice bool           // it was the second one
	failing          bool           // a child has failed, and the others have the grace period
	killed           bool           // the children were killed, and no more are started
	endsStopped      bool           // endStopped runs
	inputEnded       bool           // what EndWith reads has ended
	timers           []*time.Timer  // of after
}

// child is a process that the launcher has started: a rank, or the remote shell for the ranks of another host.
type child struct {
	cmd        *exec.Cmd
	remote     *Remote // nil: it is a rank
	outputs    []*output
	watch      *presence.Watch // whether the rank has joined the job; nil: this is a remote shell
	pmi        *conversation   // nil: the job has no server of PMI
	wasStopped bool            // it was stopped, and killed for that; under Job.mu
	hasDied    bool            // it gets no more signals, because its pid may soon be another process's; under Job.mu
}

// Start starts ranks First to N-1. When it returns all of them run or, with an error, none. It blocks the calling
// thread until then.
func Start(spec Spec) (*Job, error) {
	if err := spec.complete(); err != nil {
		return nil, err
	}
	j := &Job{spec: spec, children: make([]*child, spec.N), running: 1, done: make(chan struct{}), givenUp: make(chan struct{})}
	if err := j.assignHosts(); err != nil {
		return nil, err
	}
	if err := j.spec.folders(); err != nil {
		return nil, err
	}
	j.addr = j.spec.Rendezvous
	if !j.spec.Elsewhere || j.spec.First == 0 && j.spec.Count > 0 { // rank 0 is ours
		l, err := kernel.Listen("tcp", j.spec.Rendezvous)
		if err != nil {
			return nil, fmt.Errorf("launch: listen at the rendezvous address %s (give another one, or port 0): %w", j.spec.Rendezvous, kernel.Explain(err))
		}
		j.listener, j.addr = l, l.Addr().String()
	}
	if !j.spec.Elsewhere || j.spec.First == 0 || len(j.remotes) > 0 { // once in a job: the launcher that starts rank 0, or all
		if len(j.remotes) > 0 || !loopback(j.addr) || !loopback(j.spec.Listen) {
			j.spec.Warn("launch: what the processes exchange with other hosts is authenticated when a connection is made, and not encrypted")
		}
	}
	if j.spec.Count > 0 {
		j.assignCPUs()
	}
	if j.spec.PMI && len(j.remotes) == 0 {
		j.servePMI()
	}
	if spec.Signals {
		j.forward()
	}
	var err error
	started := make(chan error, 1)
	marcel.Blocking(func() {
		go j.helper(started)
		err = <-started
	})
	if j.spec.First == 0 && j.listener != nil {
		j.listener.Close() // rank 0 has its own copy
		j.listener = nil
	}
	if err != nil {
		if j.listener != nil {
			j.listener.Close()
		}
		if j.interrupt != 0 { // it does not change any more
			return nil, j.interruption()
		}
		return nil, err
	}
	return j, nil
}

// assignCPUs decides which processors each rank gets.
func (j *Job) assignCPUs() {
	all, err := cpus.Usable()
	if err != nil {
		j.spec.Warn(fmt.Sprintf("launch: which processors are usable is not known (%v): the processes are not bound", err))
		return
	}
	if j.baseRank = j.spec.First; !j.spec.Elsewhere {
		j.baseRank = 0
	}
	n := j.spec.First + j.spec.Count - j.baseRank
	j.shared = n > len(all)
	if !j.spec.Unbound {
		j.cpuSets = cpus.Share(all, n)
	}
}

// helper is the goroutine that starts the children, one after the other. It keeps its OS thread until all are
// reaped: the kernel kills the children when that thread ends.
func (j *Job) helper(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := j.startAll()
	if errors.Is(err, errKilled) {
		err = nil // a rank has asked for it: Wait tells
	}
	if err != nil {
		j.Kill()
	}
	j.mu.Lock()
	j.childDone()
	j.mu.Unlock()
	if err == nil {
		started <- nil
	}
	<-j.done
	if err != nil {
		started <- err
	}
}

// childDone counts down: a child, or the helper that starts the children, has ended. The caller holds mu.
func (j *Job) childDone() {
	if j.running--; j.running > 0 {
		return
	}
	for _, t := range j.timers {
		t.Stop()
	}
	go func() {
		j.guard.close()
		process.RemoveFiles()
		close(j.done)
	}()
}

// startAll starts all children. It fails with errKilled if a rank has ended the job meanwhile.
func (j *Job) startAll() error {
	if j.spec.Guard {
		var err error
		if j.guard, err = startGuard(); err != nil {
			j.spec.Warn(fmt.Sprintf("launch: no guard can be started (%v): if this launcher is killed, what the ranks have started may outlive it", err))
		}
	}
	if err := checkDeathSignal(); err != nil {
		j.spec.Warn(fmt.Sprintf("launch: the kernel cannot be told to end the ranks when this launcher is killed (%v)", err))
	}
	before, err := topo.Affinity(0)
	if err == nil {
		defer before.Bind(0) // it was ours before, so it cannot fail
	} else {
		j.unbind(err)
	}
	for rank := j.spec.First; rank < j.spec.First+j.spec.Count; rank++ {
		if err := j.start(rank); err != nil {
			return fmt.Errorf("launch: start rank %d of %d: %w", rank, j.spec.N, err)
		}
	}
	for i := range j.remotes {
		if err := j.startRemote(i); err != nil {
			return fmt.Errorf("launch: start %v: %w", &j.remotes[i], err)
		}
	}
	return nil
}

// unbind gives up binding, and warns once.
func (j *Job) unbind(why error) {
	if j.cpuSets == nil {
		return
	}
	j.cpuSets = nil
	j.spec.Warn(fmt.Sprintf("launch: processes cannot be bound to processors here (%v): going on without", why))
}

// start starts one rank. Only the helper calls it, in its thread.
func (j *Job) start(rank int) error {
	if j.cpuSets != nil {
		if err := topo.CPUs(j.cpuSets[rank-j.baseRank]...).Bind(0); err != nil {
			j.unbind(err)
		}
	}
	if j.cpuSets == nil { // this thread may be bound from earlier on
		if all, err := cpus.Usable(); err == nil {
			_ = topo.CPUs(all...).Bind(0) // refused where binding is forbidden, and then the mask is full
		}
	}
	program, number := j.spec.program(rank)
	cmd := exec.Command(program.Path, program.Args...)
	cmd.Dir = program.Dir
	if rank == 0 && j.spec.Stdin != nil {
		cmd.Stdin = j.spec.Stdin
	}
	cmd.Stdout, cmd.Stderr = j.spec.Stdout(rank), j.spec.Stderr(rank)
	cmd.SysProcAttr = attributes()
	env := map[string]string{
		nmad.EnvRank:       strconv.Itoa(rank),
		nmad.EnvSize:       strconv.Itoa(j.spec.N),
		nmad.EnvRendezvous: j.addr,
		nmad.EnvProgram:    strconv.Itoa(number),
	}
	secret, err := j.secret()
	if err != nil {
		return fmt.Errorf("hand over the secret: %w", kernel.Explain(err))
	}
	defer secret.Close()
	cmd.ExtraFiles = []*os.File{secret}
	env[nmad.EnvSecretFD] = "3"
	if j.guard != nil {
		env[nmad.EnvLauncher] = j.guard.mark
	}
	if j.shared {
		env[nmad.EnvSharedCPUs] = "1"
	}
	if path := os.Getenv(monitor.Environment); path != "" { // one socket for each
		env[monitor.Environment] = fmt.Sprintf("%s.%d", path, rank)
	}
	if rank == 0 {
		file, err := j.listener.(*net.TCPListener).File()
		if err != nil {
			return fmt.Errorf("hand over the rendezvous: %w", err)
		}
		defer file.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
		env[nmad.EnvRendezvousFD] = "4"
	}
	watch, told, err := presence.New()
	if err != nil {
		return fmt.Errorf("watch whether it leaves the job: %w", err)
	}
	defer told.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, told)
	env[nmad.EnvPresenceFD] = strconv.Itoa(2 + len(cmd.ExtraFiles))
	cmd.Env = j.spec.environment(env, program)
	c := &child{cmd: cmd, watch: watch}
	if j.pmi != nil {
		theirs, ours, err := connectPMI()
		if err != nil {
			watch.Close()
			return err
		}
		defer theirs.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
		cmd.Env = append(cmd.Env, j.pmi.Environment(rank, 2+len(cmd.ExtraFiles))...)
		c.pmi = j.converse(rank, ours)
	}
	if err := j.run(rank, c); err != nil {
		watch.Close()
		c.pmi.finish()
		return err
	}
	return nil
}

// secret returns a pipe with the job's secret in it, for one child. The pipe has room for it, so writing does not
// wait.
func (j *Job) secret() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = w.WriteString(hex.EncodeToString(j.spec.Secret))
	if err = errors.Join(err, w.Close()); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// errKilled is the error of a start while the job is being killed.
var errKilled = errors.New("the job was killed")

// run starts the process of a child. rank is its first one.
func (j *Job) run(rank int, c *child) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.interrupt != 0 {
		return j.interruption()
	}
	if j.killed {
		return errKilled
	}
	plumbed, err := c.connectOutputs(j.spec.Grace)
	if err == nil {
		err = c.cmd.Start()
	}
	plumbed()
	if err != nil {
		for _, o := range c.outputs {
			o.from.Close()
		}
		return nameStartError(err, "")
	}
	for _, o := range c.outputs {
		go o.run()
	}
	j.guard.addGroup(c.cmd.Process.Pid)
	j.children[rank] = c
	j.running++
	go j.reap(rank, c)
	return nil
}

// reap is the goroutine that waits for one child.
func (j *Job) reap(rank int, c *child) {
	// While it is dead but not reaped its pid cannot become another process's: the moment to end what it has left
	// behind, and to stop sending it signals.
	if awaitExit(c.cmd.Process.Pid) {
		j.mu.Lock()
		c.hasDied = true
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // mostly an empty group
		j.guard.dropGroup(c.cmd.Process.Pid)
		j.mu.Unlock()
	}
	j.childEnded(rank, c, c.cmd.Wait())
	c.pmi.finish()
	lost := c.drainOutputs(j.givenUp)
	j.mu.Lock()
	defer j.mu.Unlock()
	if lost != nil {
		j.outputLost(&OutputError{Rank: rank, Remote: c.remote, Err: lost})
	}
	j.childDone()
}

// childEnded notes the end of a child. With the first failure the others get the grace period. A rank that has
// ended well without closing its session does not end the others, which may not need it any more.
func (j *Job) childEnded(rank int, c *child, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c.hasDied = true
	stage, lost := c.watch.Close()
	deserted := stage == presence.Present && err == nil
	if err != nil || deserted {
		weight := cause
		switch left := (*LeaveError)(nil); {
		case c.wasStopped:
		case lost || j.ending:
			weight = consequence
		case c.remote != nil:
			weight = unclear
		case err != nil && errors.As(j.failure, &left) && left.Rank == rank: // that it has failed says more
			j.weight = unclear
		}
		j.blame(&ExitError{Rank: rank, Remote: c.remote, PID: c.cmd.Process.Pid, Stopped: c.wasStopped, Open: deserted, State: c.cmd.ProcessState, Err: err}, weight)
	}
	if err != nil {
		j.fail()
	}
	if j.spec.Heartbeat > 0 && !j.endsStopped && (!j.spec.Elsewhere || len(j.spec.Hosts) > 0) { // else some others are not ours
		j.endsStopped = true
		go j.endStopped()
	}
}

// How much a failure says of why the job has failed. A process that ends takes its connections with it before its
// launcher hears of its end, so others may fail for that, and be heard of, earlier.
const (
	consequence = iota + 1 // the process had lost another one, or the launcher was about to end it
	unclear                // on another host
	cause
)

// blame sets the error of Wait, unless a failure is known that says as much. The caller holds mu.
func (j *Job) blame(err error, weight int) {
	if weight > j.weight {
		j.failure, j.weight = err, weight
	}
}

// terminate sends SIGTERM to the children that still run.
func (j *Job) terminate() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ending = true
	for _, c := range j.children {
		c.noteStopped()
	}
	j.signal(syscall.SIGTERM)
}

// fail ends the job after the grace period, unless it is failing already. The caller holds mu.
func (j *Job) fail() {
	if j.failing {
		return
	}
	j.failing = true
	j.after(j.spec.Grace, j.terminate)
	j.after(2*j.spec.Grace, j.Kill)
}

// outputLost notes that output is lost. It becomes the error of Wait if there is no other. The caller holds mu.
func (j *Job) outputLost(e *OutputError) {
	if j.failure == nil && j.interrupt == 0 && !j.inputEnded {
		j.blame(e, unclear)
	} else if !errors.Is(e, syscall.EPIPE) { // a reader that goes wants no more
		j.spec.Warn("launch: " + e.Error())
	}
}

// after calls f later, unless the job is over by then. The caller holds mu.
func (j *Job) after(d time.Duration, f func()) {
	j.timers = append(j.timers, time.AfterFunc(d, f))
}

// Config returns the configuration with which a caller that is rank 0 itself (First is 1) opens its session.
// nmad.Open takes the listener in it, so only the first call returns one.
func (j *Job) Config() nmad.Config {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.listener
	j.listener = nil
	return nmad.Config{
		Rank: 0, Size: j.spec.N, Rendezvous: j.addr, Listener: l,
		Secret: j.spec.Secret, Driver: j.spec.Driver, Listen: j.spec.Listen,
		Strategy: j.spec.Strategy, Eager: j.spec.Eager, Profile: j.spec.Profile, Link: j.spec.Link, Heartbeat: j.spec.Heartbeat, SharedCPUs: j.shared,
	}
}

// CPUs returns the processors for a rank, also for rank 0 if that is the caller, which Start does not bind. nil:
// the ranks are not bound.
func (j *Job) CPUs(rank int) []int {
	at := rank - j.baseRank
	if at < 0 || at >= len(j.cpuSets) {
		return nil
	}
	return append([]int(nil), j.cpuSets[at]...)
}

// PID returns the process id of a rank; 0 if it was not started here.
func (j *Job) PID(rank int) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if rank < 0 || rank >= len(j.children) || j.children[rank] == nil {
		return 0
	}
	return j.children[rank].cmd.Process.Pid
}

// Signal sends a signal to the process groups of the children that still run.
func (j *Job) Signal(sig syscall.Signal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.signal(sig)
}

// signal is Signal for a caller that holds mu.
func (j *Job) signal(sig syscall.Signal) {
	for _, c := range j.children {
		if c != nil && !c.hasDied {
			_ = syscall.Kill(-c.cmd.Process.Pid, sig) // died a moment ago: no harm
		}
	}
}

// Kill ends the children that still run. Wait reaps them.
func (j *Job) Kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kill()
}

// kill is Kill for a caller that holds mu.
func (j *Job) kill() {
	j.killed, j.ending = true, true
	j.signal(syscall.SIGKILL)
}

// GivenUp is closed when nothing waits any longer for the readers of what the children have written: after GiveUp, and
// when the job is ended by force after a signal to this process (Spec.Signals) or the end of what EndWith reads.
func (j *Job) GivenUp() <-chan struct{} { return j.givenUp }

// GiveUp is Kill, and has Wait wait no longer for the readers of what the children have written. It does not block.
func (j *Job) GiveUp() {
	j.Kill()
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case <-j.givenUp:
	default:
		close(j.givenUp)
	}
}

// Done is closed when all children have ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait blocks the calling thread or goroutine until all children have ended, and the writers of Spec.Stdout and
// Spec.Stderr have taken what they wrote. The error tells about the first that failed: an *ExitError how it ended, an
// *OutputError that some of its output is lost, an *AbortError that it has asked for the end of all, a *LeaveError that
// it has gone without a word. nil: all ended with status 0, and all that they wrote was passed on.
func (j *Job) Wait() error {
	marcel.Blocking(func() { <-j.done })
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.listener != nil {
		j.listener.Close()
		j.listener = nil
	}
	if j.inputEnded {
		return fmt.Errorf("launch: ended with the launcher that asked for it")
	}
	if j.interrupt != 0 {
		return j.interruption()
	}
	return j.failure
}
