package nmad

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/sched"
)

// TestAccessPairs: which kinds of access and progress there are.
func TestAccessPairs(t *testing.T) {
	j := newJob(t, 1, nil, nil)
	for _, c := range []DomainConfig{{Access: Private, Progress: Engine}, {Access: Private, Progress: Worker}, {Access: Serialized, Progress: Worker}, {Access: Fine, Progress: Worker}, {Access: Private + 1}, {Progress: Worker + 1}} {
		if _, err := j.sessions[0].Domain(c); !errors.Is(err, ErrConfig) {
			t.Errorf("access %v, progress %v: %v", c.Access, c.Progress, err)
		}
	}
	j.close()
}

// TestOwner: all that another thread than the owner calls fails, and changes nothing; what only tells something works.
func TestOwner(t *testing.T) {
	j := newJob(t, 2, shm.Driver{}, nil)
	defer j.moving()()
	all := j.domain(DomainConfig{Access: Private}, 1)
	d, g := all[0], all[0].Gate(1)
	r, used := g.Irecv(1, make([]byte, 1)), &Request{}
	each(1, func(int) { // in another goroutine
		fails := map[string]func() error{
			"Send": func() error { return g.Send(1, nil) }, "Recv": func() error { _, err := g.Recv(1, nil); return err },
			"Isend": func() error { return g.Isend(1, nil).Wait() }, "Irecv": func() error { return g.Irecv(1, nil).Wait() },
			"IsendInto": func() error { return g.IsendInto(used, 1, nil) }, "IrecvInto": func() error { return g.IrecvInto(used, 1, nil) },
			"Post, send": func() error { return g.Post(used, &Operation{}) }, "Post, recv": func() error { return g.Post(used, &Operation{Kind: KindRecv}) },
			"Start": func() error { return g.Start(&Operation{Sync: true}).Wait() }, "Probe": func() error { _, err := g.Probe(t.Context(), Match{}); return err },
			"from any":    func() error { return d.Irecv(Match{}, nil).Wait() },
			"Post, any":   func() error { return d.Post(AnySource, used, &Operation{Kind: KindRecv}) },
			"Probe, any":  func() error { _, err := d.Probe(t.Context(), Match{}); return err },
			"Wait":        r.Wait,
			"Test":        func() error { _, err := r.Test(); return err },
			"WaitContext": func() error { return r.WaitContext(t.Context()) },
			"WaitAny":     func() error { _, err := WaitAny(t.Context(), r); return err },
			"Link":        func() error { return g.Link(t.Context()) },
		}
		for name, f := range fails {
			if err := f(); !errors.Is(err, ErrOwner) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if r.Cancel() {
			t.Error("a receive was canceled")
		}
		if _, ok := g.Iprobe(Match{}); ok || g.Claim(Match{}) != nil || d.Claim(Match{}) != nil {
			t.Error("a message was found")
		}
		if _, err := g.Alloc(10); !errors.Is(err, ErrOwner) {
			t.Error("Alloc: ", err)
		}
		if s := d.Stats(); s.Recvs != 1 || s.Sends != 0 {
			t.Errorf("the owner's calls were counted as %+v", s)
		}
	})
	if err := errors.Join(all[1].Gate(0).Send(1, []byte{1}), r.Wait()); err != nil {
		t.Error(err)
	}
	pass(t, "after that", g, all[1].Gate(0), 1, 70_000)
	j.close()
}

// TestThreadEnds: the private domains of a thread are closed when it ends, what it has sent arrives.
func TestThreadEnds(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		other, err := j.sessions[1].Domain(DomainConfig{Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 10)
		r, never := other.Gate(0).Irecv(1, buf), other.Gate(0).Irecv(2, nil)
		stop := j.moving()
		s, end := oneVP(t)
		marcel.RunOn(s, func() {
			mine, err := j.sessions[0].Domain(DomainConfig{Number: 1, Access: Private})
			if err == nil {
				err = mine.Gate(1).Send(1, []byte("bye"))
			}
			if err != nil {
				t.Error(err)
			}
		})
		end()
		if err := r.Wait(); err != nil || string(buf[:r.Len()]) != "bye" {
			t.Errorf("%q, %v", buf[:r.Len()], err)
		}
		if err := never.Wait(); !errors.Is(err, ErrPeerLost) {
			t.Error("a receive from the domain of a thread that has ended: ", err)
		}
		if n := len(j.sessions[0].domains.open.All()); n != 1 {
			t.Errorf("%d domains are open", n)
		}
		stop()
		j.close()
	})
}

