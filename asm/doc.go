// Package asm holds the few machine primitives that the layers above need and that Go does not offer: one instruction
// each, wrapped in the smallest possible assembly, with a twin in Go for every other architecture.
//
//	began := asm.Cycles()
//	for range 100 {
//		asm.Pause() // in each turn of a loop that spins
//	}
//	took := asm.Nanos(asm.Cycles() - began)
//	fmt.Println(took >= 0, asm.CPU() >= -1) // -1: unknown
//
// # The table
//
//	primitive   amd64                      arm64                    portable twin
//	----------  -------------------------  -----------------------  -------------------------
//	Pause       PAUSE                      YIELD                    an empty call
//	Cycles      RDTSC                      CNTVCT_EL0               monotonic clock, 1 ns
//	Nanos       leaf 0x15 / 0x40000010,    CNTFRQ_EL0 (checked),    identity
//	ToCycles    checked; else measured     else measured
//	CPUID       CPUID                      zeros                    zeros
//	CPU         RDPID, else RDTSCP,        getcpu(2)                getcpu(2)
//	            else getcpu(2)
//	G           g from TLS                 g register (R28)         number in runtime.Stack
//	Prefetch... PREFETCHW                  PRFM PSTL1KEEP           an empty call
//	Copy        REP MOVSB on Zen 5         builtin copy             builtin copy; race builds, too
//	Store...    MOV                        atomic store             atomic store; race builds, too
//
// The twins are chosen by GOARCH, or on every architecture by the build tag `portable`, which is how they are tested.
// CPU needs Linux for any of its forms; elsewhere it answers -1, which means "unknown".
//
// # Layout
//
// One primitive, one name: pause_amd64.s, pause_arm64.s, pause_asm.go (the declaration) and pause_portable.go (the
// twin). Nothing in the assembly loops or calls: Go cannot preempt assembly, so a loop there could hold up a garbage
// collection. REP MOVSB takes as long as what it copies, which its callers bound. All of it is NOSPLIT and without a
// frame.
//
// # What is checked, and when
//
//   - An instruction that may be missing is used only after the processor or the
//     kernel said so, once, while the package initializes: RDTSCP and RDPID by
//     CPUID.
//   - RDPID and RDTSCP return a register that the kernel fills. A sandbox may have
//     left it alone, so it is compared with getcpu(2) first.
//   - The rate of the cycle counter is settled at the first conversion. A rate that
//     the processor or the hypervisor announces is compared with the monotonic
//     clock over at least 100 us and dropped if it is off by over 1 %. A measured
//     one takes 2 ms, counted from the start of the process: a program
//     that converts later than that does not wait at all.
//
// # Guarantees
//
//   - Everything here may be called from any goroutine or thread, never blocks,
//     never allocates (the portable G excepted, which is slow, too) and never panics.
//   - Cycles of one thread never go backwards. Between processors they may differ
//     by as much as the machine lets them; conversions of a negative difference
//     give 0, never a negative duration.
//   - An answer about the thread or the processor is true at the moment it is
//     taken: a caller that is not locked to its OS thread may have moved on.
//   - G identifies among the living: a value may come back once the
//     goroutine has ended. It is no pointer that one may follow.
//
// Two more conditions hold on everything that Go supports today, and are not checked: an invariant
// time-stamp counter on amd64 (2008 and later), and a process that may execute RDTSC (prctl(PR_SET_TSC) can forbid it).
package asm
