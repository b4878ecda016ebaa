//go:build !portable

#include "textflag.h"

// gRegister has Go's internal calling convention, and is called through a func value: R14 has the
// goroutine's descriptor, AX the result.
TEXT gRegister<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ R14, AX
	RET

// func gRegisterAt() uintptr
TEXT ·gRegisterAt(SB), NOSPLIT, $0-8
	LEAQ gRegister<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func gTLS() uintptr
TEXT ·gTLS(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET
