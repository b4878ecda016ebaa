package shm

import (
	"testing"

	"github.com/pm2-go/pm2/internal/test/modeltest"
)

// TestModels has spin look at all orders of events in the models of the protocols of a link.
func TestModels(t *testing.T) { modeltest.Check(t, "testdata/spin/*.pml") }
