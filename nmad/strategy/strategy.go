package strategy

import (
	"errors"

	"github.com/pm2-go/pm2/nmad/driver/names"
)

// Item is what a strategy knows about a message that waits for a rail.
type Item struct {
	Tag      uint64
	Size     int  // bytes
	Priority int8 // nmad.Operation.Priority: a higher one is more urgent
	Eager    bool // the message may share a packet: it is short enough, and the sender has credit for it
}

// Packet is a packet that is being put together.
type Packet struct {
	Messages int // messages that it holds already, at least one
	Bytes    int // length of its body so far, with the heads of the messages
	Room     int // length of the longest body that the rail takes, in bytes
}

// Strategy makes the decisions for a gate. A gate calls the methods with its lock held, so they must be quick and must
// not block. One value serves all gates, which may call it at the same time: so a method must not change it.
type Strategy interface {
	// Name is the name by which users choose the strategy.
	Name() string
	// Overtakes reports whether a message that is started now goes before one that waits. The gate does not ask about
	// two messages with the same tag, which keep their order.
	Overtakes(started, waiting Item) bool
	// Joins reports whether the next message goes into the packet, too. next waits for the rail, or is sent while other
	// threads are about to send. The gate asks only about messages that are Eager and for which the packet has room.
	Joins(p Packet, next Item) bool
}

// ErrUnknown is the error of Lookup for a name that no strategy has.
var ErrUnknown = errors.New("unknown strategy")

var table = names.Table[Strategy]{What: "strategy", Unknown: ErrUnknown}

// Register makes s known under its name. It fails, and changes nothing, if the name is empty, too long or taken. Safe
// for concurrent use, as are Names and Lookup.
func Register(s Strategy) error { return table.Register(s) }

// Names lists the registered strategies in alphabetical order.
func Names() []string { return table.Names() }

// Lookup finds a strategy by name. If there is none, it fails with ErrUnknown, and the text lists the names that there
// are.
func Lookup(name string) (Strategy, error) { return table.Lookup(name) }

// builtin registers a strategy of this package.
func builtin(s Strategy) Strategy {
	if err := table.Register(s); err != nil {
		panic(err) // two strategies of this package have the same name: no program starts
	}
	return s
}
