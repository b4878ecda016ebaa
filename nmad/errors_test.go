package nmad

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestErrorsNameThePackageOnce: also where one error wraps another one.
func TestErrorsNameThePackageOnce(t *testing.T) {
	s, err := Open(t.Context(), Config{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, probed := s.Probe(t.Context(), Tag(1))
	if !errors.Is(probed, ErrClosed) {
		t.Errorf("Probe after Close: %v", probed)
	}
	_, alone := Open(t.Context(), Config{Size: 2, Rendezvous: "127.0.0.1:0", Secret: make([]byte, 32), Timeout: 10 * time.Millisecond})
	if !errors.Is(alone, context.DeadlineExceeded) {
		t.Errorf("Open without the others: %v", alone)
	}
	for _, err := range []error{probed, alone, during("link to rank 3", &PeerError{Rank: 3, Err: ErrPeerLost, Reason: "x"})} {
		if text := err.Error(); !strings.HasPrefix(text, "nmad: ") || strings.Count(text, "nmad: ") != 1 || strings.Count(text, "rank 0") > 1 {
			t.Errorf("%q", text)
		}
	}
	if want := "rank 1, to be started with the same rendezvous address and secret"; !strings.Contains(alone.Error(), want) {
		t.Errorf("%q does not say %q", alone, want)
	}
}
