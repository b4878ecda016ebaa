package strategy

import (
	"errors"

	"github.com/pm2-go/pm2/nmad/driver/names"
)

// Item is a message that waits for a rail, as a strategy sees it.
type Item struct {
	Tag      uint64
	Size     int  // bytes
	Priority int8 // as its sender said: more goes first
	Eager    bool // short enough, and credit is there, so that it may share a packet
}

// Packet is one that is being made up.
type Packet struct {
	Messages int // in it already, at least one
	Bytes    int // of its body, heads of messages included
	Room     int // bytes that the rail takes at most
}

// Strategy decides, for one gate at a time and with its lock held: its methods must be
// quick, must not block, and must keep nothing. One value serves all gates.
type Strategy interface {
	// Name is what users write to choose it.
	Name() string
	// Overtakes says whether a message that is started now goes before one that
	// waits. It is not asked about messages with the same tag, which keep their order.
	Overtakes(started, waiting Item) bool
	// Joins says whether the next message that waits, or that is sent while others are about to,
	// goes into the packet as well. It is asked only if it may and if there is room for it.
	Joins(p Packet, next Item) bool
}

// ErrUnknown is what looking up a name gives that no strategy has.
var ErrUnknown = errors.New("unknown strategy")

var table = names.Table[Strategy]{What: "strategy", Unknown: ErrUnknown}

// Register makes s known under its name. It fails, and changes nothing, if the name
// is empty, too long or taken.
func Register(s Strategy) error { return table.Register(s) }

// Names lists the registered strategies in alphabetical order.
func Names() []string { return table.Names() }

// Lookup finds a strategy by name. The error, an ErrUnknown, says which ones there are.
func Lookup(name string) (Strategy, error) { return table.Lookup(name) }

// builtin registers what this package itself brings.
func builtin(s Strategy) Strategy {
	if err := table.Register(s); err != nil {
		panic(err) // two of our own with one name: no program gets past this
	}
	return s
}
