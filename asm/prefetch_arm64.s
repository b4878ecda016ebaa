//go:build !portable

#include "textflag.h"

// func PrefetchWrite(p *atomic.Uint64)
TEXT ·PrefetchWrite(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PSTL1KEEP
	RET
