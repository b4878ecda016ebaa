package bench

import (
	"errors"
	"fmt"
	"net"

	"github.com/pm2-go/pm2/marcel"
	pio "github.com/pm2-go/pm2/pioman/io"
)

func socketRows() []Experiment {
	return []Experiment{
		{
			Name: "tcp ping-pong, 1 VP", VPs: 1, P: 1, PeerName: "goroutines over net.Conn, P=1", Least: 2,
			Ours: tcpOurs, Peer: tcpPeer,
		},
		{
			Name: "tcp ping-pong, 2 VPs", VPs: 2, P: 2, PeerName: "goroutines over net.Conn, P=2", Least: 2, Crosses: true,
			Ours: tcpOurs, Peer: tcpPeer,
		},
	}
}

// tcpOurs has two threads send each other one byte over loopback, through the engine. Each byte is one operation. With
// two VPs each thread stays on its own.
func tcpOurs(s *stage, n int) error {
	r, err := pio.NewReactor(s.engine)
	if err != nil {
		return err
	}
	defer r.Close()
	l, err := r.Listen("tcp", ":0")
	if err != nil {
		return err
	}
	a, err := r.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	b, err := l.AcceptConn()
	if err != nil {
		return err
	}
	turns := func(n int) error {
		var there, here error
		x := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() { there = bounce(a, n/2, true) })
		y := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(s.sched.NumVP() - 1)}, func() { here = bounce(b, n/2, false) })
		return errors.Join(x.Join(), y.Join(), there, here)
	}
	return s.watch.timed(n, 1000, turns)
}

func tcpPeer(w *watch, n int) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := l.Accept()
	if err != nil {
		return err
	}
	defer b.Close()
	turns := func(n int) error {
		done := make(chan error)
		go func() { done <- bounce(a, n/2, true) }()
		here := bounce(b, n/2, false)
		return errors.Join(<-done, here)
	}
	return w.timed(n, 1000, turns)
}

// bounce sends a byte and receives one, turns times, or the other way round; each byte says which turn it is of. A
// failure ends the other side as well.
func bounce(c net.Conn, turns int, first bool) (err error) {
	defer func() {
		if err != nil {
			_ = c.Close()
		}
	}()
	p := make([]byte, 1)
	for i := range turns {
		if first {
			p[0] = byte(i)
			if _, err := c.Write(p); err != nil {
				return err
			}
		}
		if _, err := c.Read(p); err != nil {
			return err
		}
		if p[0] != byte(i) {
			return fmt.Errorf("turn %d: received byte %d", i, p[0])
		}
		if !first {
			if _, err := c.Write(p); err != nil {
				return err
			}
		}
	}
	return nil
}
