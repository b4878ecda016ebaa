package manager

import (
	"context"
	"errors"
)

func openPMIx(context.Context) (Manager, error) {
	return nil, &Error{"PMIx", "connect", errors.New("not built")}
}
