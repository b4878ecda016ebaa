//go:build linux && !portable

#include "textflag.h"

#define SYS_gettid 186

// func ThreadID() uintptr: RDFSBASE AX where the kernel allows it.
TEXT ·ThreadID(SB), NOSPLIT, $0-8
	CMPB ·haveFSBase(SB), $0
	JEQ  slow
	BYTE $0xF3; BYTE $0x48; BYTE $0x0F; BYTE $0xAE; BYTE $0xC0
	MOVQ AX, ret+0(FP)
	RET

slow:
	MOVL $SYS_gettid, AX
	SYSCALL
	MOVQ AX, ret+0(FP)
	RET

// func fsbase() uintptr
TEXT ·fsbase(SB), NOSPLIT, $0-8
	BYTE $0xF3; BYTE $0x48; BYTE $0x0F; BYTE $0xAE; BYTE $0xC0
	MOVQ AX, ret+0(FP)
	RET
