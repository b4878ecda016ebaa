//go:build linux && !portable

#include "textflag.h"

// func rdpid() uint32: RDPID AX, which the assembler does not know
TEXT ·rdpid(SB), NOSPLIT, $0-4
	BYTE $0xF3; BYTE $0x0F; BYTE $0xC7; BYTE $0xF8
	MOVL AX, ret+0(FP)
	RET

// func rdtscp() uint32: the TSC_AUX register that comes with the counter
TEXT ·rdtscp(SB), NOSPLIT, $0-4
	RDTSCP
	MOVL CX, ret+0(FP)
	RET
