package meet

import (
	"encoding/binary"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Version of everything that two processes of a job must agree upon below nmad: this exchange, the control connection,
// the header, the framing of tcp, the segment of shm.
const Version = 10

// magic begins every hello.
const magic = "pm2\x01"

const (
	nonceSize = 32
	// LinkSize is the size of Message.Link in bytes.
	LinkSize = 16
	// fixedSize is the encoded size of a hello without its two strings.
	fixedSize = len(magic) + 2 + 1 + 1 + 4 + 4 + 4 + LinkSize + nonceSize + 2
)

// Message is the content of a hello.
type Message struct {
	Track   uint8          // which of the link's connections this is; of a control connection, whether the job runs
	Rank    uint32         // the sender's
	Size    uint32         // processes in the job
	MaxBody uint32         // the largest body that the sender takes, in bytes
	Link    [LinkSize]byte // of a stream driver: names the link of which this is a connection
	Driver  string
	Job     string

	version uint16
	nonce   [nonceSize]byte
}

// encode returns the payload of a hello. Driver and Job must not be longer than driver.MaxName and driver.MaxJob.
func (m *Message) encode() []byte {
	b := make([]byte, 0, fixedSize+len(m.Driver)+len(m.Job))
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, m.version)
	b = append(b, m.Track, 0)
	b = binary.LittleEndian.AppendUint32(b, m.Rank)
	b = binary.LittleEndian.AppendUint32(b, m.Size)
	b = binary.LittleEndian.AppendUint32(b, m.MaxBody)
	b = append(b, m.Link[:]...)
	b = append(b, m.nonce[:]...)
	b = append(b, uint8(len(m.Driver)))
	b = append(b, m.Driver...)
	b = append(b, uint8(len(m.Job)))
	return append(b, m.Job...)
}

// decode reads a hello. Magic and version come first, so that a hello of another version, whatever else it holds, is
// refused for its version.
func (m *Message) decode(b []byte) error {
	if len(b) < len(magic)+2 || string(b[:len(magic)]) != magic {
		return Refused("it does not speak our protocol")
	}
	b = b[len(magic):]
	if m.version = binary.LittleEndian.Uint16(b); m.version != Version {
		return wrongVersion(m.version)
	}
	if len(b) < fixedSize-len(magic) {
		return Refused("its hello is cut short")
	}
	m.Track, b = b[2], b[4:]
	m.Rank = binary.LittleEndian.Uint32(b)
	m.Size = binary.LittleEndian.Uint32(b[4:])
	m.MaxBody = binary.LittleEndian.Uint32(b[8:])
	b = b[12:]
	b = b[copy(m.Link[:], b):]
	b = b[copy(m.nonce[:], b):]
	var ok bool
	if m.Driver, b, ok = cutString(b, driver.MaxName); !ok {
		return Refused("its hello is malformed (driver)")
	}
	if m.Job, b, ok = cutString(b, driver.MaxJob); !ok || len(b) != 0 {
		return Refused("its hello is malformed (job)")
	}
	return nil
}

// wrongVersion is the error of a peer of another version.
func wrongVersion(v uint16) error {
	return Refused("it speaks version %d, this process version %d: start all processes from one build", v, Version)
}

// cutString takes a string of at most most bytes, preceded by its length, off b.
func cutString(b []byte, most int) (string, []byte, bool) {
	if len(b) == 0 || int(b[0]) > most || len(b)-1 < int(b[0]) {
		return "", nil, false
	}
	n := int(b[0])
	return strings.Clone(string(b[1 : 1+n])), b[1+n:], true
}
