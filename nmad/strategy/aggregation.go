package strategy

// Aggregation sends short messages that wait for a rail together, in one packet: what it
// costs to send and to receive a packet is then paid once. Nothing waits for
// company: a message that finds its rail idle goes at once. It is the strategy "aggreg"
// of NewMadeleine.
var Aggregation = builtin(aggregation{})

type aggregation struct{}

// aggregated is the longest message that is worth it, in bytes: what a copy costs more
// than a packet would.
const aggregated = 4 << 10

func (aggregation) Name() string                   { return "aggregation" }
func (aggregation) Overtakes(_, _ Item) bool       { return false }
func (aggregation) Joins(_ Packet, next Item) bool { return next.Size <= aggregated }
