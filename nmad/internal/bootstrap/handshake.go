package bootstrap

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// The handshake is the mutual challenge-response of ISO/IEC 9798-4 with HMAC:
// each side's code covers both nonces, both roles have labels of their own (so
// that nothing can be reflected), and the dialler's covers the rank and size it
// claims. The keys of the frames that follow come from the same nonces.

const (
	// Version of the control protocol. Both sides must have the same.
	Version = 10
	// MaxSize is the largest number of processes in a job.
	MaxSize = 1 << 16

	nonceSize    = 32
	greetingSize = 4 + 2 + 2 + nonceSize
	claimSize    = 4 + 2 + 2 + 4 + 4 + nonceSize + sha256.Size
	verdictSize  = 4 + 2 + 1 + 1 + sha256.Size
)

// reconnecting stands in the place of the verdict in the claim of a process that has lost its parent.
const reconnecting = 1

var magic = [4]byte{'P', 'M', '2', 'C'}

// verdict is rank 0's answer to a claim.
type verdict uint8

const (
	welcome       verdict = iota
	wrongSecret           // the HMAC does not match
	wrongVersion          // other version of the protocol
	wrongSize             // the dialler was told another size of the job
	rankRange             // no such rank
	rankTaken             // another process is that rank already
	alreadyClosed         // all ranks were there already
	wrongPlace            // that rank belongs to another host's leader
	takenForLost          // the job runs, and has lost this rank
	elsewhere             // the job runs, and this process has a parent itself
	notYet                // the job runs, and this process looks for a parent itself
	lastVerdict   = notYet
)

