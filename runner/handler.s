#include "textflag.h"

// A signal handler that does nothing: it returns to the kernel's sigreturn.
TEXT ·idle(SB), NOSPLIT|NOFRAME, $0
	RET

// Its address as the kernel needs it, without the Go calling convention.
DATA ·idleHandler(SB)/8, $·idle(SB)
GLOBL ·idleHandler(SB), RODATA|NOPTR, $8
