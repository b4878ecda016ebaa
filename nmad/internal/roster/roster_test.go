package roster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/meet"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

func TestMain(m *testing.M) {
	effort.Together(16) // the parallel ones wait for silences
	goleak.VerifyTestMain(m)
}

// secret is another one in each process, for the names of sockets come of it.
var secret = fmt.Appendf(nil, "sixteen bytes or more %d", os.Getpid())

// jobs is how many jobs the tests have begun.
var jobs atomic.Int64

// testJob is a job whose processes all live in this test.
type testJob struct {
	t      *testing.T
	l      net.Listener
	addr   string
	size   int
	secret []byte // another one in each job, for the names of sockets come of it
	mu     sync.Mutex
	events map[int][]Event // by the rank that heard of them
	heard  *sync.Cond
}

func newTestJob(t *testing.T, size int) *testJob {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &testJob{
		t: t, l: l, addr: l.Addr().String(), size: size, events: map[int][]Event{},
		secret: fmt.Appendf(nil, "%s, %d", secret, jobs.Add(1)),
	}
	p.heard = sync.NewCond(&p.mu)
	return p
}

func (p *testJob) config(rank int) Config {
	c := Config{
		Rank: rank, Size: p.size, Addr: p.addr, Secret: p.secret, Bind: "127.0.0.1",
		Card:    Card{PID: os.Getpid(), Host: "here", Rails: []Rail{{"sim", fmt.Sprint("address of ", rank)}}, Window: uint64(rank), Records: 7},
		Timeout: 20 * time.Second,
		Notify: func(e Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.events[rank] = append(p.events[rank], e)
			p.heard.Broadcast()
		},
	}
	if rank == 0 {
		c.Listener = p.l
	}
	return c
}

// join brings all processes to the point where they have the table.
func (p *testJob) join() []*Roster {
	p.t.Helper()
	all, errs := p.start(func(int, *Config) {})
	for rank, err := range errs {
		if err != nil {
			p.t.Fatalf("rank %d: %v", rank, err)
		}
	}
	return all
}

func (p *testJob) start(change func(int, *Config)) ([]*Roster, []error) {
	all, errs := make([]*Roster, p.size), make([]error, p.size)
	p.each(func(rank int) {
		cfg := p.config(rank)
		change(rank, &cfg)
		all[rank], errs[rank] = Join(context.Background(), cfg)
	})
	return all, errs
}

func (p *testJob) each(f func(rank int)) {
	var wg sync.WaitGroup
	for rank := range p.size {
		wg.Go(func() { f(rank) })
	}
	wg.Wait()
}

func (p *testJob) ready(all []*Roster) {
	p.t.Helper()
	p.each(func(rank int) {
		if err := all[rank].Ready(); err != nil {
			p.t.Errorf("rank %d: %v", rank, err)
		}
	})
}

func leave(all []*Roster) {
	var wg sync.WaitGroup
	for _, c := range all {
		if c != nil {
			wg.Go(c.Leave)
		}
	}
	wg.Wait()
}

// await waits until rank has heard n events and returns them in order of rank.
func (p *testJob) await(rank, n int) []Event {
	p.t.Helper()
	stop := time.AfterFunc(20*time.Second, func() { p.heard.Broadcast() })
	defer stop.Stop()
	end := time.Now().Add(20 * time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.events[rank]) < n {
		if time.Now().After(end) {
			p.t.Fatalf("rank %d has heard %v, want %d events", rank, p.events[rank], n)
		}
		p.heard.Wait()
	}
	got := slices.Clone(p.events[rank])
	slices.SortFunc(got, func(a, b Event) int { return a.Rank - b.Rank })
	return got
}

func TestJob(t *testing.T) {
	for _, size := range []int{1, 2, 7} {
		t.Run(fmt.Sprint("size=", size), func(t *testing.T) {
			p := newTestJob(t, size)
			all := p.join()
			for rank, c := range all {
				cards := c.Cards()
				if len(cards) != size {
					t.Fatalf("rank %d has %d cards", rank, len(cards))
				}
				for i, card := range cards {
					want := p.config(i).Card
					want.Rank = i
					if !reflect.DeepEqual(card, want) {
						t.Errorf("rank %d has the card %+v of rank %d, want %+v", rank, card, i, want)
					}
				}
			}
			p.ready(all)
			leave(all)
		})
	}
}

func TestLeaveAndDeath(t *testing.T) {
	p := newTestJob(t, 4)
	all := p.join()
	p.ready(all)
	all[3].Leave()
	for _, rank := range []int{0, 1, 2} {
		if e := p.await(rank, 1); e[0].Rank != 3 || e[0].Kind != Left {
			t.Errorf("rank %d heard %+v, want that rank 3 has left", rank, e)
		}
	}
	kill(all[2])
	for _, rank := range []int{0, 1} {
		e := p.await(rank, 2)
		if e[0].Rank != 2 || e[0].Kind != Died || !strings.Contains(e[0].Reason, "rank 2") {
			t.Errorf("rank %d heard %+v, want that rank 2 has died", rank, e)
		}
	}
	leave(all)
}

