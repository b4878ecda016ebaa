package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// stamp is when a request begins, as far as a trace is recorded; else 0.
func stamp() int64 {
	if marcel.Tracing() {
		return asm.Cycles()
	}
	return 0
}

// traceOut records that the message of the packet just sent left at that moment.
func (g *Gate) traceOut(size int, at int64) {
	h := &g.tx.head
	marcel.TraceMessage(marcel.TraceOut, g.own, g.rank, h.Seq, h.Tag, uint64(size), at)
}

// traceArrived records a message that has come, or its announcement.
func (g *Gate) traceArrived(h *driver.Header) {
	marcel.TraceMessage(marcel.TraceArrived, g.own, g.rank, h.Seq, h.Tag, h.Size, 0)
}

// traceEnd records a request that is about to be done.
func (g *Gate) traceEnd(r *Request) {
	kind, size := marcel.TraceRecv, r.n
	switch r.stage {
	case queued, leaving, announced, pushing:
		kind, size = marcel.TraceSend, r.data.size
	}
	marcel.TraceMessage(kind, g.own, g.rank, 0, r.entry.Tag, uint64(size), r.began)
	r.began = 0
}
