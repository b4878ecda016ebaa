package flow

import (
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/lane"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Lane fills in where the state of the flow lies in memory, for C code that moves short messages itself (lane.Lane).
// The first word of a shelf.List is its oldest element.
func (f *Flow) Lane(x *lane.Lane) {
	x.Monitored = f.Monitored
	x.Holds, x.Queue, x.Answers = (*uint8)(&f.unsent), unsafe.Pointer(&f.tx.queue.head), unsafe.Pointer(&f.rx.answers)
	x.Closing, x.Full, x.Pending = &f.Closing, &f.rx.full, &f.pending
	x.Eager, x.Credit, x.MaxCredit = &f.tx.eagerLimit, &f.tx.credit, &f.tx.window
	x.SendSeq, x.RecvSeq = &f.tx.seq, &f.rx.seq
	x.Window, x.Taken, x.Owed = &f.rx.window, &f.rx.taken, &f.rx.owed
	x.Sends, x.Recvs, x.Sent, x.Received = &f.Stats.Sends, &f.Stats.Recvs, &f.Stats.BytesSent, &f.Stats.BytesReceived
	x.Kind, x.Overhead = KindEager, Overhead
}

// Way fills in where the counts of what waits in a context lie in memory (lane.Way).
func (f *Flow) Way(context uint16, w *lane.Way) {
	w.Posted, w.Unexpected, w.Wild, w.Any, w.Clock = f.rx.matcher(context).Counts()
}

// Context returns the list of the receives from any source in a context.
func (f *Flow) Context(number uint16) *match.AnyList[Request] { return f.rx.matcher(number).AnyList() }
