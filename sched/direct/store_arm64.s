#include "textflag.h"

// func storeRelease(p *uint32, v uint32)
// In assembly, since the race detector must not see it: the system stack runs it.
TEXT ·storeRelease(SB), NOSPLIT, $0-12
	MOVD p+0(FP), R0
	MOVW v+8(FP), R1
	STLRW R1, (R0)
	RET

// func loadAcquire(p *uint32) uint32
TEXT ·loadAcquire(SB), NOSPLIT, $0-12
	MOVD p+0(FP), R0
	LDARW (R0), R1
	MOVW R1, ret+8(FP)
	RET
