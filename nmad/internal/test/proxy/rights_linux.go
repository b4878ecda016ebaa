package proxy

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// mostRights is how many descriptors come with one message at most that the proxy passes on.
const mostRights = 16

// receive reads from one end, with the descriptors that come along on a Unix socket.
func (r *relay) receive(c net.Conn, buf []byte) (n int, fds []int, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		n, err = c.Read(buf)
		return n, nil, err
	}
	oob := make([]byte, unix.CmsgSpace(mostRights*4))
	n, oobn, _, _, err := u.ReadMsgUnix(buf, oob)
	if n = max(n, 0); err == nil && n == 0 {
		err = io.EOF
	}
	msgs, _ := unix.ParseSocketControlMessage(oob[:oobn])
	for i := range msgs {
		if got, err := unix.ParseUnixRights(&msgs[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	if len(fds) > 0 && r.p.cfg.Plan.Scribble.Words > 0 {
		r.spoiled.Do(func() { r.spoil(buf[:n], fds) })
	}
	return n, fds, err
}

// transmit writes b, with the descriptors, which it closes; false: the other side takes no more.
func (r *relay) transmit(c net.Conn, b []byte, fds []int) bool {
	if len(fds) == 0 || len(b) == 0 {
		closeDescriptors(fds)
		_, err := c.Write(b)
		return err == nil
	}
	send := fds
	if kind := r.p.cfg.Plan.Rights; kind != "" {
		r.edited.Store(true)
		r.p.mu.Lock()
		r.p.note(&Alteration{Connection: r.number, What: "rights", Places: map[string]int{kind: len(fds)}})
		r.p.mu.Unlock()
		switch kind {
		case "lose":
			send = nil
		case "double":
			send = append(send, send...)
		case "other":
			var pipe [2]int
			if unix.Pipe2(pipe[:], unix.O_CLOEXEC) == nil {
				defer closeDescriptors(pipe[:])
				send = append([]int{pipe[0]}, fds[1:]...)
			}
		}
	}
	var oob []byte
	if len(send) > 0 {
		oob = unix.UnixRights(send...)
	}
	n, _, err := c.(*net.UnixConn).WriteMsgUnix(b, oob, nil)
	closeDescriptors(fds)
	if err == nil && n < len(b) {
		_, err = c.Write(b[n:])
	}
	return err == nil
}

func closeDescriptors(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// isEnd reports whether a stream has ended in order.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }

// Where the words of a segment lie that the driver shm goes by: docs/wire.md.
const (
	segmentKind = 0xB0
	geometryAt  = 3
	spoilPad    = 128
	spoilFlags  = 2 * spoilPad
	spoilCell   = 64
	spoilPage   = 4096
)

// spoil begins to overwrite words of the segment whose descriptor comes first with a frame of shm, as a peer may that
// holds the secret and has it mapped. It ends with the connection.
func (r *relay) spoil(frame []byte, fds []int) {
	if len(frame) < geometryAt+5*4 || frame[0] != segmentKind || len(fds) != 3 {
		return
	}
	fd, err := unix.FcntlInt(uintptr(fds[0]), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return
	}
	var g [5]uint64 // cells, largest body, bytes of the ring of bodies, slots, bytes of a slot
	for i := range g {
		g[i] = uint64(binary.LittleEndian.Uint32(frame[geometryAt+4*i:]))
	}
	page := func(n uint64) uint64 { return (n + spoilPage - 1) &^ (spoilPage - 1) }
	words := 3*spoilPad + spoilCell*g[0] + spoilPad*g[3]
	second := page(page(spoilFlags+words) + g[2] + g[3]*g[4])
	size := page(page(second+words) + g[2] + g[3]*g[4])
	if size > 1<<30 {
		_ = unix.Close(fd)
		return
	}
	log := &Alteration{Connection: r.number, What: "scribble", Places: map[string]int{}}
	r.p.mu.Lock()
	r.p.note(log)
	r.p.mu.Unlock()
	r.edited.Store(true)
	r.p.wg.Go(func() {
		defer unix.Close(fd)
		d := r.p.dice(uint64(r.number), scribbler)
		for {
			for range r.p.cfg.Plan.Scribble.Words {
				at, where := uint64(d.IntN(int(size/8))), "segment"
				switch d.IntN(8) {
				case 0, 1, 2:
					at, where = uint64(d.IntN(int(words/8)+spoilFlags/8)), "words of the dialer"
				case 3, 4, 5:
					at, where = second/8+uint64(d.IntN(int(words/8))), "words of the listener"
				case 6:
					at, where = uint64(d.IntN(spoilFlags/8)), "flags"
				}
				spoil(d, fd, int64(at*8), int64(d.IntN(int(words/8))*8))
				r.p.mu.Lock()
				log.Places[where]++
				r.p.mu.Unlock()
			}
			t := time.NewTimer(r.p.cfg.Plan.Scribble.Every)
			select {
			case <-t.C:
			case <-r.over:
				t.Stop()
				return
			}
		}
	})
}

// spoil overwrites the word at that place: by another one that is there, by one that is nearly right, or by any.
func spoil(d *rand.Rand, fd int, at, other int64) {
	var b [8]byte
	_, _ = unix.Pread(fd, b[:], at) // what cannot be read is 0
	w := binary.LittleEndian.Uint64(b[:])
	switch d.IntN(8) {
	case 0:
		w = d.Uint64()
	case 1:
		w = d.Uint64() >> d.IntN(64)
	case 2, 3:
		w ^= 1 << d.IntN(64)
	case 4:
		w += uint64(d.IntN(5)) - 2
	case 5:
		w = 0
	case 6:
		_, _ = unix.Pread(fd, b[:], other)
		w = binary.LittleEndian.Uint64(b[:])
	case 7:
		w = w&^0xFFFF0000 | (0x8000|uint64(d.IntN(4)))<<16
	}
	binary.LittleEndian.PutUint64(b[:], w)
	_, _ = unix.Pwrite(fd, b[:], at) // a segment that has gone matters no more
}
