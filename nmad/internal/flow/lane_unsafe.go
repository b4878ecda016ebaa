package flow

import (
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/lane"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Lane says where the state of short messages lies; see lane.Lane.
func (f *Flow) Lane(x *lane.Lane) {
	x.Watched = f.Watched
	x.Holds, x.Queue, x.Answers = (*uint8)(&f.unsent), unsafe.Pointer(&f.tx.queue.head), unsafe.Pointer(&f.rx.answers.head)
	x.Closing, x.Full, x.Pending = &f.Closing, &f.rx.full, &f.pending
	x.Eager, x.Credit, x.Most = &f.tx.eager, &f.tx.credit, &f.tx.window
	x.SendSeq, x.RecvSeq = &f.tx.seq, &f.rx.seq
	x.Window, x.Taken, x.Owed = &f.rx.window, &f.rx.taken, &f.rx.owed
	x.Sends, x.Recvs, x.Sent, x.Received = &f.Stats.Sends, &f.Stats.Recvs, &f.Stats.BytesSent, &f.Stats.BytesReceived
	x.Kind, x.Overhead = KindEager, Overhead
}

// Way says where it lies what waits in a context.
func (f *Flow) Way(context uint16, w *lane.Way) {
	w.Posted, w.Unexpected, w.Wild, w.Any, w.Clock = f.rx.of(context).Counts()
}

// Context is what receives from any source in a context wait in.
func (f *Flow) Context(number uint16) *match.Any[Request] { return f.rx.of(number).Any() }
