package roster

import (
	"testing"

	"github.com/pm2-go/pm2/internal/test/modeltest"
)

// TestModels has spin look at all orders of events in the model of the membership.
func TestModels(t *testing.T) { modeltest.Check(t, "testdata/spin/*.pml") }
