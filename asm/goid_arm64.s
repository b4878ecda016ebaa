//go:build !portable

#include "textflag.h"

// func gWord(offset uintptr) uint64: g is R28
TEXT ·gWord(SB), NOSPLIT, $0-16
	MOVD offset+0(FP), R0
	MOVD (g)(R0), R0
	MOVD R0, ret+8(FP)
	RET
