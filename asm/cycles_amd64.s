//go:build !portable

#include "textflag.h"

// func Cycles() int64
// No fence: the counter is for rates and durations of a hundred nanoseconds and
// more, and LFENCE would cost more than the reading.
TEXT ·Cycles(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET
