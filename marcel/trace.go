package marcel

import "github.com/pm2-go/pm2/sched"

// TraceKind is the step of a message that TraceMessage records.
type TraceKind = sched.EventKind

// Steps of a message, for libraries that exchange them.
const (
	TraceSend    = sched.TraceSend    // a send, from its start to its end
	TraceRecv    = sched.TraceRecv    // a receive, likewise
	TraceOut     = sched.TraceOut     // handed to the network
	TraceArrived = sched.TraceArrived // come from the network
)

// Tracing reports whether a scheduler's trace is being recorded: to be asked before TraceMessage, and before a time
// stamp is taken for it. It costs a load.
func Tracing() bool { return sched.Tracing() }

// TraceMessage adds a step of message number seq between rank own, the caller's, and peer to the trace that is being
// recorded (package timeline shows it). began is the value of asm.Cycles at which a send or a receive began, or at
// which the message was handed to the network; 0 for TraceArrived. It does not block, allocates nothing, and may be
// called from hooks, threads and goroutines.
func TraceMessage(kind TraceKind, own, peer int, seq uint32, tag, size uint64, began int64) {
	calls.TraceMessage(kind, own, peer, seq, tag, size, began)
}
