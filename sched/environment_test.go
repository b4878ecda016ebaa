package sched_test

import (
	"strings"
	"testing"

	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/sched"
)

// A wrong value starts no scheduler, and a right one means what it says.
func TestSharedCPUsFromTheEnvironment(t *testing.T) {
	for text, want := range map[string]bool{"": false, "0": false, "off": false, "1": true, "true": true} {
		t.Setenv(setting.SharedCPUs, text)
		s, err := sched.New(sched.Config{VPs: 1})
		if err != nil {
			t.Fatal(err)
		}
		if s.SharedCPUs() != want {
			t.Errorf("%s=%q: the CPUs are shared: %v", setting.SharedCPUs, text, s.SharedCPUs())
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	t.Setenv(setting.SharedCPUs, "perhaps")
	if _, err := sched.New(sched.Config{VPs: 1}); err == nil || !strings.Contains(err.Error(), `PM2_SHARED_CPUS="perhaps": give 0 or 1`) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
