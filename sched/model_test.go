package sched

import (
	"testing"

	"github.com/pm2-go/pm2/internal/test/modeltest"
)

// TestModels has spin look at all orders of events in the models of the protocols.
func TestModels(t *testing.T) { modeltest.Check(t, "testdata/spin/*.pml") }
