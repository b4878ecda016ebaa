package roster

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"strings"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// Card is what a process publishes about itself at the start.
type Card struct {
	Rank      int
	PID       int
	StartTime uint64 // start time of the process in clock ticks since boot; 0: not known
	Host      string // identifies the host, and the pid name space in it
	Name      string // of the host, for people; empty: not known
	CPUs      string // that the process may use, as the kernel lists them: 0-3,8; empty: not known
	Rails     []Rail // the networks to the others, in the same order in all cards

	Window  uint64 // eager bytes that a peer may have outstanding at this process
	Records uint32 // rendezvous that a peer may have outstanding at this process

	Lazy bool // it makes its links when they are first needed. The same in all cards of a job

	Silence uint32 // ms after which a silent process is taken for lost; 0: never. The same in all cards of a job

	Standby string // host:port at which processes connect that have lost their parent; empty: this process never becomes root. Join fills it in
}

// Bounds of a card.
const (
	MaxCPUs  = 255 // bytes of Card.CPUs
	MaxName  = 64  // bytes of Card.Name, as long as kernels have it
	MaxRails = 8

	maxHost   = 255  // bytes of Card.Host
	maxDriver = 63   // bytes of Rail.Driver
	maxAddr   = 1023 // bytes of Card.Standby and of Rail.Addr

	maxCard = 16 << 10 // bytes of an encoded card; no card has as many
)

// Rail is one of the networks by which a process can be reached.
type Rail struct {
	Driver string // its name
	Addr   string // where the driver's endpoint accepts links
}

// Drivers names the drivers of all rails, separated by commas.
func (c *Card) Drivers() string {
	names := make([]string, len(c.Rails))
	for i, r := range c.Rails {
		names[i] = r.Driver
	}
	return strings.Join(names, ",")
}

// check refuses a card that the others would not read.
func (c *Card) check() error {
	x := coder{writing: true}
	if c.code(&x); x.err != nil {
		return fmt.Errorf("the card of this process: %w", x.err)
	}
	return nil
}

// code writes the card to x, or reads it.
func (c *Card) code(x *coder) {
	c.Rank = int(x.u32(uint32(c.Rank)))
	c.PID = int(int32(x.u32(uint32(c.PID))))
	c.StartTime = x.u64(c.StartTime)
	c.Window = x.u64(c.Window)
	c.Records = x.u32(c.Records)
	c.Silence = x.u32(c.Silence)
	lazy := uint32(0)
	if c.Lazy {
		lazy = 1
	}
	lazy = x.u32(lazy)
	c.Lazy = lazy == 1
	c.Host = x.string(c.Host, maxHost)
	c.Name = x.string(c.Name, MaxName)
	c.CPUs = x.string(c.CPUs, MaxCPUs)
	c.Standby = x.string(c.Standby, maxAddr)
	rails := x.u32(uint32(len(c.Rails)))
	if x.err == nil && (lazy > 1 || rails > MaxRails) {
		x.err = fmt.Errorf("%d rails, at most %d, and %d for whether links are made late", rails, MaxRails, lazy)
	}
	if x.err != nil {
		return
	}
	if !x.writing && rails > 0 {
		c.Rails = make([]Rail, rails)
	}
	for i := range c.Rails {
		r := &c.Rails[i]
		r.Driver, r.Addr = x.string(r.Driver, maxDriver), x.string(r.Addr, maxAddr)
	}
}

// encodeCards returns the payload that has these cards.
func encodeCards(cards []Card) []byte {
	x := coder{writing: true}
	x.u32(uint32(len(cards)))
	for i := range cards {
		cards[i].code(&x)
	}
	return x.b
}

// parseCards reads the cards of exactly those ranks, in their order.
func parseCards(b []byte, ranks []int) ([]Card, error) {
	x := coder{b: b}
	if n := x.u32(0); int64(n) != int64(len(ranks)) {
		return nil, fmt.Errorf("%w: the cards of %d processes in the place of %d", meet.ErrFrame, n, len(ranks))
	}
	cards := make([]Card, len(ranks))
	for i := range cards {
		if cards[i].code(&x); x.err == nil && cards[i].Rank != ranks[i] {
			x.err = fmt.Errorf("rank %d in the place of rank %d", cards[i].Rank, ranks[i])
		}
		if x.err != nil {
			return nil, fmt.Errorf("%w: %w", meet.ErrFrame, x.err)
		}
	}
	if !x.done() {
		return nil, fmt.Errorf("%w: bytes behind the last card", meet.ErrFrame)
	}
	return cards, nil
}

// pack compresses a table. Cards are much alike, so a tenth of the bytes is left.
func pack(table []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // that level exists
	_, _ = w.Write(table)                        // into memory
	_ = w.Close()
	return b.Bytes()
}

// unpack is the reverse of pack, in a job of that size.
func unpack(b []byte, size int) ([]byte, error) {
	most := int64(maxPayload(kindTable, size))
	table, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), most+1))
	if err != nil || int64(len(table)) > most {
		return nil, fmt.Errorf("%w: a table that cannot be unpacked", meet.ErrFrame)
	}
	return table, nil
}
