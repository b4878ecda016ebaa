package strategy

// Default sends each message in a packet of its own, in the order in which the messages were started.
var Default = builtin(fifo{})

type fifo struct{}

func (fifo) Name() string             { return "default" }
func (fifo) Overtakes(_, _ Item) bool { return false }
func (fifo) Joins(Packet, Item) bool  { return false }
