package roster

import (
	"context"
	"net"
	"testing"
	"time"
)

// strand has a process quit its parent, and look for no other one.
func strand(c *Roster) {
	c.stop()
	doubt(c)
}

// TestQuitsAndDies: a process that quits its leader, and dies before it has found another parent, is missed, though its leader is still there.
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

// TestGivesUpAnAttempt: a process that has been admitted when it has given up already is not dead for that: it may come again.
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

// TestBringsDeaths: a process that connects anew has taken another one for lost, as a root did that it had before: that one is lost to all.
func TestBringsDeaths(t *testing.T) {
	p, all := doubting(t, 4, nil)
	defer leave(all)
	all[3].departs(Event{Rank: 2, Kind: Died, Reason: "another root has lost it"})
	doubt(all[3])
	for _, rank := range []int{0, 1} {
		p.lost(rank, 1, 2, Died, "another root has lost it")
	}
	for _, rank := range []int{0, 1, 3} {
		p.lost(2, 3, rank, Died, "has taken this process for lost")
	}
}

// TestAnotherProgram: at the address of the successor, which has died, another program answers. The search does not wait for it, though silence is no death.
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
