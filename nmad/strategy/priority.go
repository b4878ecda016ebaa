package strategy

// Priority sends the waiting messages in the order of the priorities that their senders gave; those of equal priority
// in the order in which they were started. It aggregates short messages as Aggregation does.
var Priority = builtin(priority{})

type priority struct{ aggregation }

func (priority) Name() string                         { return "priority" }
func (priority) Overtakes(started, waiting Item) bool { return started.Priority > waiting.Priority }
