#include "textflag.h"

// func storeRelease(p *uint32, v uint32)
// In assembly, since the race detector must not see it: the system stack runs it.
TEXT ·storeRelease(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), AX
	MOVL v+8(FP), CX
	MOVL CX, (AX)
	RET

// func loadAcquire(p *uint32) uint32
TEXT ·loadAcquire(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), AX
	MOVL (AX), AX
	MOVL AX, ret+8(FP)
	RET
