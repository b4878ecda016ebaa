//go:build go1.26 && !go1.28 && linux && arm64 && !cgo && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

#include "go_asm.h"
#include "textflag.h"

// Without cgo the register g (R28) alone says which goroutine runs: there is no copy in
// thread-local storage.
//
// CASW and CASD are compare-and-swap: *(addr) goes from old to new, and the flags say EQ, or
// it is seen, and they say NE. Acquire and release: what this processor has stored before is
// seen by the one that sees new, and what it loads after is not older than old.
#ifdef GOARM64_LSE
#define CASW(old, new, addr, seen, tmp) \
	MOVW old, seen;        \
	CASALW seen, (addr), new; \
	CMPW old, seen
#define CASD(old, new, addr, seen, tmp) \
	MOVD old, seen;        \
	CASALD seen, (addr), new; \
	CMP  old, seen
#else
#define CASW(old, new, addr, seen, tmp) \
	LDAXRW (addr), seen;     \
	CMPW   old, seen;        \
	BNE    3(PC);            \
	STLXRW new, (addr), tmp; \
	CBNZ   tmp, -4(PC)
#define CASD(old, new, addr, seen, tmp) \
	LDAXR (addr), seen;     \
	CMP   old, seen;        \
	BNE   3(PC);            \
	STLXR new, (addr), tmp; \
	CBNZ  tmp, -4(PC)
#endif

