package roster

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// strand has a process quit its parent, and look for no other one.
func strand(c *Roster) {
	c.stopAll()
	doubt(c)
}

// TestQuitsAndDies: a process that quits its leader, and dies before it has found another parent, is missed, though its
// leader is still there.
func TestQuitsAndDies(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for silences, for seconds")
	}
	p, all := doubting(t, 5, []int{0, 0, 1, 1, 2})
	defer leave(all)
	strand(all[3])
	for _, rank := range []int{0, 1, 2, 4} {
		p.lost(rank, 1, 3, Died, "has not come")
	}
}

// TestGivesUpAnAttempt: a process that has been admitted when it has given up already is not dead for that: it may come
// again.
func TestGivesUpAnAttempt(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for silences, for seconds")
	}
	p, all := doubting(t, 4, nil)
	defer leave(all)
	strand(all[3])
	for range 3 {
		w, err := all[3].reach(context.Background(), p.addr, 0, true)
		if err != nil {
			t.Fatal(err)
		}
		w.Conn.Close()
		time.Sleep(silence / 20)
	}
	for _, rank := range []int{0, 1, 2} {
		p.lost(rank, 1, 3, Died, "has not come")
	}
}

// TestBringsDeaths: a process that connects anew has taken another one for lost, as a root did that it had before: that
// one is lost to all.
func TestBringsDeaths(t *testing.T) {
	p, all := doubting(t, 4, nil)
	defer leave(all)
	all[3].lockAndDepart(Event{Rank: 2, Kind: Died, Reason: "another root has lost it"})
	doubt(all[3])
	for _, rank := range []int{0, 1} {
		p.lost(rank, 1, 2, Died, "another root has lost it")
	}
	for _, rank := range []int{0, 1, 3} {
		p.lost(2, 3, rank, Died, "has taken this process for lost")
	}
}

// TestAnotherProgram: at the address of the successor, which has died, another program answers. The search does not wait
// for it, though silence is no death.
func TestAnotherProgram(t *testing.T) {
	t.Parallel()
	p := newTestJob(t, 4)
	all := p.onHosts([]int{0, 1, 2, 3}, same)
	p.ready(all)
	defer leave(all)
	addr := all[1].Cards()[1].Standby
	cut(all[0])
	cut(all[1])
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip("its port is not free: ", err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			defer conn.Close()
		}
	}()
	for _, rank := range []int{2, 3} {
		p.lost(rank, 2, 1, Died, "rank 1")
	}
}

// losing is a listener whose first connection runs out of time when the process at its other end has proved itself, and
// has not heard so yet.
type losing struct {
	net.Listener
	lost atomic.Bool
}

func (lo *losing) Accept() (net.Conn, error) {
	conn, err := lo.Listener.Accept()
	if err != nil || lo.lost.Load() {
		return conn, err
	}
	return late{conn, lo}, nil
}

type late struct {
	net.Conn
	l *losing
}

func (lt late) Read(b []byte) (int, error) {
	n, err := lt.Conn.Read(b)
	if n == 33 && !lt.l.lost.Swap(true) { // the proof
		_ = lt.SetDeadline(limit.Past)
	}
	return n, err
}

// TestLosesItsSlot: a connection that runs out of its time, or loses its slot to another one, in the moment in which its
// process has proved itself is no end of the job: the process comes again, and finds its rank free.
func TestLosesItsSlot(t *testing.T) {
	p := newTestJob(t, 2)
	l := &losing{Listener: p.l}
	p.l = l
	all := p.join()
	defer leave(all)
	p.ready(all)
	if !l.lost.Load() {
		t.Error("no connection was lost")
	}
}

// TestAbortBeforeRoot: a member of a leader gives up before rank 0 is there. Rank 0 hears the reason.
func TestAbortBeforeRoot(t *testing.T) {
	var errs []error
	for _, patience := range []time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second} { // it may not have reached its leader yet
		errs = abortBeforeRoot(t, patience)
		if !slices.ContainsFunc(errs, silentOnLuck) {
			return
		}
	}
	t.Errorf("%v, want the reason of rank 2 at all ranks", errs)
}

// silentOnLuck reports that an error does not give the reason of abortBeforeRoot.
func silentOnLuck(err error) bool {
	return err == nil || !strings.Contains(err.Error(), "no luck today")
}

// abortBeforeRoot has rank 2, whose leader is rank 1, give up after its patience, and then rank 0 begin. It returns how
// each rank ends.
func abortBeforeRoot(t *testing.T, patience time.Duration) []error {
	p := newTestJob(t, 3)
	hosts := []int{0, 1, 1}
	ctx, give := context.WithCancelCause(context.Background())
	p.l.Close() // rank 0 is not there yet
	errs := make([]error, 3)
	given := make(chan struct{})
	p.each(func(rank int) {
		c := p.config(rank)
		c.Hosts, c.Listener = hosts, nil
		of := context.Background()
		switch rank {
		case 0:
			<-given
		case 2:
			of = ctx
			time.AfterFunc(patience, func() { give(errors.New("no luck today")) })
			defer close(given)
		}
		_, errs[rank] = Join(of, c)
	})
	return errs
}

// TestPatience: attempts to reach a candidate that fail at once are made until the patience is over, and no longer.
func TestPatience(t *testing.T) {
	t.Parallel()
	r := &Roster{
		cfg: Config{Rank: 2, Size: 3, Silence: 500 * time.Millisecond, Handshake: DefaultHandshake, Secret: secret}, tree: newTree(nil, 2, 3),
		phase: running, state: searching, order: []int{1, 2}, gone: []Event{{Kind: Died}, {}, {}}, missing: map[int]uint32{},
		cards: []Card{{}, {Standby: "255.255.255.255:9"}, {}}, leaveCtx: context.Background(),
	}
	began := time.Now()
	r.findParent(0, "it is silent")
	if took, want := time.Since(began), patienceBeats*r.attempt(); took < want-r.attempt() || r.state != isRoot || r.gone[1].Kind != Died {
		t.Errorf("the search has ended after %v, in state %d, with %v; want %v", took, r.state, r.gone, want)
	}
}

// TestStoppedMember: a member that does not run, and gets more news than the buffer of its connection has room for, keeps
// none of the others waiting, and is not lost for that.
func TestStoppedMember(t *testing.T) {
	p := newTestJob(t, 3)
	all := p.onHosts([]int{0, 1, 1}, same)
	defer leave(all)
	p.ready(all)
	thaw := freeze(all[2])
	var longest time.Duration
	all[1].mu.Lock()
	for range 2000 {
		began := time.Now()
		all[1].toAll(kindBeat, nil, nil)
		longest = max(longest, time.Since(began))
	}
	all[1].mu.Unlock()
	if longest > time.Second {
		t.Errorf("its parent has waited for %v", longest)
	}
	thaw()
	all[2].Announce()
	for _, rank := range []int{0, 1} {
		p.lost(rank, 1, 2, Left, "closed its session")
	}
}
