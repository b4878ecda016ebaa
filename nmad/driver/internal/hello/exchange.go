package hello

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

// Patience is how long an exchange may take, as package limit counts, for its callers: long
// enough for a machine with a thousand processes starting on it, short enough
// that a stranger that connects and says nothing occupies little.
const Patience = 10 * time.Second

// Me describes this process in an exchange.
type Me struct {
	Message
	Secret []byte
}

// Dialer runs the exchange on the side that connected and expects the process
// of that rank. The caller bounds the time of conn and closes it on error.
func Dialer(conn net.Conn, me Me, rank int) (peer Message, err error) {
	mine := me.fresh()
	if err := WriteFrame(conn, kindHello, mine); err != nil {
		return peer, unheard(err)
	}
	theirs, err := ReadFrame(conn, kindHello)
	if err != nil {
		return peer, unheard(err)
	}
	if err := peer.decode(theirs); err != nil {
		return peer, Refuse(conn, err)
	}
	if err := me.compare(&peer); err != nil {
		return peer, Refuse(conn, err)
	}
	if peer.Rank != uint32(rank) {
		return peer, Refuse(conn, refused("rank %d answers where rank %d was expected", peer.Rank, rank))
	}
	if err := WriteFrame(conn, kindProof, me.proof("dialer", mine, theirs)); err != nil {
		return peer, unheard(err)
	}
	got, err := ReadFrame(conn, kindProof)
	if err != nil {
		return peer, unheard(err)
	}
	if !hmac.Equal(got, me.proof("listener", mine, theirs)) {
		return peer, Refuse(conn, wrongSecret)
	}
	return peer, nil
}

// Visit is told how far the exchange with a stranger is.
type Visit interface {
	Heard()  // it has said its hello
	Proved() // it holds the secret
}

// Listener runs the exchange on the side that accepted, and tells v. check, unless nil, sees
// the peer once it has proved itself, and may refuse it still. The caller
// bounds the time of conn and closes it on error.
func Listener(conn net.Conn, me Me, v Visit, check func(peer *Message) error) (peer Message, err error) {
	theirs, err := ReadFrame(conn, kindHello)
	if err != nil {
		return peer, Refuse(conn, unheard(err))
	}
	v.Heard()
	if err := peer.decode(theirs); err != nil {
		return peer, Refuse(conn, err)
	}
	if err := me.compare(&peer); err != nil {
		return peer, Refuse(conn, err)
	}
	me.Track, me.Link = peer.Track, peer.Link
	mine := me.fresh()
	if err := WriteFrame(conn, kindHello, mine); err != nil {
		return peer, unheard(err)
	}
	got, err := ReadFrame(conn, kindProof)
	if err != nil {
		return peer, Refuse(conn, unheard(err))
	}
	if !hmac.Equal(got, me.proof("dialer", theirs, mine)) {
		return peer, Refuse(conn, wrongSecret)
	}
	v.Proved()
	if check != nil {
		if err := check(&peer); err != nil {
			return peer, Refuse(conn, err)
		}
	}
	if err := WriteFrame(conn, kindProof, me.proof("listener", theirs, mine)); err != nil {
		return peer, unheard(err)
	}
	return peer, nil
}

var wrongSecret = refused("it does not hold the secret of this job")

// Refuse tells the peer why no link comes of it, if err is for it to know: this process turns it away, or lacks
// something. It gives err back. The caller closes conn.
func Refuse(conn net.Conn, err error) error {
	var r *Refusal
	var l *lack
	// The peer may be gone or stuck; err is what counts.
	switch {
	case errors.As(err, &r) && !r.ByPeer:
		_ = WriteFrame(conn, kindRefusal, cut(r.Reason))
	case errors.As(err, &l) && !l.byPeer:
		_ = WriteFrame(conn, l.frame(), cut(l.cause.Error()))
	}
	return err
}

// cut makes a reason fit a frame.
func cut(reason string) []byte { return []byte(reason[:min(len(reason), MaxFrame)]) }

// Refused makes a reason to turn the peer away, for drivers' own steps.
func Refused(format string, args ...any) error { return refused(format, args...) }

// fresh encodes the hello with a new nonce.
func (me *Me) fresh() []byte {
	me.version = Version
	_, _ = rand.Read(me.nonce[:]) // never fails: crypto/rand ends the program instead
	return me.encode()
}

// compare says why a peer with that hello does not belong to the job.
func (me *Me) compare(peer *Message) error {
	switch {
	case peer.Driver != me.Driver:
		return refused("it uses driver %q, this process %q", printable([]byte(peer.Driver)), me.Driver)
	case peer.Job != me.Job:
		return refused("it belongs to job %q, this process to %q", printable([]byte(peer.Job)), me.Job)
	case peer.Size != me.Size:
		return refused("it believes in a job of %d processes, this process in %d", peer.Size, me.Size)
	case peer.Rank >= me.Size:
		return refused("it calls itself rank %d in a job of %d", peer.Rank, me.Size)
	case peer.MaxBody == 0:
		return refused("it takes no bodies")
	}
	return nil
}

// proof is what only a process that holds the secret can compute of both hellos.
func (me *Me) proof(role string, dialer, listener []byte) []byte {
	h := hmac.New(sha256.New, me.Secret)
	for _, part := range [][]byte{[]byte("pm2 hello"), []byte(role), dialer, listener} {
		var n [4]byte
		binary.LittleEndian.PutUint32(n[:], uint32(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return h.Sum(nil)
}

// unheard explains the error of a connection on which the peer has stopped in the middle of the exchange.
func unheard(err error) error {
	var r *Refusal
	switch {
	case errors.As(err, &r), errors.Is(err, driver.ErrLack):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it closed the connection before it had named itself: %w; %w", driver.ErrPeerLost, driver.ErrBusy)
	}
	var t net.Error
	if errors.As(err, &t) && t.Timeout() {
		return fmt.Errorf("it did not name itself in time: %w", driver.ErrBusy)
	}
	return fmt.Errorf("%w: %w", driver.ErrPeerLost, err)
}
