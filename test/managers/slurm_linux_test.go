package managers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurm is a Slurm of this test's own: a controller, and two nodes on this host. It is gone when the test ends.
type slurm struct{ conf string }

func newSlurm(t *testing.T) *slurm {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("Slurm's daemons need root")
	}
	tools := map[string]string{}
	for _, name := range []string{"munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo", "scancel"} {
		path, err := exec.LookPath(name)
		if err != nil {
			if path = "/usr/sbin/" + name; exec.Command("test", "-x", path).Run() != nil {
				t.Skipf("no %s here (Debian: slurm-wlm, munge)", name)
			}
		}
		tools[name] = path
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	var ports [3]int
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
		l.Close()
	}
	dir, err := os.MkdirTemp("/tmp", "pm2m") // names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { // munged looks at which users may enter
		t.Fatal(err)
	}
	s := &slurm{conf: filepath.Join(dir, "slurm.conf")}
	text := fmt.Sprintf(`ClusterName=pm2
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool-%%n
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/%%n.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/%%n.log
SlurmctldPort=%[3]d
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=pmi2
ReturnToService=2
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
KillWait=3
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=64
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=64
PartitionName=p Nodes=ALL Default=YES State=UP
`, host, dir, ports[0], ports[1], ports[2])
	for name, content := range map[string]string{"slurm.conf": text, "munge.key": strings.Repeat("pm2 test ", 16)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	daemon := func(name string, args ...string) {
		c := exec.Command(tools[name], args...)
		c.Env = append(os.Environ(), "SLURM_CONF="+s.conf)
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
		var log output
		c.Stdout, c.Stderr = &log, &log
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Signal(syscall.SIGTERM)
			late := time.AfterFunc(endLimit, func() { _ = c.Process.Kill() })
			defer late.Stop()
			_ = c.Wait()
			if t.Failed() {
				t.Logf("%s: %.2000s", name, &log)
			}
		})
	}
	daemon("munged", "-F", "--force", "--key-file="+dir+"/munge.key", "--socket="+dir+"/munge", "--pid-file="+dir+"/munge.pid",
		"--log-file="+dir+"/munge.log", "--seed-file="+dir+"/munge.seed")
	time.Sleep(200 * time.Millisecond) // the others ask it once, at their start
	daemon("slurmctld", "-D")
	daemon("slurmd", "-D", "-N", "n1")
	daemon("slurmd", "-D", "-N", "n2")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		c := s.command("sinfo", "-h", "-o", "%D %t")
		if out, _ := c.CombinedOutput(); string(out) == "2 idle\n" {
			return s
		} else if time.Now().After(end) {
			t.Skipf("Slurm does not come up here: %s", out)
		}
	}
}

func (s *slurm) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "SLURM_CONF="+s.conf)
	return c
}

// TestSlurm: jobs of srun's on two nodes.
func TestSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("whole suites")
	}
	t.Parallel() // most of it is waiting for launchers
	s := newSlurm(t)
	four := []string{"-n", "4", "-N", "2", "--ntasks-per-node", "2"}
	srun := func(words ...string) *exec.Cmd { return s.command("srun", append(four, words...)...) }

	t.Run("at once", func(t *testing.T) { // ends when all of them have: scancel, below, ends all jobs
		demo := build(t, "../../cmd/demo")
		for name, words := range map[string][]string{
			"ring":          self("ring"),
			"ping-pong":     {demo, "pingpong", "--sizes", "1,64K", "--iters", "200"},
			"E21":           {demo, "experiment", "E21", "--peers", "none", "--iters", "256", "--rounds", "1"},
			"explain-start": {demo, "explain-start"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if status, text := outcome(t, srun(words...), time.Minute); status != 0 {
					t.Errorf("status %d: %s", status, text)
				}
			})
		}
		t.Run("conformance", func(t *testing.T) {
			t.Parallel()
			c := srun(build(t, "../../nmad", "-c"))
			c.Env = append(c.Env, "NMAD_TEST=goroutine-explicit mixed 2 10")
			if status, text := outcome(t, c, 2*time.Minute); status != 0 {
				t.Errorf("status %d: %s", status, text)
			}
		})
		t.Run("program in C", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program := filepath.Join(dir, "messages")
			for _, words := range [][]string{
				{"go", "run", "../../nmad/mpi/abi/internal/build", "-o", dir},
				{"gcc", "-I", dir, "-o", program, "../../nmad/mpi/abi/testdata/messages.c", "-L", dir, "-lmpi_abi", "-Wl,-rpath," + dir, "-lm", "-lpthread"},
			} {
				if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
					t.Skipf("%v: %v: %s", words, err, out)
				}
			}
			if status, text := outcome(t, srun("--mpi=pmi2", program), time.Minute); status != 0 || strings.Count(text, "all is well") != 1 {
				t.Errorf("status %d: %s", status, text)
			}
		})
		t.Run("batch script", func(t *testing.T) { // of docs/many-machines.md, made to fit
			t.Parallel()
			page, err := os.ReadFile("../../docs/many-machines.md")
			if err != nil {
				t.Fatal(err)
			}
			_, script, found := strings.Cut(string(page), "\n#!/bin/sh\n#SBATCH")
			script, _, ended := strings.Cut(script, "```")
			if !found || !ended {
				t.Fatal("there is no batch script in docs/many-machines.md")
			}
			script = "#!/bin/sh\n#SBATCH" + strings.NewReplacer("--nodes=4", "--nodes=2", "--ntasks-per-node=16", "--ntasks-per-node=2", "ib0", "lo", "./program", strings.Join(self("ring"), " ")).Replace(script)
			file, out := filepath.Join(t.TempDir(), "script"), filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			status, id := outcome(t, s.command("sbatch", "--parsable", "--output="+out, file), time.Minute)
			if status != 0 {
				t.Fatalf("status %d: %s", status, id)
			}
			over := regexp.MustCompile(`JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY)`)
			job := ""
			for end := time.Now().Add(time.Minute); !over.MatchString(job) && time.Now().Before(end); time.Sleep(100 * time.Millisecond) { // sbatch --wait asks ever more rarely
				_, job = outcome(t, s.command("scontrol", "--oneliner", "show", "job", strings.TrimSpace(id)), time.Minute)
			}
			printed, _ := os.ReadFile(out)
			if !strings.Contains(job, "JobState=COMPLETED ") || strings.Count(string(printed), " of 4\n") != 4 {
				t.Errorf("%s%s\n%s", job, printed, script)
			}
		})
		t.Run("no key space", func(t *testing.T) {
			t.Parallel()
			status, text := outcome(t, srun(append([]string{"--mpi=none"}, self("ring")...)...), time.Minute)
			if status == 0 || !strings.Contains(text, "srun --mpi=pmi2") {
				t.Errorf("status %d: %s", status, text)
			}
		})
		for name, action := range map[string][]string{
			"a rank exits":     {"exit", "2", "7"},
			"a rank aborts":    {"abort", "1", "9"},
			"a rank is killed": {"kill", "3"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				mustFail(t, begin(t, srun(self(append([]string{"doomed"}, action...)...)...), 4))
			})
		}
	})
	t.Run("scancel", func(t *testing.T) {
		j := begin(t, srun(self("doomed", "wait", "0")...), 4)
		_ = s.command("scancel", "--me").Run()
		mustFail(t, j)
	})
}

// mustFail waits for the end of a job of srun's, which must not be success.
func mustFail(t *testing.T, j *job) {
	t.Helper()
	if status := j.ended(t); status == 0 {
		t.Errorf("status 0: %s", j.text)
	}
	t.Log(j.text)
}
