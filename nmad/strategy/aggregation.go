package strategy

// Aggregation sends several short messages in one packet, so that the cost of sending and receiving a packet is paid
// once. It aggregates messages that wait for a rail, and messages of threads that one arrival has woken together and
// that run one after the other: the first of these messages waits for the others, but only as long as such threads are
// ready. A message of a lone thread finds its rail idle and leaves at once. This is the strategy "aggreg" of
// NewMadeleine.
var Aggregation = builtin(aggregation{})

type aggregation struct{}

// longestAggregated is the longest message that is aggregated, in bytes: to copy a longer one costs more than a packet
// of its own.
const longestAggregated = 4 << 10

func (aggregation) Name() string                   { return "aggregation" }
func (aggregation) Overtakes(_, _ Item) bool       { return false }
func (aggregation) Joins(_ Packet, next Item) bool { return next.Size <= longestAggregated }
