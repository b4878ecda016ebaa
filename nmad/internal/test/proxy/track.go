package proxy

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// tracker knows where in a stream each byte lies, by reading what one side sends as its peer would:
//
//	link over tcp, unix   hello ── proof ──┬─▶ header ── body ── header ── body ...
//	                                       '─▶ large
//	link over shm         hello ── proof ───▶ frame ── frame
//	control connection    hello ── proof ───▶ head ── payload, code ── head ...
//
// docs/wire.md has the layouts. What does not look like any of it is "nonsense", to the end.
type tracker struct {
	place string // of the next byte; of a header it is refined by field
	left  int    // bytes of that place; below 0: all that follow
	kept  []byte // of that place, up to keep of them
	keep  int
	then  func() // once left is 0

	packet uint64 // packets that have begun
	within uint64 // bytes of the last one that have gone by
	proven bool   // what this side says before the peer believes it is over

	large, framed, sealed bool // what its hello says: it is a large track; over shm; a control connection
}

// enter begins a place.
func (t *tracker) enter(place string, size, keep int, then func()) {
	t.place, t.left, t.keep, t.kept, t.then = place, size, keep, t.kept[:0], then
	if size == 0 {
		then()
	}
}

func (t *tracker) rest(place string) { t.enter(place, -1, 0, nil) }

// run says how many of the next n bytes lie in the same place.
func (t *tracker) run(n int) int {
	if t.left < 0 {
		return n
	}
	return min(n, t.left)
}

// chunk says how many bytes to read at most where there is room for n. On the way of descriptors not beyond the place:
// they belong to the first byte of a frame, and a read of the byte before it would take them away. The frame with the
// segment is the first one of the dialer, and comes whole.
func (t *tracker) chunk(n int, up bool) int {
	switch {
	case t.proven && !t.framed:
		return n
	case t.proven && up && t.packet == 1 && t.within == 0:
		return min(n, segmentFrame)
	}
	return t.run(n)
}

// pass takes in bytes that lie in one place.
func (t *tracker) pass(b []byte) {
	t.within += uint64(len(b))
	if room := t.keep - len(t.kept); room > 0 {
		t.kept = append(t.kept, b[:min(room, len(b))]...)
	}
	if t.left < 0 {
		return
	}
	if t.left -= len(b); t.left == 0 {
		t.then()
	}
}

// where names the place of the next byte.
func (t *tracker) where() string {
	if t.place != "header" {
		return t.place
	}
	at := driver.HeaderSize - t.left
	if at == 0 {
		return "header kind"
	}
	field := "seq"
	for _, f := range []struct {
		name string
		end  int
	}{{"flags", 2}, {"reserved", 4}, {"body", 8}, {"tag", 16}, {"size", 22}, {"context", 24}, {"cookie", 28}} {
		if at < f.end {
			field = f.name
			break
		}
	}
	return fmt.Sprintf("header %s of kind %d", field, t.kept[0])
}

// begin counts a packet or frame.
func (t *tracker) begin() { t.packet, t.within = t.packet+1, 0 }

// start makes the tracker of a connection.
func (t *tracker) start() { t.hello("hello") }

const (
	helloHead  = meet.HeadSize
	helloKinds = 0xA0
	trackAt    = 6 // of the track in a hello
	driverAt   = 4 + 2 + 1 + 1 + 4 + 4 + 4 + meet.LinkSize + 32
)

// hello reads a frame of an exchange: the hello, which says what follows, or the proof.
func (t *tracker) hello(name string) {
	t.enter(name, helloHead, helloHead, func() {
		size := binary.LittleEndian.Uint32(t.kept[1:])
		if size > meet.MaxFrame || t.kept[0] < helloKinds {
			t.rest("nonsense")
			return
		}
		t.enter(name, int(size), meet.MaxFrame, func() {
			if name == "hello" {
				t.large = len(t.kept) > trackAt && t.kept[trackAt] == 1
				t.framed = strings.HasPrefix(driverOf(t.kept), "shm")
				t.sealed = driverOf(t.kept) == "control"
				t.hello("proof")
				return
			}
			t.proven = true
			switch {
			case t.sealed:
				t.frame("control", controlCode)
			case t.framed:
				t.frame("frame", 0)
			case t.large:
				t.rest("large")
			default:
				t.header()
			}
		})
	})
}

// driverOf is the name of the driver in a hello.
func driverOf(b []byte) string {
	if len(b) <= driverAt || len(b) < driverAt+1+int(b[driverAt]) {
		return ""
	}
	return string(b[driverAt+1:][:b[driverAt]])
}

// controlCode is the size of what follows the payload of a frame of the control connection, in bytes.
const controlCode = 16

// segmentFrame is the size of the frame of shm that carries the segment, in bytes.
const segmentFrame = helloHead + 5*4 + 8 + 16

// frame reads a frame of the driver shm, or of the control connection, whose payload has a code behind it.
func (t *tracker) frame(name string, code int) {
	t.begin()
	t.enter(name, helloHead, helloHead, func() {
		size := binary.LittleEndian.Uint32(t.kept[1:])
		if size > 1<<24 {
			t.rest("nonsense")
			return
		}
		t.enter(name, int(size)+code, 0, func() { t.frame(name, code) })
	})
}

// header reads a packet.
func (t *tracker) header() {
	t.begin()
	t.enter("header", driver.HeaderSize, driver.HeaderSize, func() {
		body := binary.LittleEndian.Uint32(t.kept[4:])
		if body > 1<<20 {
			t.rest("nonsense")
			return
		}
		t.enter(fmt.Sprintf("body of kind %d", t.kept[0]), int(body), 0, t.header)
	})
}