// TestCloseBesideOwner: another goroutine closes a private domain, or the session, while the owner waits in it.
func TestCloseBesideOwner(t *testing.T) {
	for _, whole := range []bool{false, true} {
		j := newJob(t, 2, nil, func(c *Config) { c.Driver = "auto" })
		opened := make(chan *Domain)
		var owner sync.WaitGroup
		owner.Go(func() {
			d, err := j.sessions[0].Domain(DomainConfig{Number: 1, Access: Private})
			if err != nil {
				t.Error(err)
			}
			r := d.Gate(1).Irecv(2, nil)
			opened <- d
			// Where both sessions close the other one may be first.
			ended := func(err error) bool { return errors.Is(err, ErrClosed) || whole && errors.Is(err, ErrPeerLost) }
			if _, err := d.Gate(1).Recv(1, nil); !ended(err) {
				t.Error("a receive has ended with ", err)
			}
			if err := r.Wait(); !ended(err) {
				t.Error("a request has ended with ", err)
			}
		})
		d := <-opened
		time.Sleep(20 * time.Millisecond) // it sleeps by now, or does not: either is right
		if !whole {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			owner.Wait()
		}
		j.close()
		owner.Wait()
	}
}

// TestPrivateThreads: goroutines and threads, each with a domain of its own, exchange messages of all sizes with those
// of another process, which have theirs; the domains are of all kinds.
func TestPrivateThreads(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		s, err := sched.New(sched.Config{VPs: 2})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 2 * len(domainKinds) {
			for rank := range 2 {
				play := func() {
					kind := domainKinds[i%len(domainKinds)]
					if kind.Progress == ByAccess && kind.Access != Private {
						kind.Progress = Explicit // no engine is enabled here
					}
					kind.Number = 1 + i
					d, err := j.sessions[rank].Domain(kind)
					if err != nil {
						t.Error(err)
						return
					}
					g := d.Gate(1 - rank)
					for round := range effort.Of(60) {
						size := []int{0, 8, 700, 40_000}[(round+i)%4]
						msg, buf := pattern(size, uint64(i+round)), make([]byte, size)
						r := g.Irecv(uint64(round), buf)
						s := g.Isend(uint64(round), msg)
						if err := errors.Join(r.Wait(), s.Wait()); err != nil || string(buf) != string(msg) {
							t.Errorf("domain %d, rank %d, round %d: %v, or damaged", i, rank, round, err)
							return
						}
					}
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}
				all.Go(func() {
					if i%2 == 0 {
						play()
					} else {
						marcel.RunOn(s, play)
					}
				})
			}
		}
		all.Wait()
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		j.close()
	})
}

// TestKinds runs what threads share in jobs whose domains are of the other kinds.
func TestKinds(t *testing.T) {
	if !effort.Long() {
		t.Skip("minutes: with -long")
	}
	for name := range kindsOfJobs {
		if name == *kind {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skip := "^$"
			if name == "worker" {
				skip = "^TestLoan" // no such domain lends
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-kind", name, "-test.short", "-test.skip", skip,
				"-test.run", "^Test(AnySource|Scenario|Session|Stress|Order|Cancel|Callback|Loan|Queue|Claim|Rails|Traffic|Wait|History|Monitor|Faults)")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// BenchmarkForbids measures how long a call takes to see that its caller is the owner.
func BenchmarkForbids(b *testing.B) {
	x := &domainAccess{ownerID: asm.GoID()}
	for b.Loop() {
		if x.accessError() != nil {
			b.Fatal()
		}
	}
}
