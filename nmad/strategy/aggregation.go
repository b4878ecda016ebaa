package strategy

// Aggregation sends short messages together, in one packet: what it costs to send and to
// receive a packet is then paid once. Together go those that wait for a rail, and those of
// threads that run one after the other because what has come has woken them all: these do
// wait for company, but only as long as such threads are ready. What a thread sends
// for itself finds its rail idle and goes at once. It is the strategy "aggreg" of
// NewMadeleine.
var Aggregation = builtin(aggregation{})

type aggregation struct{}

// aggregated is the longest message that is worth it, in bytes: what a copy costs more
// than a packet would.
const aggregated = 4 << 10

func (aggregation) Name() string                   { return "aggregation" }
func (aggregation) Overtakes(_, _ Item) bool       { return false }
func (aggregation) Joins(_ Packet, next Item) bool { return next.Size <= aggregated }
