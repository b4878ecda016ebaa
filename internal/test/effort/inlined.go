package effort

import "testing"

// SkipIfNotInlined skips a test of what is allocated, where the compiler does not inline, as in a build for a debugger
// (-gcflags='all=-N -l'): there what a function returns is allocated that inlined stays on the caller's stack.
func SkipIfNotInlined(t *testing.T) {
	t.Helper()
	if testing.AllocsPerRun(1, func() { *number() = 1 }) != 0 {
		t.Skip("a build for a debugger allocates more: functions are not inlined")
	}
}

// number returns what stays on the stack of a caller that inlines it.
func number() *int { return new(int) }
