package manager

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
)

// TestMeetByName: a port that another process has is told at once; a name that is never known when the time is up. (What
// takes a name server is in test/managers.)
func TestMeetByName(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	where := taken.Addr().String()
	if _, _, err := MeetByName(context.Background(), 0, where, ""); !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), where) {
		t.Errorf("%v; want that the port is in use, and which one", err)
	}
	if at, l, err := MeetByName(context.Background(), 1, where, ""); at != "127.0.0.1" || l != nil || err != nil {
		t.Errorf("rank 1 is at %q, listens at %v: %v", at, l, err)
	}
	over, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the time is up"))
	if _, _, err := MeetByName(over, 1, "pm2-0.invalid:7070", ""); err == nil || !strings.Contains(err.Error(), "pm2-0.invalid:7070") || !strings.Contains(err.Error(), "the time is up") {
		t.Errorf("%v; want the name, and that the time is up", err)
	}
}
