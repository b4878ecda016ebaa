//go:build linux && !portable

#include "textflag.h"

// func tpidr() uintptr
TEXT ·tpidr(SB), NOSPLIT, $0-8
	MRS  TPIDR_EL0, R0
	MOVD R0, ret+0(FP)
	RET
