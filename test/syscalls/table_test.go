//go:build linux && amd64 && !race

package syscalls

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a program does when a call is refused, as the table says.
const (
	goesOn = "goes on"
	saysSo = "says so"
	ends   = "ends"
	noCall = "–"
)

// row is a line of the table of docs/platforms.md.
type row struct {
	call, room   string
	job, threads string
}

// table is what docs/platforms.md says of system calls.
type table struct {
	rows     []row
	runtime  []string // those of Go's runtime
	packages []string // those of its packages, and of the loader
}

// all are the names in the table and below it.
func (t *table) all() (names []string) {
	for _, r := range t.rows {
		names = append(names, r.call)
	}
	return slices.Concat(names, t.runtime, t.packages)
}

var quoted = regexp.MustCompile("`([a-z0-9_]+)`")

// readTable reads docs/platforms.md.
func readTable(t *testing.T) (x table) {
	t.Helper()
	text, err := os.ReadFile("../../docs/platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if name := quoted.FindStringSubmatch(cells[0]); len(cells) == 6 && name != nil {
			x.rows = append(x.rows, row{name[1], strings.TrimSpace(cells[1]), strings.TrimSpace(cells[4]), strings.TrimSpace(cells[5])})
		}
	}
	for mark, list := range map[string]*[]string{"Go's": &x.runtime, "Go's packages": &x.packages} {
		_, after, found := strings.Cut(string(text), "<!-- calls of "+mark+" -->\n")
		part, _, _ := strings.Cut(after, "\n\n")
		part, _, _ = strings.Cut(part, " Refuse neither")
		for _, name := range quoted.FindAllStringSubmatch(part, -1) {
			*list = append(*list, name[1])
		}
		if !found || len(*list) == 0 {
			t.Fatalf("docs/platforms.md has no calls of %s", mark)
		}
	}
	return x
}

// TestTable: the table can be walked.
func TestTable(t *testing.T) {
	x := readTable(t)
	if len(x.rows) < 40 {
		t.Fatalf("%d rows", len(x.rows))
	}
	names := x.all()
	for i, name := range names {
		if _, ok := numbers[name]; !ok {
			t.Errorf("%s: the test does not know its number", name)
		}
		if slices.Contains(names[:i], name) {
			t.Errorf("%s is there twice", name)
		}
	}
	for name := range numbers {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not in docs/platforms.md", name)
		}
	}
	for i, r := range x.rows {
		for _, does := range []string{r.job, r.threads} {
			if !slices.Contains([]string{goesOn, saysSo, ends, noCall}, does) {
				t.Errorf("%s: %q is not among what programs do", r.call, does)
			}
		}
		if i > 0 && r.call < x.rows[i-1].call {
			t.Errorf("%s stands behind %s", r.call, x.rows[i-1].call)
		}
	}
}

