//go:build !portable && !race

#include "textflag.h"

// func copyString(to, from *byte, n int)
TEXT ·copyString(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ from+8(FP), SI
	MOVQ n+16(FP), CX
	REP; MOVSB // the direction flag is clear, as Go's ABI has it
	RET
