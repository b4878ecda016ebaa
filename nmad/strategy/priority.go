package strategy

// Priority sends what waits in the order of the priorities that the senders gave, equal
// ones in the order in which they were started, and short messages together, as
// Aggregation does.
var Priority = builtin(priority{})

type priority struct{ aggregation }

func (priority) Name() string                         { return "priority" }
func (priority) Overtakes(started, waiting Item) bool { return started.Priority > waiting.Priority }