// numbers are the kernel's.
var numbers = map[string]uint32{
	"accept4": unix.SYS_ACCEPT4, "access": unix.SYS_ACCESS, "arch_prctl": unix.SYS_ARCH_PRCTL, "bind": unix.SYS_BIND,
	"brk": unix.SYS_BRK, "chdir": unix.SYS_CHDIR, "clock_gettime": unix.SYS_CLOCK_GETTIME, "clone": unix.SYS_CLONE,
	"clone3": unix.SYS_CLONE3, "close": unix.SYS_CLOSE, "connect": unix.SYS_CONNECT, "dup3": unix.SYS_DUP3,
	"epoll_create1": unix.SYS_EPOLL_CREATE1, "epoll_ctl": unix.SYS_EPOLL_CTL, "epoll_pwait": unix.SYS_EPOLL_PWAIT,
	"eventfd2": unix.SYS_EVENTFD2, "execve": unix.SYS_EXECVE, "exit": unix.SYS_EXIT, "exit_group": unix.SYS_EXIT_GROUP,
	"fcntl": unix.SYS_FCNTL, "fstat": unix.SYS_FSTAT, "fstatfs": unix.SYS_FSTATFS,
	"ftruncate": unix.SYS_FTRUNCATE, "futex": unix.SYS_FUTEX, "getcpu": unix.SYS_GETCPU, "getdents64": unix.SYS_GETDENTS64,
	"getegid": unix.SYS_GETEGID, "geteuid": unix.SYS_GETEUID, "getgid": unix.SYS_GETGID, "getpeername": unix.SYS_GETPEERNAME,
	"getpid": unix.SYS_GETPID, "getppid": unix.SYS_GETPPID, "getpriority": unix.SYS_GETPRIORITY, "getrandom": unix.SYS_GETRANDOM,
	"getrlimit": unix.SYS_GETRLIMIT, "getrusage": unix.SYS_GETRUSAGE, "getsockname": unix.SYS_GETSOCKNAME, "getsockopt": unix.SYS_GETSOCKOPT,
	"gettid": unix.SYS_GETTID, "getuid": unix.SYS_GETUID, "kill": unix.SYS_KILL, "listen": unix.SYS_LISTEN, "lseek": unix.SYS_LSEEK,
	"madvise": unix.SYS_MADVISE, "mbind": unix.SYS_MBIND, "membarrier": unix.SYS_MEMBARRIER, "memfd_create": unix.SYS_MEMFD_CREATE,
	"mmap": unix.SYS_MMAP, "mprotect": unix.SYS_MPROTECT, "munmap": unix.SYS_MUNMAP,
	"nanosleep": unix.SYS_NANOSLEEP, "newfstatat": unix.SYS_NEWFSTATAT, "openat": unix.SYS_OPENAT,
	"pidfd_open": unix.SYS_PIDFD_OPEN, "pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL, "pipe2": unix.SYS_PIPE2,
	"ppoll": unix.SYS_PPOLL, "prctl": unix.SYS_PRCTL, "pread64": unix.SYS_PREAD64,
	"prlimit64": unix.SYS_PRLIMIT64, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "process_vm_writev": unix.SYS_PROCESS_VM_WRITEV,
	"read": unix.SYS_READ, "readlinkat": unix.SYS_READLINKAT,
	"readv": unix.SYS_READV, "recvfrom": unix.SYS_RECVFROM, "recvmsg": unix.SYS_RECVMSG,
	"restart_syscall": unix.SYS_RESTART_SYSCALL, "rseq": unix.SYS_RSEQ, "rt_sigaction": unix.SYS_RT_SIGACTION,
	"rt_sigprocmask": unix.SYS_RT_SIGPROCMASK, "rt_sigreturn": unix.SYS_RT_SIGRETURN,
	"sched_getaffinity": unix.SYS_SCHED_GETAFFINITY, "sched_getscheduler": unix.SYS_SCHED_GETSCHEDULER, "sched_setaffinity": unix.SYS_SCHED_SETAFFINITY,
	"sched_setattr": unix.SYS_SCHED_SETATTR, "sched_yield": unix.SYS_SCHED_YIELD, "sendmsg": unix.SYS_SENDMSG,
	"sendto": unix.SYS_SENDTO, "set_robust_list": unix.SYS_SET_ROBUST_LIST, "set_tid_address": unix.SYS_SET_TID_ADDRESS,
	"setitimer": unix.SYS_SETITIMER, "setpgid": unix.SYS_SETPGID, "setsid": unix.SYS_SETSID, "setsockopt": unix.SYS_SETSOCKOPT,
	"shutdown": unix.SYS_SHUTDOWN, "sigaltstack": unix.SYS_SIGALTSTACK, "socket": unix.SYS_SOCKET,
	"socketpair": unix.SYS_SOCKETPAIR, "tgkill": unix.SYS_TGKILL, "timer_create": unix.SYS_TIMER_CREATE,
	"timer_delete": unix.SYS_TIMER_DELETE, "timer_settime": unix.SYS_TIMER_SETTIME, "uname": unix.SYS_UNAME,
	"unlinkat": unix.SYS_UNLINKAT, "wait4": unix.SYS_WAIT4, "waitid": unix.SYS_WAITID, "write": unix.SYS_WRITE,
	"writev": unix.SYS_WRITEV,
}