// func Current() uintptr
TEXT ·Current(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET

// func Locks() uint64
TEXT ·Locks(SB), NOSPLIT, $0-8
	MOVD const_gM(g), R0
	MOVD const_mLockedExt(R0), R0
	MOVD R0, ret+0(FP)
	RET

// func Marked() bool
TEXT ·Marked(SB), NOSPLIT, $0-1
	MOVBU const_gPaniconfault(g), R0
	MOVD  const_gLabels(g), R1
	ORR   R1, R0
	MOVD  const_gM(g), R1
	MOVD  const_mLockedExt(R1), R1
	EOR   $const_Held, R1
	ORR   R1, R0
	CMP   $0, R0
	CSET  NE, R0
	MOVB  R0, ret+0(FP)
	RET

// func Switch(next uintptr, r *Refusal)
// It writes to *r if it refuses. All checks come before the first store.
TEXT ·Switch(SB), NOSPLIT|NOFRAME, $0-16
	MOVD  next+0(FP), R1
	MOVD  $const_Asked, R0
	MOVBU const_gPreempt(g), R2
	CBNZ  R2, refuse
	MOVD  const_gM(g), R3
	MOVD  $const_Unlocked, R0
	MOVD  const_mLockedExt(R3), R2 // with mLockedInt, which a cgo callback raises
	CMP   $const_Held, R2
	BNE   refuse
	MOVD  const_mLockedg(R3), R2
	CMP   g, R2
	BNE   refuse
	MOVD  const_mP(R3), R2
	MOVD  $const_Asked, R0
	MOVBU const_pPreempt(R2), R2
	CBNZ  R2, refuse
	MOVD  $const_Recorded, R0
	MOVWU const_gGoroutineProfiled(g), R2 // a goroutine profile is taken: next must be recorded first
	CBNZW R2, refuse
	MOVD  const_mTraceBufs(R3), R2 // an execution trace
	CBNZ  R2, refuse
	MOVD  const_mTraceBufsUp(R3), R2
	CBNZ  R2, refuse
	MOVD  $const_NotParked, R0
	CMP   g, R1
	BEQ   refuse
	ADD   $const_gStatus, R1, R4
	LDARW (R4), R2
	ANDW  $~const_scanBit, R2
	CMPW  $const_Waiting, R2
	BNE   refuse
	MOVBU const_gWaitreason(R1), R2
	CMPW  $const_waitSwitched, R2
	BEQ   parked
	// The collector writes this reason before it tries to claim a stopped g, and leaves it there
	// when ClaimStopped was faster.
	CMPW  $const_waitPreempted, R2
	BNE   refuse
parked:
	MOVD  $const_Recorded, R0
	MOVBU const_gDitWanted(R1), R2 // data-independent timing: the processor's mode has to change
	MOVBU const_mDitEnabled(R3), R5
	CMPW  R2, R5
	BNE   refuse

	// Save the caller as though this call had returned.
	MOVD  LR, const_gPc(g)
	MOVD  RSP, R2
	MOVD  R2, const_gSp(g)
	MOVD  R29, const_gBp(g)
	MOVD  ZR, const_gCtxt(g)
	MOVD  ZR, const_gLr(g)
	MOVB  ZR, const_gPreemptStop(g)
	MOVD  $const_waitSwitched, R2
	MOVB  R2, const_gWaitreason(g)

	// The OS thread and the lock on it go to next.
	MOVD  R3, const_gM(R1)
	MOVD  R3, const_gLockedm(R1)
	MOVD  R1, const_mLockedg(R3)
	MOVD  ZR, const_gLockedm(g)
	MOVD  $const_Running, R5
	MOVD  $const_Waiting, R6
	ADD   $const_gStatus, g, R7
leave:
	CASW(R5, R6, R7, R8, R9)
	BNE   leaveScanned
	MOVD  R1, const_mCurg(R3)
enter:
	CASW(R6, R5, R4, R8, R9)
	BNE   enterScanned

	// From here on this is next; its stack must not be used before, nor the old one after.
	MOVD  g, R2
	MOVD  R1, g
	MOVD  ZR, const_gM(R2)
	MOVD  ZR, const_gWaitsince(g)
	MOVD  const_gCtxt(g), R26 // of a function that was stopped at its first instruction,
	MOVD  const_gLr(g), LR    // and where that returns to
	MOVD  const_gSp(g), R2
	MOVD  const_gBp(g), R29
	MOVD  const_gPc(g), R4
	MOVD  ZR, const_gCtxt(g)
	MOVD  ZR, const_gLr(g)
	MOVD  ZR, const_gSp(g)
	MOVD  ZR, const_gBp(g)
	MOVD  R2, RSP
	RET   R4 // a return, not a jump: with the return address of both calls of switchTo, so that it is predicted
leaveScanned:
	YIELD
	B     leave
enterScanned:
	YIELD
	B     enter
refuse:
	MOVD  r+8(FP), R1
	MOVW  R0, (R1)
	RET

// func own() unsafe.Pointer
TEXT ·own(SB), NOSPLIT, $0-8
	MOVD const_gOwn(g), R0
	MOVD R0, ret+0(FP)
	RET

// func take(parent uint64, pc uintptr) (gp uintptr)
// In assembly, so that the caller keeps its P between the look and the exchange.
TEXT ·take(SB), NOSPLIT, $0-24
	MOVD parent+0(FP), R2
	MOVD pc+8(FP), R3
	MOVD ZR, ret+16(FP)
	MOVD const_gM(g), R0
	MOVD const_mP(R0), R0
	ADD  $const_pRunnext, R0
	MOVD (R0), R1
	CBZ  R1, takeNone
	MOVD const_gParentGoid(R1), R4
	CMP  R2, R4
	BNE  takeNone
	MOVD const_gStartpc(R1), R4
	CMP  R3, R4
	BNE  takeNone
	MOVD const_gPc(R1), R4 // it has not begun, as only the caller's latest child has not
	CMP  R3, R4
	BNE  takeNone
	CASD(R1, ZR, R0, R5, R6)
	BNE  takeNone
	MOVD $const_waitSwitched, R4
	MOVB R4, const_gWaitreason(R1)
	MOVD $const_Runnable, R2
	MOVD $const_Waiting, R3
	ADD  $const_gStatus, R1, R4
	B    takeStatus
takeScanned:
	YIELD
takeStatus:
	CASW(R2, R3, R4, R5, R6)
	BNE  takeScanned
	MOVD R1, ret+16(FP)
takeNone:
	RET

// func Repossess(gp, m, base uintptr, inside, id *uint32, lost uint32) (ok bool)
// While the scan bit of g is set no other OS thread readies it.
TEXT ·Repossess(SB), NOSPLIT, $0-49
	MOVD  gp+0(FP), R1
	MOVD  m+8(FP), R2
	MOVD  base+16(FP), R3
	MOVD  inside+24(FP), R4
	MOVB  ZR, ret+48(FP)
	ADD   $const_gStatus, R1, R5
	MOVD  $const_Waiting, R6
	MOVD  $(const_scanBit+const_Waiting), R7
	CASW(R6, R7, R5, R8, R9)
	BNE   repNo
	ADD   $const_mBlocked, R2, R8
	LDARB (R8), R8 // the OS thread sets it last of all
	CMPW  $1, R8
	BNE   repRelease
	MOVD  const_mLockedg(R2), R8
	CMP   R1, R8
	BNE   repRelease
	MOVD  const_gLockedm(R1), R8
	CMP   R2, R8
	BNE   repRelease
	MOVD  const_mLockedExt(R2), R8
	CMP   $const_Held, R8
	BNE   repRelease
	MOVD  const_mCurg(R2), R8
	CBNZ  R8, repRelease
	MOVWU (R4), R8
	CBNZW R8, repRelease
	MOVD  const_gBubble(R1), R8
	CBNZ  R8, repRelease
	MOVBU const_gWaitreason(R1), R8
	CMPW  $const_waitPreempted, R8
	BEQ   repRelease
	CMPW  $const_waitSwitched, R8
	BEQ   repRelease
	MOVD  id+32(FP), R8
	MOVWU lost+40(FP), R9
	MOVW  R9, (R8)
	MOVB  ZR, const_gPreemptStop(R1)
	MOVB  ZR, const_gPreempt(R1)
	MOVD  ZR, const_gLockedm(R1)
	MOVD  R3, const_mLockedg(R2)
	MOVD  R2, const_gLockedm(R3)
	MOVD  $1, R8
	MOVB  R8, ret+48(FP)
repRelease:
	STLRW R6, (R5)
repNo:
	RET

// func Deprive(gp uintptr, status uint32, inside, word *uint32, holder uint32) (ok bool)
TEXT ·Deprive(SB), NOSPLIT, $0-41
	MOVD  gp+0(FP), R1
	MOVWU status+8(FP), R2
	MOVD  inside+16(FP), R3
	MOVB  ZR, ret+40(FP)
	ADD   $const_gStatus, R1, R5
	ORR   $const_scanBit, R2, R6
	CASW(R2, R6, R5, R7, R8)
	BNE   depNo
	MOVWU (R3), R7
	CBNZW R7, depRelease
	MOVBU const_gWaitreason(R1), R7
	CMPW  $const_waitSwitched, R7
	BNE   depTake
	CMPW  $const_Waiting, R2
	BEQ   depRelease
depTake:
	MOVB  ZR, const_gPreemptStop(R1) // a request to stop that would not be answered
	MOVD  word+24(FP), R7
	MOVWU holder+32(FP), R8
	MOVW  R8, (R7)
	MOVD  $1, R7
	MOVB  R7, ret+40(FP)
depRelease:
	STLRW R2, (R5)
depNo:
	RET

// func AskStop(gp uintptr) (ok bool)
TEXT ·AskStop(SB), NOSPLIT, $0-9
	MOVD gp+0(FP), R1
	MOVB ZR, ret+8(FP)
	ADD  $const_gStatus, R1, R5
	MOVD $const_Running, R6
	MOVD $(const_scanBit+const_Running), R7
	CASW(R6, R7, R5, R8, R9)
	BNE  askNo
	MOVD const_gM(R1), R2
	CBZ  R2, askRelease
	MOVD const_gLockedm(R1), R8
	CMP  R2, R8
	BNE  askRelease
	MOVD const_mLockedExt(R2), R8
	CMP  $const_Held, R8
	BNE  askRelease
	MOVD const_mP(R2), R2
	CBZ  R2, askRelease
	MOVD $1, R8
	MOVB R8, const_gPreemptStop(R1)
	MOVB R8, const_pPreempt(R2)
	MOVB R8, ret+8(FP)
askRelease:
	STLRW R6, (R5)
askNo:
	RET

// func Withdraw(gp uintptr) (stopped bool)
TEXT ·Withdraw(SB), NOSPLIT, $0-9
	MOVD  gp+0(FP), R1
	MOVB  ZR, stopped+8(FP)
	ADD   $const_gStatus, R1, R5
	LDARW (R5), R6
	CMPW  $const_Preempted, R6
	BEQ   withdrawStopped
	CMPW  $const_Waiting, R6 // those below it are runnable, running, and in a system call
	BHI   withdrawNone
	ORRW  $const_scanBit, R6, R7
	CASW(R6, R7, R5, R8, R9)
	BNE   withdrawNone
	MOVB  ZR, const_gPreemptStop(R1)
	STLRW R6, (R5)
withdrawNone:
	RET
withdrawStopped:
	MOVD  $(const_scanBit+const_Preempted), R7
	CASW(R6, R7, R5, R8, R9)
	BNE   withdrawNone
	MOVB  ZR, const_gPreemptStop(R1)
	MOVB  ZR, const_gPreempt(R1)
	MOVB  ZR, const_gSyncSafePoint(R1)
	MOVD  $const_Waiting, R8
	STLRW R8, (R5)
	MOVD  $1, R8
	MOVB  R8, stopped+8(FP)
	RET

// func ClaimStopped(gp, m, base uintptr, inside, id *uint32, lost uint32) (s Stop)
TEXT ·ClaimStopped(SB), NOSPLIT, $0-52
	MOVD  gp+0(FP), R1
	MOVD  m+8(FP), R2
	MOVD  base+16(FP), R3
	MOVD  inside+24(FP), R4
	MOVW  $const_NotStopped, R8
	MOVW  R8, ret+48(FP)
	ADD   $const_mBlocked, R2, R10
	LDARB (R10), R8 // the OS thread sets it last of all
	CMPW  $1, R8
	BNE   claimNone
	MOVD  const_mLockedg(R2), R8
	CMP   R1, R8
	BNE   claimNone
	MOVD  const_mCurg(R2), R8
	CBNZ  R8, claimNone
	ADD   $const_gStatus, R1, R5
	MOVD  $const_Preempted, R6
	MOVD  $(const_scanBit+const_Preempted), R7
	CASW(R6, R7, R5, R8, R9)
	BNE   claimNone
	// Ours now: only the one that moves it out of this status may ready it.
	MOVB  ZR, const_gPreemptStop(R1)
	MOVB  ZR, const_gPreempt(R1)
	MOVB  ZR, const_gSyncSafePoint(R1)
	MOVD  $const_waitSwitched, R8
	MOVB  R8, const_gWaitreason(R1)
	MOVW  $const_StoppedInside, R8
	MOVW  R8, ret+48(FP)
	MOVWU (R4), R8
	CBNZW R8, claimFree
	MOVD  const_mLockedExt(R2), R8 // it has locked its OS thread since it was asked
	CMP   $const_Held, R8
	BNE   claimFree
	MOVBU const_gAsyncSafePoint(R1), R8 // stopped in a call, perhaps one of the runtime's own, with a lock of that
	CMPW  $1, R8
	BNE   claimFree
	MOVD  const_mLockedg(R2), R8
	CMP   R1, R8
	BNE   claimFree
	LDARB (R10), R8
	CMPW  $1, R8
	BNE   claimFree
	MOVD  id+32(FP), R8
	MOVWU lost+40(FP), R9
	MOVW  R9, (R8)
	MOVD  ZR, const_gLockedm(R1)
	MOVD  R3, const_mLockedg(R2)
	MOVD  R2, const_gLockedm(R3)
	MOVW  $const_Stopped, R8
	MOVW  R8, ret+48(FP)
claimFree:
	MOVD  $const_Waiting, R8
	STLRW R8, (R5)
claimNone:
	RET

// func passLock(gp, next uintptr)
// On the system stack: the OS thread of g, which has just parked, is the caller's.
TEXT ·passLock(SB), NOSPLIT, $0-16
	MOVD gp+0(FP), R1
	MOVD next+8(FP), R2
	MOVD const_gM(g), R3
	MOVD const_mLockedg(R3), R4
	CMP  R1, R4
	BNE  passNone
	MOVD R2, const_mLockedg(R3)
	MOVD R3, const_gLockedm(R2)
	MOVD ZR, const_gLockedm(R1)
	MOVB ZR, const_gPreemptStop(R1)
passNone:
	RET