func (v verdict) String() string {
	switch v {
	case welcome:
		return "welcome"
	case wrongSecret:
		return "the secrets differ: give all processes of the job the same one"
	case wrongVersion:
		return "the versions of the control protocol differ: run the same build everywhere"
	case wrongSize:
		return "the job has another size there: give all processes the same PM2_SIZE"
	case rankRange:
		return "this rank does not exist in the job: PM2_RANK must be below PM2_SIZE"
	case rankTaken:
		return "another process has this rank already: give each its own PM2_RANK"
	case alreadyClosed:
		return "the job is complete already: another process may have this rank"
	case wrongPlace:
		return "this rank has its place at another process: the processes of the job do not agree on which hosts they are"
	case takenForLost:
		return "the others have taken this process for lost"
	case elsewhere:
		return "an earlier process keeps the list"
	case notYet:
		return "which process keeps the list is not settled yet"
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// refusal is an ErrRefused that tells the verdict.
type refusal struct{ verdict verdict }

func (r refusal) Error() string { return fmt.Sprintf("%v: %v", ErrRefused, r.verdict) }
func (refusal) Unwrap() error   { return ErrRefused }

// Errors of the handshake.
var (
	// ErrRefused says that the other side did not let us in; the text says why.
	ErrRefused = errors.New("refused")
	// ErrSecret says that the other side does not hold the job's secret.
	ErrSecret = errors.New("the other side does not hold the job's secret")
	// errNotOurs: what listens there speaks another protocol.
	errNotOurs = errors.New("the other side does not speak the PM2 control protocol")
)

type nonce [nonceSize]byte

func code(secret []byte, label string, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(label))
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}

func appendHead(b []byte) []byte {
	b = append(b, magic[:]...)
	b = binary.LittleEndian.AppendUint16(b, Version)
	return append(b, 0, 0)
}

// checkHead looks at the eight bytes with which every handshake message begins.
func checkHead(b []byte) error {
	if !bytes.Equal(b[:4], magic[:]) {
		return errNotOurs
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != Version {
		return fmt.Errorf("%w: the other side has version %d of the control protocol, we have %d", ErrRefused, v, Version)
	}
	return nil
}

// offer is the dialler's side: it proves that we hold the secret, checks that
// rank 0 does, and returns the connection ready for frames. The caller has bounded
// its time.
func offer(conn net.Conn, secret []byte, rank, size int, again bool) (*wire, error) {
	var greeting [greetingSize]byte
	if _, err := io.ReadFull(conn, greeting[:]); err != nil {
		return nil, fmt.Errorf("read the greeting: %w", err)
	}
	if err := checkHead(greeting[:]); err != nil {
		return nil, err
	}
	theirs := greeting[8:]
	var ours nonce
	rand.Read(ours[:]) // never fails
	claim := appendHead(make([]byte, 0, claimSize))
	if again {
		claim[6] = reconnecting
	}
	claim = appendU32(claim, uint32(rank))
	claim = appendU32(claim, uint32(size))
	claim = append(claim, ours[:]...)
	claim = append(claim, code(secret, "pm2 claim", theirs, claim)...)
	if _, err := conn.Write(claim); err != nil {
		return nil, fmt.Errorf("send the claim: %w", err)
	}
	var answer [verdictSize]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return nil, fmt.Errorf("read the verdict: %w", err)
	}
	if err := checkHead(answer[:]); err != nil {
		return nil, err
	}
	v := verdict(answer[6])
	switch {
	case v > lastVerdict:
		return nil, errNotOurs
	case v == wrongSecret, v == wrongVersion:
		return nil, refusal{v}
	case !hmac.Equal(answer[8:], code(secret, "pm2 verdict", ours[:], theirs, answer[:8])):
		return nil, ErrSecret
	case v != welcome:
		return nil, refusal{v}
	}
	return newWire(conn, secret, theirs, ours[:], false), nil
}

// receive is rank 0's side. It calls admit after the dialler has proven that it knows the secret and
// has claimed a rank of the job. The caller sets the deadline of conn.
func receive(conn net.Conn, secret []byte, size int, admit func(rank int, again bool) verdict) (*wire, int, error) {
	var ours nonce
	rand.Read(ours[:]) // never fails
	if _, err := conn.Write(append(appendHead(make([]byte, 0, greetingSize)), ours[:]...)); err != nil {
		return nil, 0, fmt.Errorf("send the greeting: %w", err)
	}
	var claim [claimSize]byte
	if _, err := io.ReadFull(conn, claim[:]); err != nil {
		return nil, 0, fmt.Errorf("read the claim: %w", err)
	}
	v, rank := checkClaim(claim[:], ours[:], secret, size)
	if v == welcome {
		v = admit(rank, claim[6] == reconnecting)
	}
	theirs := claim[16 : 16+nonceSize]
	answer := appendHead(make([]byte, 0, verdictSize))
	answer[6] = byte(v)
	if v == wrongSecret || v == wrongVersion {
		answer = append(answer, make([]byte, sha256.Size)...) // nothing is proven to strangers
	} else {
		answer = append(answer, code(secret, "pm2 verdict", theirs, ours[:], answer)...)
	}
	if _, err := conn.Write(answer); err != nil && v == welcome {
		return nil, rank, fmt.Errorf("send the verdict to rank %d: %w", rank, err)
	}
	if v != welcome {
		return nil, 0, refusal{v}
	}
	return newWire(conn, secret, ours[:], theirs, true), rank, nil
}

// checkClaim decides about a claim of claimSize bytes that answers our nonce.
func checkClaim(claim, ours, secret []byte, size int) (verdict, int) {
	if err := checkHead(claim); err != nil {
		return wrongVersion, 0
	}
	body := claim[:claimSize-sha256.Size]
	if !hmac.Equal(claim[len(body):], code(secret, "pm2 claim", ours, body)) {
		return wrongSecret, 0
	}
	rank := binary.LittleEndian.Uint32(claim[8:])
	if n := binary.LittleEndian.Uint32(claim[12:]); int64(n) != int64(size) {
		return wrongSize, 0
	}
	if rank == 0 || int64(rank) >= int64(size) {
		return rankRange, 0
	}
	return welcome, int(rank)
}
