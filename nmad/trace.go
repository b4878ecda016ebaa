package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// stamp is when a request begins, as far as a trace is recorded; else 0.
func stamp() int64 {
	if marcel.Tracing() {
		return asm.Cycles()
	}
	return 0
}

// traceArrived records the messages that the packet in head has brought, or announced.
func (g *Gate) traceArrived(body []byte) {
	flow.Messages(&g.head, body, func(tag, size uint64, seq uint32) {
		marcel.TraceMessage(marcel.TraceArrived, g.own, g.rank, seq, tag, size, 0)
	})
}

// traceEnd records a request that is done.
func (g *Gate) traceEnd(r *Request) {
	kind, size := marcel.TraceRecv, r.core.N
	if r.core.Op == flow.OpSend {
		kind, size = marcel.TraceSend, r.core.Data.Size
	}
	marcel.TraceMessage(kind, g.own, g.rank, 0, r.core.Entry.Tag, uint64(size), r.began)
	r.began = 0
}
