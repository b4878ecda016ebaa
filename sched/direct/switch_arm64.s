//go:build go1.26 && !go1.28 && linux && arm64 && !cgo && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

#include "go_asm.h"
#include "textflag.h"

// Without cgo the register g (R28) alone says which goroutine runs: there is no copy in
// thread-local storage.
//
// CASW is compare-and-swap: *(addr) goes from old to new, and the flags say EQ, or
// it is seen, and they say NE. Acquire and release: what this processor has stored before is
// seen by the one that sees new, and what it loads after is not older than old.
#ifdef GOARM64_LSE
#define CASW(old, new, addr, seen, tmp) \
	MOVW old, seen;        \
	CASALW seen, (addr), new; \
	CMPW old, seen
#else
#define CASW(old, new, addr, seen, tmp) \
	LDAXRW (addr), seen;     \
	CMPW   old, seen;        \
	BNE    3(PC);            \
	STLXRW new, (addr), tmp; \
	CBNZ   tmp, -4(PC)
#endif

// func Current() uintptr
TEXT ·Current(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
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