// TestLeaverHears: a process that has announced that it leaves, and waits for its peers, still hears what becomes of the
// others, and does not take its parent for dead.
func TestLeaverHears(t *testing.T) {
	p := newTestJob(t, 4)
	all := p.join()
	p.ready(all)
	all[1].Announce()
	p.await(0, 1)
	all[3].Leave()
	kill(all[2])
	e := p.await(1, 2)
	if e[0].Rank != 2 || e[0].Kind != Died || e[1].Rank != 3 || e[1].Kind != Left {
		t.Errorf("rank 1, which leaves, heard %+v, want that rank 2 has died and rank 3 has left", e)
	}
	leave(all)
}

// TestHeartbeat: processes that say nothing else for several times the silence
// that is allowed are not lost, and a frame too many or too early ends the job.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	p := newTestJob(t, 3)
	all, errs := p.start(func(_ int, c *Config) { c.Silence = 3 * time.Second })
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	defer leave(all)
	p.ready(all)
	time.Sleep(4500 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	for rank, events := range p.events {
		t.Errorf("rank %d heard %v", rank, events)
	}
	for rank, c := range all {
		if got := c.Cards()[2-rank].Silence; got != 3000 {
			t.Errorf("rank %d reads a silence of %d ms", rank, got)
		}
	}
}

// goes has rank 0 leave, or die: then it tells no process.
func goes(c *Roster, dies bool) {
	if dies {
		cut(c)
	}
	c.Leave()
}

func TestRankZeroGone(t *testing.T) {
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprint("dies=", dies), func(t *testing.T) {
			p := newTestJob(t, 3)
			// Rank 2's place is taken by a process that can be killed.
			child := exec.Command("sleep", "60")
			if err := child.Start(); err != nil {
				t.Skip("no child process to watch: ", err)
			}
			defer child.Process.Kill()
			all, errs := p.start(func(rank int, c *Config) {
				if rank == 2 {
					c.Card.PID, c.Card.StartTime = child.Process.Pid, process.StartTime(child.Process.Pid)
				}
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			p.ready(all)
			want := Left
			if dies {
				want = Died
			}
			goes(all[0], dies)
			if e := p.await(1, 1); e[0].Rank != 0 || e[0].Kind != want {
				t.Fatalf("rank 1 heard %+v, want that rank 0 is gone (%d)", e, want)
			}
			child.Process.Kill()
			child.Wait()
			if e := p.await(1, 2); e[1].Rank != 2 || e[1].Kind != Died {
				t.Errorf("rank 1 heard %+v, want that rank 2 has died", e)
			}
			leave(all)
		})
	}
}

func TestRefusals(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Config)
		why    string
	}{
		{"secret", func(c *Config) { c.Secret = []byte("another one of that length") }, "does not hold the secret"},
		{"size", func(c *Config) { c.Size = 9 }, "PM2_SIZE"},
		{"taken", func(c *Config) {}, "PM2_RANK"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newTestJob(t, 3)
			type outcome struct {
				c   *Roster
				err error
			}
			join := func(cfg Config) <-chan outcome {
				ch := make(chan outcome, 1)
				go func() {
					c, err := Join(context.Background(), cfg)
					ch <- outcome{c, err}
				}()
				return ch
			}
			zero, one := join(p.config(0)), join(p.config(1))
			cfg := p.config(1)
			c.change(&cfg)
			stranger := join(cfg)
			// Rank 2 is missing, so the one that is through now was refused. Of two that
			// claim the same rank it may be either.
			var refused, other outcome
			select {
			case refused = <-stranger:
				stranger = nil
			case refused = <-one:
				one = stranger
			}
			if !errors.Is(refused.err, driver.ErrRefused) || !strings.Contains(refused.err.Error(), c.why) {
				t.Errorf("joined with %v, want a refusal that mentions %s", refused.err, c.why)
			}
			two := <-join(p.config(2)) // the job goes on all the same
			other = <-one
			first := <-zero
			if err := errors.Join(first.err, other.err, two.err); err != nil {
				t.Fatal(err)
			}
			all := []*Roster{first.c, other.c, two.c}
			p.ready(all)
			leave(all)
		})
	}
}

