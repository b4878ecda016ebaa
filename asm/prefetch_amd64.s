//go:build !portable

#include "textflag.h"

// func PrefetchWrite(p *atomic.Uint64)
TEXT ·PrefetchWrite(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX), which the assembler has no name for
	RET
