//go:build go1.26 && !go1.28 && linux && amd64 && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

#include "go_asm.h"
#include "textflag.h"

// func Current() uintptr
TEXT ·Current(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// switchTo is func(next uintptr, r *Refusal) in Go's internal calling convention, for a func value: next in AX, r
// in BX, the g in R14. It writes to *r if it refuses, and else nothing, since one that left here may be resumed by
// the runtime, which brings no result.
// All checks come before the first store.
TEXT switchTo<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ BX, R10
	MOVQ AX, BX
	MOVQ R14, DX
	MOVL $const_Asked, CX
	CMPB const_gPreempt(DX), $0
	JNE  refuse
	MOVQ const_gM(DX), DI
	MOVL $const_Unlocked, CX
	CMPQ const_mLockedExt(DI), $const_Held // with mLockedInt, which a cgo callback raises
	JNE  refuse
	CMPQ const_mLockedg(DI), DX
	JNE  refuse
	MOVQ const_mP(DI), R9
	MOVL $const_Asked, CX
	CMPB const_pPreempt(R9), $0
	JNE  refuse
	MOVL $const_Recorded, CX
	CMPL const_gGoroutineProfiled(DX), $0 // a goroutine profile is taken: next must be recorded first
	JNE  refuse
	CMPQ const_mTraceBufs(DI), $0 // an execution trace
	JNE  refuse
	CMPQ const_mTraceBufsUp(DI), $0
	JNE  refuse
	MOVL $const_NotParked, CX
	CMPQ BX, DX
	JEQ  refuse
	CMPB const_gWaitreason(BX), $const_waitSwitched
	JNE  reason
parked:
	MOVL const_gStatus(BX), AX
	ANDL $~const_scanBit, AX
	CMPL AX, $const_Waiting
	JNE  refuse

	// Save the caller as though this call had returned.
	MOVQ 0(SP), CX
	MOVQ CX, const_gPc(DX)
	LEAQ 8(SP), R8
	MOVQ R8, const_gSp(DX)
	MOVQ BP, const_gBp(DX)
	MOVQ $0, const_gCtxt(DX)
	MOVB $0, const_gPreemptStop(DX)
	MOVB $const_waitSwitched, const_gWaitreason(DX)

	// The OS thread and the lock on it go to next.
	MOVQ DI, const_gM(BX)
	MOVQ DI, const_gLockedm(BX)
	MOVQ BX, const_mLockedg(DI)
	MOVQ $0, const_gLockedm(DX)
	MOVL $const_Waiting, SI
leave:
	MOVL $const_Running, AX
	LOCK
	CMPXCHGL SI, const_gStatus(DX)
	JNE  leaveScanned
	MOVQ BX, const_mCurg(DI)
	MOVL $const_Running, SI
enter:
	MOVL $const_Waiting, AX
	LOCK
	CMPXCHGL SI, const_gStatus(BX)
	JNE  enterScanned

	// From here on this is next; its stack must not be used before, nor the old one after.
	MOVQ TLS, R9
	MOVQ BX, 0(R9)(TLS*1)
	MOVQ $0, const_gM(DX)
	MOVQ BX, R14
	MOVQ $0, const_gWaitsince(BX)
	MOVQ const_gCtxt(BX), DX // of a function that was stopped at its first instruction
	MOVQ $0, const_gCtxt(BX)
	MOVQ const_gSp(BX), AX
	MOVQ const_gBp(BX), BP
	MOVQ const_gPc(BX), CX
	MOVQ $0, const_gSp(BX)
	MOVQ $0, const_gBp(BX)
	SUBQ $8, AX
	MOVQ CX, (AX)
	MOVQ AX, SP
	RET // with the return address of both calls of switchTo, so that it is predicted
leaveScanned:
	PAUSE
	JMP  leave
enterScanned:
	PAUSE
	JMP  enter
reason:
	// The collector writes this reason before it tries to claim a stopped g, and leaves it there
	// when ClaimStopped was faster.
	CMPB const_gWaitreason(BX), $const_waitPreempted
	JEQ  parked
refuse:
	MOVL CX, (R10)
	RET

// func switchToAt() uintptr
TEXT ·switchToAt(SB), NOSPLIT, $0-8
	LEAQ switchTo<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// own is func() unsafe.Pointer in Go's internal calling convention, for a func value.
TEXT own<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ const_gOwn(R14), AX
	RET

// func ownAt() uintptr
TEXT ·ownAt(SB), NOSPLIT, $0-8
	LEAQ own<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
