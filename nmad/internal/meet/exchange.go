package meet

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Patience is how long the exchange of a link may take, as package limit counts: long enough for a machine with a
// thousand processes starting on it, short enough that a stranger that says nothing occupies little.
const Patience = 10 * time.Second

// Me describes this process in an exchange.
type Me struct {
	Message
	Secret []byte
}

// Peer is the process at the other end, once it has proved that it holds the secret.
type Peer struct {
	Message
	Answer byte                                       // of the listener
	seal   func(label string, parts ...[]byte) []byte // exchange.code: makes keys for what follows the exchange
}

// exchange is one exchange, as one of its sides sees it.
type exchange struct {
	conn             net.Conn
	me               Me
	dialer, listener []byte // the hellos
}

// Dialer runs the exchange on the side that connected and expects the process of that rank. The caller bounds the time
// of conn and closes it on error.
func Dialer(conn net.Conn, me Me, rank int) (*Peer, error) {
	x := exchange{conn: conn, me: me, dialer: me.fresh()}
	err := x.write(kindHello, x.dialer)
	if err != nil {
		return nil, err
	}
	if x.listener, err = x.read(kindHello); err != nil {
		return nil, err
	}
	peer, err := x.judge(x.listener)
	if err == nil && peer.Rank != uint32(rank) {
		err = Refused("rank %d answers where rank %d was expected", peer.Rank, rank)
	}
	if err != nil {
		return nil, Refuse(conn, err)
	}
	if err = x.write(kindProof, x.proof("dialer", 0)); err != nil {
		return nil, err
	}
	if peer.Answer, err = x.verify("listener"); err != nil {
		return nil, err
	}
	return peer, nil
}

// Listener runs the exchange on the side that accepted. It calls proved when the peer has proved itself, and then
// decide, unless that is nil: decide may refuse the peer still, or give it an answer, which stands in Peer.Answer on
// both sides. The caller bounds the time of conn and closes it on error.
func Listener(conn net.Conn, me Me, proved func(), decide func(peer *Peer) error) (*Peer, error) {
	x := exchange{conn: conn, me: me}
	var err error
	if x.dialer, err = x.read(kindHello); err != nil {
		return nil, Refuse(conn, err)
	}
	peer, err := x.judge(x.dialer)
	if err != nil {
		return nil, Refuse(conn, err)
	}
	x.me.Track, x.me.Link = peer.Track, peer.Link
	x.listener = x.me.fresh()
	if err = x.write(kindHello, x.listener); err != nil {
		return nil, err
	}
	if _, err = x.verify("dialer"); err != nil {
		return nil, Refuse(conn, err)
	}
	proved()
	if decide != nil {
		if err = decide(peer); err != nil {
			return nil, Refuse(conn, err)
		}
	}
	return peer, x.write(kindProof, x.proof("listener", peer.Answer))
}

// fresh returns a hello with a new nonce.
func (me *Me) fresh() []byte {
	copy(me.Magic[:], magic)
	me.Version = Version
	_, _ = rand.Read(me.Nonce[:]) // never fails: crypto/rand ends the program instead
	return me.encode()
}

// judge reads the hello of the other side. It returns a refusal if its process does not belong to the job.
func (x *exchange) judge(hello []byte) (*Peer, error) {
	me, peer := &x.me, &Peer{seal: x.code}
	if err := peer.decode(hello); err != nil {
		return nil, err
	}
	switch {
	case peer.Driver != me.Driver:
		return nil, Refused("it uses driver %q, this process %q", printable([]byte(peer.Driver)), me.Driver)
	case peer.Job != me.Job:
		return nil, Refused("it belongs to job %q, this process to %q", printable([]byte(peer.Job)), me.Job)
	case peer.Size != me.Size:
		return nil, Refused("it believes in a job of %d processes, this process in %d: give all the same PM2_SIZE", peer.Size, me.Size)
	case peer.Rank >= me.Size:
		return nil, Refused("it calls itself rank %d in a job of %d: PM2_RANK must be below PM2_SIZE", peer.Rank, me.Size)
	case peer.MaxBody == 0 && me.MaxBody != 0:
		return nil, Refused("it takes no bodies")
	}
	return peer, nil
}

// proof returns the payload by which a side proves itself: its answer, and a code over that and both hellos which
// only a process with the secret can compute.
func (x *exchange) proof(role string, answer byte) []byte {
	return append([]byte{answer}, x.code("pm2 hello", []byte(role), []byte{answer})...)
}

// verify reads the proof of the other side and returns the answer in it.
func (x *exchange) verify(role string) (answer byte, err error) {
	got, err := x.read(kindProof)
	if err != nil {
		return 0, err
	}
	if len(got) == 0 || !hmac.Equal(got, x.proof(role, got[0])) {
		return 0, Refused("it does not hold the secret of this job: give all processes the same one")
	}
	return got[0], nil
}

// code returns the HMAC under the secret over the parts and both hellos.
func (x *exchange) code(label string, parts ...[]byte) []byte {
	return Code(x.me.Secret, label, append(parts, x.dialer, x.listener)...)
}

// Code is HMAC-SHA256 under a secret over a label and parts, each with its length before it.
func Code(secret []byte, label string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, secret)
	for _, part := range append([][]byte{[]byte(label)}, parts...) {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(part))))
		h.Write(part)
	}
	return h.Sum(nil)
}

// write writes a frame of the exchange.
func (x *exchange) write(kind byte, payload []byte) error {
	return exchangeError(WriteFrame(x.conn, kind, payload))
}

// read reads a frame of the exchange, which must be of that kind.
func (x *exchange) read(kind byte) ([]byte, error) {
	payload, err := ReadFrame(x.conn, kind)
	return payload, exchangeError(err)
}

// exchangeError explains the error of a connection on which the peer has stopped in the middle of the exchange.
func exchangeError(err error) error {
	if _, ok := errors.AsType[*Refusal](err); ok || err == nil {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it closed the connection before it had named itself: %w; %w", driver.ErrPeerLost, driver.ErrBusy)
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return fmt.Errorf("it did not name itself in time: %w", driver.ErrBusy)
	}
	return fmt.Errorf("%w: %w", driver.ErrPeerLost, err)
}
