//go:build go1.26 && !go1.28 && linux && (amd64 || (arm64 && !cgo)) && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

// Where Go 1.26 and 1.27 keep things, on amd64 and arm64 alike, with and without the race detector: bytes from the
// start of the structure. The test TestOffsets compares them with the DWARF of a test binary. The assembly reads them
// from go_asm.h. Of Go's experiments greenteagc moves one; staticlockranking moves more, and under runtimesecret a
// switch has registers to erase: with these two, and with the build tag valgrind, there is the portable mode only.
const (
	gM                 = 48
	gSp                = 56 // of g.sched
	gPc                = 64
	gCtxt              = 80
	gLr                = 88
	gBp                = 96
	gStatus            = 144
	gGoid              = 152
	gWaitsince         = 168
	gWaitreason        = 176
	gPreempt           = 177
	gPreemptStop       = 178
	gAsyncSafePoint    = 180
	gPaniconfault      = 181
	gLockedm           = 208
	gDitWanted         = 218
	gSyncSafePoint     = 219
	gParentGoid        = 280
	gStartpc           = 304
	gLabels            = 352
	gGoroutineProfiled = 380
	gBubble            = 392
	gOwn               = 448 // valgrindStackID, which without the build tag valgrind nothing uses

	mCurg        = 184
	mP           = 208
	mBlocked     = 277
	mLockedg     = 384
	mLockedExt   = 648
	mLockedInt   = 652
	mDitEnabled  = 672
	mTraceBufs   = 808 // of the two generations of an execution trace: the first of each pair
	mTraceBufsUp = 824

	pRunqhead = 400  // and behind it runqtail, of four bytes each
	pRunnext  = 2456 // pPreempt depends: see greentea_on.go
)

// scanBit is in the status of a g while the collector, or this package, holds it.
const scanBit = 0x1000

// Reasons for which a g waits.
const (
	waitIO        = 2
	waitFirst     = 14 // from here to waitLast: time.Sleep, channels, select, sync; 13 is the runtime's semaphores, with which a collection begins
	waitLast      = 25
	waitPreempted = 30
	waitSwitched  = 38 // "coroutine": ours
)