func TestStrangers(t *testing.T) {
	p := newTestJob(t, 2)
	done := make(chan error, 1)
	var zero *Roster
	go func() {
		cfg := p.config(0)
		cfg.Handshake = 200 * time.Millisecond
		var err error
		zero, err = Join(context.Background(), cfg)
		done <- err
	}()
	var open []net.Conn
	for i := range 50 {
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		switch i % 3 {
		case 0: // says nothing
		case 1: // talks nonsense
			b := make([]byte, 300)
			rand.Read(b)
			conn.Write(b)
		case 2: // stops in the middle
			conn.Write([]byte{0xA1, 80, 0})
		}
		open = append(open, conn)
	}
	one, err := Join(context.Background(), p.config(1))
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	p.ready([]*Roster{zero, one})
	for i, conn := range open {
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		b := make([]byte, 4096)
		for err = nil; err == nil; {
			_, err = conn.Read(b)
		}
		if os.IsTimeout(err) {
			t.Errorf("stranger %d was not turned away", i)
		}
	}
	leave([]*Roster{zero, one})
}

func TestNotOurProtocol(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for answer, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n\r\n": "our protocol",
		string(meet.AppendFrame(nil, 0xA1, []byte("pm2\x01\x63\x00"+strings.Repeat("x", 100)))): "version 99",
	} {
		go func() {
			conn, err := l.Accept()
			if err == nil {
				conn.Write([]byte(answer))
				b := make([]byte, 1)
				conn.Read(b)
				conn.Close()
			}
		}()
		p := &testJob{t: t, addr: l.Addr().String(), size: 2, secret: secret, events: map[int][]Event{}}
		_, err := Join(context.Background(), p.config(1))
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("joined with %v, want %q", err, want)
		}
	}
}

// TestFalseRankZero makes sure that none without the secret can play rank 0.
func TestFalseRankZero(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		hello, err := meet.ReadFrame(conn, 0xA1)
		if err != nil {
			return
		}
		hello[8] = 0 // the rank
		_ = meet.WriteFrame(conn, 0xA1, hello)
		_, _ = meet.ReadFrame(conn, 0xA2)
		_ = meet.WriteFrame(conn, 0xA2, make([]byte, 33)) // welcome, it says
		_, _ = conn.Read(hello)
	}()
	p := &testJob{t: t, addr: l.Addr().String(), size: 2, secret: secret, events: map[int][]Event{}}
	if _, err := Join(context.Background(), p.config(1)); !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "does not hold the secret") {
		t.Errorf("joined with %v, want that it does not hold the secret", err)
	}
}

func TestDeathBeforeReady(t *testing.T) {
	p := newTestJob(t, 3)
	all := p.join()
	kill(all[2])
	for _, rank := range []int{0, 1} {
		err := all[rank].Ready()
		if !errors.Is(err, ErrAborted) || !strings.Contains(err.Error(), "rank 2") {
			t.Errorf("rank %d: %v, want that rank 2 kept the job from starting", rank, err)
		}
	}
	leave(all)
}

func TestAbort(t *testing.T) {
	for _, rank := range []int{0, 1} {
		t.Run(fmt.Sprint("rank=", rank), func(t *testing.T) {
			p := newTestJob(t, 3)
			all := p.join()
			all[rank].Abort(errors.New("no more paper"))
			err := all[2].Ready()
			if !errors.Is(err, ErrAborted) || !strings.Contains(err.Error(), "no more paper") {
				t.Errorf("rank 2: %v, want the reason", err)
			}
			leave(all)
		})
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	p := newTestJob(t, 4)
	var wg sync.WaitGroup
	var errs [2]error
	for rank := range 2 {
		wg.Go(func() {
			cfg := p.config(rank)
			if rank == 0 {
				cfg.Timeout = 300 * time.Millisecond
			}
			_, errs[rank] = Join(context.Background(), cfg)
		})
	}
	wg.Wait()
	if err := errs[0]; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2, 3") {
		t.Errorf("rank 0: %v, want that ranks 2 and 3 are missing", err)
	}
	if err := errs[1]; err == nil || !strings.Contains(err.Error(), "2, 3") {
		t.Errorf("rank 1: %v, want that it hears which ranks are missing", err)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	p := newTestJob(t, 2)
	p.l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := Join(ctx, p.config(1)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), p.addr) {
		t.Errorf("joined with %v, want that no process answers at %s", err, p.addr)
	}
}

func TestWrongConfigurations(t *testing.T) {
	good := Config{Rank: 1, Size: 2, Addr: "127.0.0.1:1", Secret: secret, Timeout: time.Minute}
	for name, change := range map[string]func(*Config){
		"bad address": func(c *Config) { c.Addr = "no port here" },
		"long card":   func(c *Config) { c.Card.Rails = []Rail{{"d", strings.Repeat("x", maxAddr+1)}} },
		"many rails":  func(c *Config) { c.Card.Rails = make([]Rail, MaxRails+1) },
		"busy port": func(c *Config) {
			c.Rank, c.Addr = 0, busy(t)
		},
	} {
		cfg := good
		change(&cfg)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if c, err := Join(ctx, cfg); err == nil {
			t.Errorf("%s: was accepted", name)
			c.Leave()
		} else if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: was noticed too late: %v", name, err)
		}
		cancel()
	}
}

func busy(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
