//go:build !portable

#include "textflag.h"

// func gWord(offset uintptr) uint64
TEXT ·gWord(SB), NOSPLIT, $0-16
	MOVQ offset+0(FP), BX
	MOVQ (TLS), AX
	MOVQ (AX)(BX*1), AX
	MOVQ AX, ret+8(FP)
	RET
