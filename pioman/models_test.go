package pioman

import (
	"testing"

	"github.com/pm2-go/pm2/internal/test/modeltest"
)

func TestModels(t *testing.T) { modeltest.Check(t, "testdata/spin/*.pml") }
