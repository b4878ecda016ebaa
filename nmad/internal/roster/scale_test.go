package roster

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

var scale = flag.Int("scale", 0, "processes of the job of TestScale, 100 on each host; 0: 400 on hosts of 20")

// counted is a connection that counts what it carries.
type counted struct {
	net.Conn
	t *traffic
}

type traffic struct{ conns, reads, read, writes, written atomic.Int64 }

func (ct counted) Read(b []byte) (int, error) {
	n, err := ct.Conn.Read(b)
	ct.t.reads.Add(1)
	ct.t.read.Add(int64(n))
	return n, err
}

func (ct counted) Write(b []byte) (int, error) {
	n, err := ct.Conn.Write(b)
	ct.t.writes.Add(1)
	ct.t.written.Add(int64(n))
	return n, err
}

// listening counts the connections of a listener.
type listening struct {
	net.Listener
	t *traffic
}

func (l listening) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.t.conns.Add(1)
	return counted{c, l.t}, nil
}

// actor is one process of a simulated job that does what the protocol asks of it, and keeps nothing: so thousands fit
// into one process. A leader speaks for its host.
func actor(addr string, above, size int, subtree []int, over *sync.WaitGroup, seen *traffic, t *testing.T) {
	defer over.Done()
	network := "tcp"
	if strings.HasPrefix(addr, "@") {
		network = "unix"
	}
	conn, err := net.Dial(network, addr)
	for pause := time.Millisecond; err != nil && network == "unix" && pause < 20*time.Second; pause *= 2 { // the leader is yet to come, or has many connections in their handshake
		time.Sleep(pause)
		conn, err = net.Dial(network, addr)
	}
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	seen.conns.Add(1)
	conn = counted{conn, seen}
	me := (&Roster{cfg: Config{Rank: subtree[0], Size: size, Secret: secret}}).me(false)
	peer, err := meet.Dialer(conn, me, above)
	if err != nil || peer.Answer != byte(welcome) {
		t.Error(err, peer)
		return
	}
	w := &wire{Sealed: peer.Seal(conn, true)}
	cards := make([]Card, len(subtree))
	for i, rank := range subtree {
		cards[i] = typical(rank)
	}
	if err := w.Send(kindCard, encodeCards(cards)); err != nil {
		t.Error(err)
		return
	}
	for {
		k, _, err := w.recv(size)
		switch {
		case err != nil:
			t.Error(err)
			return
		case k == kindTable:
			err = w.Send(kindReady, nil)
		case k == kindGo:
			for _, rank := range subtree {
				err = w.Send(kindLeave, encodeRanks(rank))
			}
			if err == nil {
				return
			}
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// typical is a card as the driver auto makes it.
func typical(rank int) Card {
	host := fmt.Sprintf("4f1c9ee2-7d1b-4c5e-9a52-%012x/pid:[4026531836]", rank/100)
	return Card{
		Rank: rank, PID: 30000 + rank, StartTime: uint64(123456 + rank), Host: host, Window: 4 << 20, Records: 1 << 18, Lazy: true,
		Rails: []Rail{{"auto", fmt.Sprintf("4f1c9ee27d1b4c5e9a52%012x-4026531840-4026531836 @pm2-shm-%d-77ab12cd34ef5601 @pm2-unix-%d-39f0aa55cc11dd77 10.0.%d.%d:%d",
			rank/100, rank, rank, rank/25600, rank/100%256, 32768+rank%100)}},
	}
}

// TestScale runs the real rank 0 of a large job among actors, and tells what it has to do: by connections, frames and
// bytes these are those of the hosts and of its neighbors, not of all processes.
func TestScale(t *testing.T) {
	size, each := *scale, 100
	if size == 0 {
		size, each = 400, 20
	}
	hosts := make([]int, size)
	for rank := range hosts {
		hosts[rank] = rank / each
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var seen traffic
	cfg := Config{
		Rank: 0, Size: size, Hosts: hosts, Listener: listening{l, &seen}, Secret: secret, Card: typical(0), Timeout: 2 * time.Minute,
		Handshake: time.Minute, // on a machine that plays all hosts
	}
	began := time.Now()
	before := open(t)
	var actors sync.WaitGroup
	var mirror, below traffic // what rank 0's members, and those of the leader, have carried
	for rank, subtree := range newTree(hosts, 0, size).subtrees {
		if rank != each {
			actors.Add(1)
			go actor(l.Addr().String(), 0, size, subtree, &actors, &mirror, t)
		}
	}
	for rank := each + 1; rank < 2*each; rank++ {
		actors.Add(1)
		go actor(leaderSocket(secret, each), each, size, []int{rank}, &actors, &below, t)
	}
	lead := cfg // the second host has a real leader
	lead.Rank, lead.Listener, lead.Addr, lead.Card = each, nil, l.Addr().String(), typical(each)
	led := make(chan *Roster, 1)
	go func() {
		c, err := Join(context.Background(), lead)
		if err == nil {
			err = c.Ready()
		}
		if err != nil {
			t.Error(err)
		}
		led <- c
	}()
	c, err := Join(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	descriptors := open(t) - before
	if err := c.Ready(); err != nil {
		t.Fatal(err)
	}
	leader := <-led
	actors.Wait()
	took := time.Since(began)
	leader.Leave()
	c.Leave()
	members := int64(size/each + each - 2)
	if n := seen.conns.Load(); n != members {
		t.Errorf("%d connections to rank 0, want %d", n, members)
	}
	// TABLE, GO, hello, proof; besides, every LEAVE goes to all that are still there.
	if n, most := seen.writes.Load(), members*(4+int64(size)); n > most {
		t.Errorf("rank 0 has written %d times, %d at most are its share", n, most)
	}
	if n := below.conns.Load(); n != int64(each-1) {
		t.Errorf("%d connections to the leader, want %d", n, each-1)
	}
	t.Logf("the leader of a host of %d has %d connections; it read %.1f kB from its host, and wrote %.1f kB to it", each, below.conns.Load()+1,
		float64(below.written.Load())/1e3, float64(below.read.Load())/1e3)
	table := pack(encodeCards(c.Cards()))
	t.Logf("%d processes on %d hosts: rank 0 has %d connections, %d descriptors with the other ends; it read %.1f kB, and wrote %d times, %.1f kB; the table is %d bytes, %d packed; %v in all, on one machine",
		size, size/each, seen.conns.Load(), descriptors, float64(seen.read.Load())/1e3, seen.writes.Load(), float64(seen.written.Load())/1e3,
		len(encodeCards(c.Cards())), len(table), took.Round(time.Millisecond))
}

// open is how many descriptors this process has.
func open(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(names)
}
