package self

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

func TestConformance(t *testing.T) { drivertest.RunInside(t, Driver{}) }
