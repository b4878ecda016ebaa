//go:build go1.26 && !go1.28 && linux && (amd64 || (arm64 && !cgo)) && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

import (
	"debug/dwarf"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestOffsets: the offsets in offsets.go are those of the toolchain that builds this program. With -long also for the
// other architecture, with the race detector, and with each of Go's experiments that changes the runtime's structures:
// for each of these the runtime is compiled once more, and the result depends on the toolchain alone.
func TestOffsets(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	for name, how := range map[string]struct {
		env      []string
		flags    []string
		pPreempt int64
	}{
		"amd64":       {[]string{"GOARCH=amd64", "CGO_ENABLED=0"}, nil, pPreempt},
		"arm64":       {[]string{"GOARCH=arm64", "CGO_ENABLED=0"}, nil, pPreempt},
		"race":        {[]string{"CGO_ENABLED=1"}, []string{"-race"}, pPreempt},
		"no greentea": {[]string{"GOEXPERIMENT=nogreenteagc", "CGO_ENABLED=0"}, nil, constant(t, "greentea_off.go")},
	} {
		if name != runtime.GOARCH && !effort.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			// Where GOFLAGS keeps the compiler from telling a debugger where things are, -gcflags has it do so.
			args := append([]string{"build", "-gcflags=", "-o", program}, how.flags...)
			cmd := exec.Command("go", append(args, "testdata/offsets/main.go")...)
			cmd.Env = append(os.Environ(), how.env...)
			if out, err := cmd.CombinedOutput(); err != nil {
				if _, e := exec.LookPath("gcc"); name == "race" && e != nil {
					t.Skip("no gcc")
				}
				t.Fatalf("%v: %s", err, out)
			}
			at := fieldsOf(t, program)
			for field, want := range map[string]int64{
				"g.m": gM, "g.sched.sp": gSp, "g.sched.pc": gPc, "g.sched.ctxt": gCtxt, "g.sched.lr": gLr, "g.sched.bp": gBp,
				"g.atomicstatus": gStatus, "g.goid": gGoid, "g.waitsince": gWaitsince, "g.waitreason": gWaitreason,
				"g.preempt": gPreempt, "g.preemptStop": gPreemptStop, "g.asyncSafePoint": gAsyncSafePoint, "g.paniconfault": gPaniconfault, "g.lockedm": gLockedm,
				"g.ditWanted": gDitWanted, "g.syncSafePoint": gSyncSafePoint, "g.parentGoid": gParentGoid, "g.startpc": gStartpc,
				"g.labels": gLabels, "g.goroutineProfiled": gGoroutineProfiled, "g.bubble": gBubble, "g.valgrindStackID": gOwn,
				"m.curg": mCurg, "m.p": mP, "m.blocked": mBlocked, "m.lockedg": mLockedg, "m.lockedExt": mLockedExt,
				"m.lockedInt": mLockedInt, "m.ditEnabled": mDitEnabled, "m.trace.buf": mTraceBufs,
				"p.runqhead": pRunqhead, "p.runqtail": pRunqhead + 4, "p.runnext": pRunnext, "p.preempt": how.pPreempt,
			} {
				if got, ok := at[field]; !ok || got != want {
					t.Errorf("%s is at %d (known: %v), offsets.go says %d", field, got, ok, want)
				}
			}
			if mTraceBufsUp != mTraceBufs+2*8 {
				t.Error("mTraceBufsUp is not that of the second generation")
			}
		})
	}
}

// constant reads pPreempt from a file that this program may not have been built with.
func constant(t *testing.T, file string) (n int64) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, value, _ := strings.Cut(string(text), "pPreempt = ")
	if n, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
		t.Fatal(err)
	}
	return n
}

// fieldsOf reads where the fields of the runtime's g, m and p are.
func fieldsOf(t *testing.T, program string) map[string]int64 {
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int64{}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return at
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		if e.Tag != dwarf.TagStructType || name != "runtime.g" && name != "runtime.m" && name != "runtime.p" {
			continue
		}
		typ, err := d.Type(e.Offset)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range typ.(*dwarf.StructType).Field {
			field := name[len("runtime."):] + "." + x.Name
			at[field] = x.ByteOffset
			in, ok := x.Type.(*dwarf.StructType)
			if d, named := x.Type.(*dwarf.TypedefType); named {
				in, ok = d.Type.(*dwarf.StructType)
			}
			if ok {
				for _, y := range in.Field {
					at[field+"."+y.Name] = x.ByteOffset + y.ByteOffset
				}
			}
		}
	}
}
