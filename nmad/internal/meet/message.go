package meet

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Version of everything that two processes of a job must agree upon below nmad: this exchange, the control connection,
// the header, the framing of tcp, the segment of shm.
const Version = 10

// magic begins every hello.
const magic = "pm2\x01"

const (
	nonceSize = 32
	LinkSize  = 16 // bytes of Message.Link
)

// Message is the content of a hello.
type Message struct {
	fixed
	Driver string
	Job    string
}

// fixed is the part of a hello that has the same length in all of them, in the order in which it is sent.
type fixed struct {
	Magic   [len(magic)]byte
	Version uint16
	Track   uint8 // which of the link's connections this is; of a control connection, whether the job runs
	_       uint8
	Rank    uint32         // the sender's
	Size    uint32         // processes in the job
	MaxBody uint32         // the largest body that the sender takes, in bytes
	Link    [LinkSize]byte // of a stream driver: names the link of which this is a connection
	Nonce   [nonceSize]byte
}

// encode returns the payload of a hello. Driver and Job must not be longer than driver.MaxName and driver.MaxJob.
func (m *Message) encode() []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, &m.fixed) // never fails: all fields have a fixed size
	b = append(append(b, uint8(len(m.Driver))), m.Driver...)
	return append(append(b, uint8(len(m.Job))), m.Job...)
}

// decode reads a hello. It looks at the version first: what follows differs in another version.
func (m *Message) decode(b []byte) error {
	if len(b) < len(magic)+2 || string(b[:len(magic)]) != magic {
		return Refused("it does not speak our protocol")
	}
	if v := binary.LittleEndian.Uint16(b[len(magic):]); v != Version {
		return Refused("it speaks version %d, this process version %d: start all processes from one build", v, Version)
	}
	n, err := binary.Decode(b, binary.LittleEndian, &m.fixed)
	if err != nil {
		return Refused("its hello is cut short")
	}
	var ok bool
	if m.Driver, b, ok = cutString(b[n:], driver.MaxName); !ok {
		return Refused("its hello is malformed (driver)")
	}
	if m.Job, b, ok = cutString(b, driver.MaxJob); !ok || len(b) != 0 {
		return Refused("its hello is malformed (job)")
	}
	return nil
}

// cutString takes a string of at most most bytes, preceded by its length, off b.
func cutString(b []byte, most int) (s string, rest []byte, ok bool) {
	if len(b) == 0 || int(b[0]) > most || len(b)-1 < int(b[0]) {
		return "", nil, false
	}
	n := 1 + int(b[0])
	return string(b[1:n]), b[n:], true
}
