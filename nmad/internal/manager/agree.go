package manager

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/internal/kernel"
)

const (
	// maxValueBytes is the longest value that a process puts, in bytes: it fits into one line of Slurm's PMI.
	maxValueBytes = 500

	// keySize is the length of the random key, in bytes.
	keySize = 32

	hostKey    = "pm2-host-"   // key, before the number of a rank, of the host on which the rank runs (host.String)
	meetingKey = "pm2-meeting" // key of what rank 0 puts
)

// Meeting is what the processes of a job have agreed on.
type Meeting struct {
	Secret   []byte       // the secret of the job
	Addr     string       // host:port at which rank 0 listens
	Listener net.Listener // the socket that listens at Addr; nil except on rank 0

	Listen []string // where this process is to accept links: one host:port for each network that all hosts share

	Nodes []int // host of each rank, numbered from 0, as the manager has placed the ranks
	Hosts int   // number of different hosts in Nodes
}

// OnePerHost reports whether each rank has a host of its own.
func (m *Meeting) OnePerHost() bool { return m.Hosts == len(m.Nodes) }

// Local returns the index of a rank among the ranks of its host, in their order, and the number of ranks of that host.
func (m *Meeting) Local(rank int) (index, count int) {
	for r, n := range m.Nodes {
		if n == m.Nodes[rank] {
			if r < rank {
				index++
			}
			count++
		}
	}
	return index, count
}

// Agree lets the processes of a job agree on where they meet, and on a secret. All processes must call it with the same
// ifaces, which says which networks to use between hosts (PM2_IFACE). Agree blocks until all processes have called it,
// or ctx ends. On rank 0 the caller closes Meeting.Listener.
func Agree(ctx context.Context, m Manager, ifaces string) (*Meeting, error) {
	own := &Meeting{Nodes: compact(m.Nodes(), m.Size())}
	own.Hosts = slices.Max(own.Nodes) + 1
	a := negotiation{ctx: ctx, m: m, meeting: own}
	err := a.run(ifaces)
	if err != nil {
		if own.Listener != nil {
			own.Listener.Close()
		}
		if !errors.Is(err, ErrManager) {
			err = &Error{m.Name(), "agree with the other processes of the job", err}
		}
		return nil, err
	}
	return own, nil
}

// compact numbers the nodes from 0 on, in the order of their first ranks. If nodes is nil, each rank gets a node of its
// own.
func compact(nodes []int, size int) []int {
	out := make([]int, size)
	numbers := map[int]int{}
	for r := range out {
		n := r
		if nodes != nil {
			n = nodes[r]
		}
		if _, known := numbers[n]; !known {
			numbers[n] = len(numbers)
		}
		out[r] = numbers[n]
	}
	return out
}

// negotiation is the state of one call of Agree.
type negotiation struct {
	ctx     context.Context // ends the call
	m       Manager
	meeting *Meeting // the result; run fills it in
	own     host     // this process's host
}

// run takes the steps that the package's comment draws.
func (a *negotiation) run(ifaces string) (err error) {
	if a.own, err = ownHost(ifaces); err != nil {
		return err
	}
	if a.meeting.Hosts > 1 {
		if index, _ := a.meeting.Local(a.m.Rank()); index == 0 { // the first rank of this host
			if err := a.m.Put(a.ctx, hostKey+strconv.Itoa(a.m.Rank()), a.own.String()); err != nil {
				return err
			}
		}
		if err := a.m.Fence(a.ctx); err != nil {
			return err
		}
	}
	var text string
	if a.m.Rank() == 0 {
		if text, err = a.offer(); err != nil {
			return err
		}
		if err := a.m.Put(a.ctx, meetingKey, text); err != nil {
			return err
		}
	}
	if err := a.m.Fence(a.ctx); err != nil {
		return err
	}
	if text == "" { // any rank but 0
		if text, err = a.m.Get(a.ctx, 0, meetingKey); err != nil {
			return err
		}
	}
	return a.accept(text)
}

// digest identifies a job by its size and the name of its key space.
func digest(space string, size int) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", size, space))
	return sum[:]
}

// offer is rank 0's part: it chooses the networks, listens, and makes the random key. It returns the value that rank 0
// puts under meetingKey.
func (a *negotiation) offer() (string, error) {
	hosts := []host{a.own}
	for n := 1; n < a.meeting.Hosts; n++ {
		first := slices.Index(a.meeting.Nodes, n)
		text, err := a.m.Get(a.ctx, first, hostKey+strconv.Itoa(first))
		if err != nil {
			return "", err
		}
		h, err := parseHost(text)
		if err != nil {
			return "", fmt.Errorf("rank %d: %w", first, err)
		}
		hosts = append(hosts, h)
	}
	networks := common(hosts)
	where := "127.0.0.1:0"
	switch networks[0] {
	case loopback:
	case byRoute:
		if len(a.own.addrs) == 0 {
			return "", errors.New("this host has no address that other hosts could reach: is an interface up? PM2_IFACE names those to use")
		}
		where = net.JoinHostPort(a.own.addrs[0].Addr().String(), "0")
	default:
		all, err := a.own.listen(networks[:1], "")
		if err != nil {
			return "", err
		}
		where = all[0]
	}
	l, err := kernel.Listen("tcp", where)
	if err != nil {
		return "", fmt.Errorf("rank 0 cannot listen at %s: %w", where, err)
	}
	a.meeting.Listener = l
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	text := strings.Join([]string{a.own.id, hex.EncodeToString(key), l.Addr().String(), strings.Join(networks, ",")}, ";")
	if len(text) > maxValueBytes {
		return "", fmt.Errorf("too many networks between the hosts, %d: name those to use by PM2_IFACE", len(networks))
	}
	return text, nil
}

// accept fills in the Meeting from the value that rank 0 has put under meetingKey. Rank 0 calls it, too.
func (a *negotiation) accept(text string) error {
	words := strings.Split(text, ";")
	var key []byte
	var err error
	if len(words) == 4 {
		key, err = hex.DecodeString(words[1])
	}
	if err != nil || len(key) != keySize || len(text) > maxValueBytes {
		return errors.New("what rank 0 has put into the key space is not of this protocol: run the same build everywhere")
	}
	if _, _, err := net.SplitHostPort(words[2]); err != nil {
		return fmt.Errorf("rank 0 says that it listens at %.60q: %w", words[2], err)
	}
	networks := strings.Split(words[3], ",")
	if networks[0] == loopback && words[0] != a.own.id {
		return errors.New("the manager says that this process and rank 0 are on one host, but they are in different network name spaces or on different hosts: tell it the right hosts")
	}
	if a.meeting.Listen, err = a.own.listen(networks, words[2]); err != nil {
		return err
	}
	if networks[0] == byRoute && a.m.Rank() == 0 {
		at, _, _ := net.SplitHostPort(words[2])
		a.meeting.Listen = []string{net.JoinHostPort(at, "0")}
	}
	code := hmac.New(sha256.New, key)
	code.Write([]byte("pm2 job of a process manager"))
	code.Write(digest(a.m.Space(), a.m.Size()))
	a.meeting.Addr, a.meeting.Secret = words[2], code.Sum(nil)
	return nil
}
