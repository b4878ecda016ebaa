package nmad

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/pioman"
)

// blockingCalls are what one of two ranks waits in, and what the other one does that ends it.
var blockingCalls = []struct {
	name        string
	wait, serve func(d *Domain, peer int) error
}{
	{"Recv", func(d *Domain, peer int) error { _, err := d.Gate(peer).Recv(2, make([]byte, 9)); return err }, sendOne},
	{"Recv from any rank", func(d *Domain, _ int) error { _, err := d.Recv(Tag(2), make([]byte, 9)); return err }, sendOne},
	{"Send", func(d *Domain, peer int) error {
		return d.Gate(peer).Start(&Operation{Match: Tag(2), Sync: true}).Wait()
	}, func(d *Domain, peer int) error {
		_, err := d.Gate(peer).Recv(2, nil)
		return err
	}},
	{"WaitContext", func(d *Domain, peer int) error {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		return d.Gate(peer).Irecv(2, make([]byte, 9)).WaitContext(ctx)
	}, sendOne},
	{"WaitAny", func(d *Domain, peer int) error {
		never := d.Gate(peer).Irecv(3, nil)
		i, err := WaitAny(context.Background(), never, d.Gate(peer).Irecv(2, make([]byte, 9)))
		if never.Cancel(); err == nil && i != 1 {
			return fmt.Errorf("request %d has ended", i)
		}
		return err
	}, sendOne},
	{"Probe", func(d *Domain, peer int) error {
		_, err := d.Gate(peer).Probe(context.Background(), Tag(2))
		if err == nil {
			_, err = d.Gate(peer).Recv(2, make([]byte, 9))
		}
		return err
	}, sendOne},
	{"Queue", func(d *Domain, peer int) error {
		q, r := d.session.NewQueue(), &Request{}
		if err := d.Gate(peer).Post(r, &Operation{Kind: KindRecv, Match: Tag(2), Buf: make([]byte, 9), Queue: q}); err != nil {
			return err
		}
		_, err := q.Wait()
		return err
	}, sendOne},
	{"Claim", func(d *Domain, peer int) error {
		for {
			if m := d.Gate(peer).Claim(Tag(2)); m != nil {
				_, err := m.Recv(make([]byte, 9))
				return err
			}
			time.Sleep(time.Microsecond)
		}
	}, sendOne},
	{"Agree", agreeOnce, agreeOnce},
}

func sendOne(d *Domain, peer int) error { return d.Gate(peer).Send(2, []byte{1}) }

func agreeOnce(d *Domain, _ int) error {
	_, err := d.session.Agree(context.Background(), 1)
	return err
}

// TestOwnerMovesAll: whatever a goroutine waits for, in a private domain, in the job or in another session, it moves
// all its private domains, those of other sessions, too; and a session's job that no hook moves.
func TestOwnerMovesAll(t *testing.T) {
	overAll(t, func(t *testing.T, net driver.Driver) { ownersMoveAll(t, net, nil) })
	t.Run("without sleep", func(t *testing.T) {
		ownersMoveAll(t, shm.Driver{}, func(c *Config) { c.Spin = time.Minute })
	})
	if all := owners.all.All(); all != nil {
		t.Errorf("%d owners are left", len(all))
	}
}

func ownersMoveAll(t *testing.T, net driver.Driver, change func(*Config)) {
	j, j2 := newJob(t, 2, net, change), newJob(t, 2, net, change)
	long := 70_000
	if _, slow := net.(*simnet.Net); slow {
		long = 2_000
	}
	each(2, func(rank int) {
		peer := 1 - rank
		open := func(s *Session, number int) *Domain {
			d, err := s.Domain(DomainConfig{Number: number, Access: Private})
			if err != nil {
				t.Error(err)
			}
			return d
		}
		job, one := &j.sessions[rank].job, open(j.sessions[rank], 1)
		all := []struct {
			waits, owes *Domain
		}{{one, open(j.sessions[rank], 2)}, {job, one}, {one, job}, {one, open(j2.sessions[rank], 1)}, {&j2.sessions[rank].job, one}}
		for i, x := range all {
			for k, call := range blockingCalls {
				if x.owes == job && call.name == "Claim" {
					continue // it moves the job's gates only, as in any program without hooks
				}
				var err error
				if msg := pattern(long, uint64(k)); (i+k)%2 == rank {
					r := x.owes.Gate(peer).Isend(1, msg)
					err = errors.Join(call.wait(x.waits, peer), r.Wait())
				} else {
					if k%4 == 0 {
						time.Sleep(3 * time.Millisecond) // the other one sleeps by now, or does not
					}
					_, err = x.owes.Gate(peer).Recv(1, make([]byte, len(msg)))
					err = errors.Join(err, call.serve(x.waits, peer))
				}
				if err != nil {
					t.Errorf("rank %d, a wait of kind %d in %s: %v", rank, i, call.name, err)
					return
				}
			}
		}
		// A domain that closes waits for its sends; the peer takes these after what is owed in another one.
		x, y := all[0].waits, all[0].owes
		if rank == 0 {
			r, last := y.Gate(1).Isend(1, pattern(long, 1)), x.Gate(1).Isend(1, pattern(long, 2))
			if err := errors.Join(x.Close(), last.Wait(), r.Wait()); err != nil {
				t.Error("close: ", err)
			}
		} else {
			for _, d := range []*Domain{y, x} {
				if _, err := d.Gate(0).Recv(1, make([]byte, long)); err != nil {
					t.Error("before a close: ", err)
				}
			}
			if err := x.Close(); err != nil {
				t.Error("close: ", err)
			}
		}
	})
	j.close()
	j2.close()
}

