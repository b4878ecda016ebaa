package nmad

import (
	"context"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// placedDriver is shm whose links say that they lie elsewhere.
type placedDriver struct {
	shm.Driver
	at driver.Place
}

type placedEndpoint struct {
	driver.Endpoint
	at driver.Place
}

type placedLink struct {
	driver.Link
	at driver.Place
}

func (drv placedDriver) Open(c driver.Config) (driver.Endpoint, error) {
	e, err := drv.Driver.Open(c)
	return placedEndpoint{e, drv.at}, err
}

func (end placedEndpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	l, err := end.Endpoint.Dial(ctx, rank, addr)
	return placedLink{l, end.at}, err
}

func (end placedEndpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	rank, l, err := end.Endpoint.Accept(ctx)
	return rank, placedLink{l, end.at}, err
}

func (lnk placedLink) Caps() driver.Caps {
	c := lnk.Link.Caps()
	c.Place = lnk.at
	return c
}

// TestWherePolled: the task of a gate is in the queue of the node where its links lie, of several nodes in that
// of what they have in common, and messages arrive wherever that is.
func TestWherePolled(t *testing.T) {
	machine, err := topo.Synthetic("numa:2 core:2 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	node := func(i int) driver.Place {
		return driver.Place{Node: i, CPUs: machine.At(topo.NUMA)[i].CPUs, Why: "a test"}
	}
	anywhere := driver.Place{Node: -1, Why: "a test"}
	for _, c := range []struct {
		name  string
		rails []driver.Place
		vps   []int // of the queue
		near  string
	}{
		{"anywhere", []driver.Place{anywhere}, []int{0, 1, 2, 3}, ""},
		{"node 0", []driver.Place{node(0)}, []int{0, 1}, "0-1"},
		{"node 1", []driver.Place{node(1)}, []int{2, 3}, "2-3"},
		{"one rail on node 1, one anywhere", []driver.Place{anywhere, node(1)}, []int{2, 3}, ""},
		{"a rail on either node", []driver.Place{node(0), node(1)}, []int{0, 1, 2, 3}, "0-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sched.New(sched.Config{Topology: machine, VPs: 4})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Stop(context.Background())
			e := pioman.New(pioman.Config{})
			stop, err := e.Attach(s)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			j := newJob(t, 2, nil, func(cfg *Config) {
				for _, at := range c.rails {
					cfg.Rails = append(cfg.Rails, placedDriver{at: at})
				}
				if cfg.Rank == 0 {
					cfg.Engine = e
				}
			})
			defer j.close()
			if got := j.sessions[0].Gate(1).Info().Rails[0]; got.Near != c.near || got.Placed != "a test" {
				t.Errorf("the first rail is polled from %q, as %q; want %q", got.Near, got.Placed, c.near)
			}
			// A message has the task polled, so that its queue has it in its main list.
			go j.sessions[1].Gate(0).Send(1, []byte("x"))
			if _, err := j.sessions[0].Gate(1).Recv(1, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			e.Poll()
			var holders [][]int
			for _, q := range e.Explain().Queues {
				if q.Tasks > 0 {
					holders = append(holders, q.VPs)
				}
			}
			if len(holders) != 1 || !slices.Equal(holders[0], c.vps) {
				t.Errorf("the task is in the queues of the VPs %v, want %v", holders, c.vps)
			}
		})
	}
}
