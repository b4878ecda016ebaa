//go:build go1.26 && !go1.28 && linux && amd64 && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

#include "go_asm.h"
#include "textflag.h"

// func Current() uintptr
TEXT ·Current(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// func Locks() uint64
TEXT ·Locks(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ const_gM(AX), AX
	MOVQ const_mLockedExt(AX), AX
	MOVQ AX, ret+0(FP)
	RET

// func Marked() bool
TEXT ·Marked(SB), NOSPLIT, $0-1
	MOVQ (TLS), AX
	MOVBLZX const_gPaniconfault(AX), CX
	MOVQ const_gLabels(AX), DX
	ORQ  DX, CX
	MOVQ const_gM(AX), DX
	MOVQ const_mLockedExt(DX), DX
	XORQ $const_Held, DX
	ORQ  DX, CX
	SETNE ret+0(FP)
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

// func take(parent uint64, pc uintptr) (gp uintptr)
// In assembly, so that the caller keeps its P between the look and the exchange.
TEXT ·take(SB), NOSPLIT, $0-24
	MOVQ parent+0(FP), DX
	MOVQ pc+8(FP), CX
	MOVQ $0, ret+16(FP)
	MOVQ (TLS), R8
	MOVQ const_gM(R8), R8
	MOVQ const_mP(R8), R8
	MOVQ const_pRunnext(R8), BX
	TESTQ BX, BX
	JEQ  takeNone
	CMPQ const_gParentGoid(BX), DX
	JNE  takeNone
	CMPQ const_gStartpc(BX), CX
	JNE  takeNone
	CMPQ const_gPc(BX), CX // it has not begun, as only the caller's latest child has not
	JNE  takeNone
	MOVQ BX, AX
	MOVQ $0, SI
	LOCK
	CMPXCHGQ SI, const_pRunnext(R8)
	JNE  takeNone
	MOVB $const_waitSwitched, const_gWaitreason(BX)
	MOVL $const_Waiting, SI
takeScanned:
	MOVL $const_Runnable, AX
	LOCK
	CMPXCHGL SI, const_gStatus(BX)
	JNE  takeScanned
	MOVQ BX, ret+16(FP)
takeNone:
	RET

// func Repossess(gp, m, base uintptr, inside, id *uint32, lost uint32) (ok bool)
// While the scan bit of g is set no other OS thread readies it.
TEXT ·Repossess(SB), NOSPLIT, $0-49
	MOVQ gp+0(FP), BX
	MOVQ m+8(FP), DI
	MOVQ base+16(FP), SI
	MOVQ inside+24(FP), R8
	MOVQ id+32(FP), R9
	MOVL lost+40(FP), R10
	MOVB $0, ret+48(FP)
	MOVL $const_Waiting, AX
	MOVL $(const_scanBit+const_Waiting), CX
	LOCK
	CMPXCHGL CX, const_gStatus(BX)
	JNE  repNo
	CMPQ const_mLockedg(DI), BX
	JNE  repRelease
	CMPQ const_gLockedm(BX), DI
	JNE  repRelease
	CMPQ const_mLockedExt(DI), $const_Held
	JNE  repRelease
	CMPB const_mBlocked(DI), $1
	JNE  repRelease
	CMPQ const_mCurg(DI), $0
	JNE  repRelease
	CMPL (R8), $0
	JNE  repRelease
	CMPQ const_gBubble(BX), $0
	JNE  repRelease
	CMPB const_gWaitreason(BX), $const_waitPreempted
	JEQ  repRelease
	CMPB const_gWaitreason(BX), $const_waitSwitched
	JEQ  repRelease
	MOVL R10, (R9)
	MOVB $0, const_gPreemptStop(BX)
	MOVB $0, const_gPreempt(BX)
	MOVQ $0, const_gLockedm(BX)
	MOVQ SI, const_mLockedg(DI)
	MOVQ DI, const_gLockedm(SI)
	MOVB $1, ret+48(FP)
repRelease:
	MOVL $const_Waiting, CX
	XCHGL CX, const_gStatus(BX)
repNo:
	RET

// func Deprive(gp uintptr, status uint32, inside, word *uint32, holder uint32) (ok bool)
TEXT ·Deprive(SB), NOSPLIT, $0-41
	MOVQ gp+0(FP), BX
	MOVL status+8(FP), DX
	MOVQ inside+16(FP), R8
	MOVQ word+24(FP), R9
	MOVL holder+32(FP), R10
	MOVB $0, ret+40(FP)
	MOVL DX, AX
	MOVL DX, CX
	ORL  $const_scanBit, CX
	LOCK
	CMPXCHGL CX, const_gStatus(BX)
	JNE  depNo
	CMPL (R8), $0
	JNE  depRelease
	CMPB const_gWaitreason(BX), $const_waitSwitched
	JNE  depTake
	CMPL DX, $const_Waiting
	JEQ  depRelease
depTake:
	MOVB $0, const_gPreemptStop(BX) // a request to stop that would not be answered
	MOVL R10, (R9)
	MOVB $1, ret+40(FP)
depRelease:
	XCHGL DX, const_gStatus(BX)
depNo:
	RET

// func AskStop(gp uintptr) (ok bool)
TEXT ·AskStop(SB), NOSPLIT, $0-9
	MOVQ gp+0(FP), BX
	MOVB $0, ret+8(FP)
	MOVL $const_Running, AX
	MOVL $(const_scanBit+const_Running), CX
	LOCK
	CMPXCHGL CX, const_gStatus(BX)
	JNE  askNo
	MOVQ const_gM(BX), R8
	TESTQ R8, R8
	JEQ  askRelease
	CMPQ const_gLockedm(BX), R8
	JNE  askRelease
	CMPQ const_mLockedExt(R8), $const_Held
	JNE  askRelease
	MOVQ const_mP(R8), R8
	TESTQ R8, R8
	JEQ  askRelease
	MOVB $1, const_gPreemptStop(BX)
	MOVB $1, const_pPreempt(R8)
	MOVB $1, ret+8(FP)
askRelease:
	MOVL $const_Running, CX
	XCHGL CX, const_gStatus(BX)
askNo:
	RET

// func ClaimStopped(gp, m, base uintptr, inside, id *uint32, lost uint32) (s Stop)
TEXT ·ClaimStopped(SB), NOSPLIT, $0-52
	MOVQ gp+0(FP), BX
	MOVQ m+8(FP), DI
	MOVQ base+16(FP), SI
	MOVQ inside+24(FP), R8
	MOVQ id+32(FP), R9
	MOVL lost+40(FP), R10
	MOVL $const_NotStopped, ret+48(FP)
	CMPQ const_mLockedg(DI), BX
	JNE  claimNone
	CMPB const_mBlocked(DI), $1
	JNE  claimNone
	CMPQ const_mCurg(DI), $0
	JNE  claimNone
	MOVL $const_Preempted, AX
	MOVL $(const_scanBit+const_Preempted), CX
	LOCK
	CMPXCHGL CX, const_gStatus(BX)
	JNE  claimNone
	// Ours now: only the one that moves it out of this status may ready it.
	MOVB $0, const_gPreemptStop(BX)
	MOVB $0, const_gPreempt(BX)
	MOVB $0, const_gSyncSafePoint(BX)
	MOVB $const_waitSwitched, const_gWaitreason(BX)
	MOVL $const_StoppedInside, ret+48(FP)
	CMPL (R8), $0
	JNE  claimFree
	CMPQ const_mLockedExt(DI), $const_Held // it has locked its OS thread since it was asked
	JNE  claimFree
	CMPQ const_mLockedg(DI), BX
	JNE  claimFree
	CMPB const_mBlocked(DI), $1
	JNE  claimFree
	MOVL R10, (R9)
	MOVQ $0, const_gLockedm(BX)
	MOVQ SI, const_mLockedg(DI)
	MOVQ DI, const_gLockedm(SI)
	MOVL $const_Stopped, ret+48(FP)
claimFree:
	MOVL $const_Waiting, CX
	XCHGL CX, const_gStatus(BX)
claimNone:
	RET

// func Withdraw(gp uintptr) (stopped bool)
TEXT ·Withdraw(SB), NOSPLIT, $0-9
	MOVQ gp+0(FP), BX
	MOVB $0, stopped+8(FP)
	MOVL const_gStatus(BX), AX
	CMPL AX, $const_Preempted
	JEQ  withdrawStopped
	CMPL AX, $const_Waiting // those below it are runnable, running, and in a system call
	JHI  withdrawNone
	MOVL AX, DX
	MOVL AX, CX
	ORL  $const_scanBit, CX
	LOCK
	CMPXCHGL CX, const_gStatus(BX)
	JNE  withdrawNone
	MOVB $0, const_gPreemptStop(BX)
	XCHGL DX, const_gStatus(BX)
withdrawNone:
	RET
withdrawStopped:
	MOVL $(const_scanBit+const_Preempted), CX
	LOCK
	CMPXCHGL CX, const_gStatus(BX)
	JNE  withdrawNone
	MOVB $0, const_gPreemptStop(BX)
	MOVB $0, const_gPreempt(BX)
	MOVB $0, const_gSyncSafePoint(BX)
	MOVL $const_Waiting, CX
	XCHGL CX, const_gStatus(BX)
	MOVB $1, stopped+8(FP)
	RET

// func passLock(gp, next uintptr)
// On the system stack: the OS thread of g, which has just parked, is the caller's.
TEXT ·passLock(SB), NOSPLIT, $0-16
	MOVQ gp+0(FP), DX
	MOVQ next+8(FP), BX
	MOVQ (TLS), AX
	MOVQ const_gM(AX), DI
	CMPQ const_mLockedg(DI), DX
	JNE  passNone
	MOVQ BX, const_mLockedg(DI)
	MOVQ DI, const_gLockedm(BX)
	MOVQ $0, const_gLockedm(DX)
	MOVB $0, const_gPreemptStop(DX)
passNone:
	RET