// TestLastDomainOfWaiter: an owner waits for what others move, in its own engine, and its last domain is closed
// meanwhile; the wait goes on.
func TestLastDomainOfWaiter(t *testing.T) {
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "auto" })
	waits := map[string]func(g *Gate) error{
		"Recv": func(g *Gate) error { _, err := g.Recv(2, nil); return err },
		"WaitAny": func(g *Gate) error {
			_, err := WaitAny(context.Background(), g.Irecv(2, nil))
			return err
		},
		"Queue": func(g *Gate) error {
			q := g.domain.session.NewQueue()
			if err := g.Post(&Request{}, &Operation{Kind: KindRecv, Match: Tag(2), Queue: q}); err != nil {
				return err
			}
			_, err := q.Wait()
			return err
		},
	}
	for name, wait := range waits {
		opened := make(chan *Domain)
		var owner sync.WaitGroup
		owner.Go(func() {
			d, err := j.sessions[0].Domain(DomainConfig{Access: Private})
			if err != nil {
				t.Error(err)
			}
			r := d.Gate(1).Irecv(1, nil)
			opened <- d
			if err := wait(j.sessions[0].Gate(1)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := r.Wait(); !errors.Is(err, ErrClosed) {
				t.Error("a receive in a domain that was closed: ", err)
			}
		})
		d := <-opened
		time.Sleep(5 * time.Millisecond) // it sleeps by now, or does not: either is right
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := j.sessions[1].Gate(0).Send(2, nil); err != nil {
			t.Error(err)
		}
		owner.Wait()
	}
	j.close()
}

// TestOwnerEngine: the domains of a goroutine have one engine, and others have others; Domain.Engine names it as long
// as something is under way there.
func TestOwnerEngine(t *testing.T) {
	j := newJob(t, 2, nil, nil)
	s := j.sessions[0]
	mine := [2]*Domain{}
	for i := range mine {
		d, err := s.Domain(DomainConfig{Access: Private})
		if err != nil {
			t.Fatal(err)
		}
		mine[i] = d
	}
	own := mine[0].Engine()
	if own == s.Engine() || mine[1].Engine() != own {
		t.Error("two private domains do not have one engine of their own")
	}
	if s.job.Engine() != s.Engine() {
		t.Error("the job waits in the engine of private domains that are at rest")
	}
	r := mine[1].Gate(1).Irecv(1, nil)
	if s.job.Engine() != own || (*Domain)(nil).Engine() != own {
		t.Error("a wait does not move the private domains")
	}
	each(1, func(int) {
		d, err := s.Domain(DomainConfig{Access: Private})
		if err != nil {
			t.Error(err)
		}
		if d.Engine() == own || s.job.Engine() != s.Engine() {
			t.Error("another goroutine has that engine, too")
		}
	})
	if !r.Cancel() || s.job.Engine() != s.Engine() || (*Domain)(nil).Engine() != pioman.Default() {
		t.Error("the job waits in the engine of private domains that are at rest again")
	}
	j.close()
}

// TestOwnerAllocates: to wait for the job while private domains have something under way allocates nothing, whether the
// owner sleeps or not.
func TestOwnerAllocates(t *testing.T) {
	effort.SkipIfNotInlined(t)
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "shm" })
	const rounds = 100
	each(2, func(rank int) {
		d, err := j.sessions[rank].Domain(DomainConfig{Number: 1, Access: Private})
		if err != nil {
			t.Error(err)
		}
		r := d.Gate(1-rank).Irecv(1, nil)
		g, buf, n := j.sessions[rank].Gate(1-rank), make([]byte, 8), 0
		turn := func() {
			if n++; rank == 1 && n%10 == 0 {
				time.Sleep(3 * time.Millisecond)
			}
			if err := errors.Join(g.Send(2, buf), func() error { _, err := g.Recv(2, buf); return err }()); err != nil {
				t.Error(err)
			}
		}
		if rank == 1 {
			for range 2*rounds + 1 {
				turn()
			}
		} else {
			for range rounds {
				turn()
			}
			if n := testing.AllocsPerRun(rounds, turn); n >= 1 {
				t.Errorf("%v allocations a turn", n)
			}
		}
		r.Cancel()
	})
	j.close()
}
