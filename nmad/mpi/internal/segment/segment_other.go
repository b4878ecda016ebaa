//go:build !linux

package segment

import "github.com/pm2-go/pm2/nmad/driver"

// Segment is a member's view. There is none on this system.
type Segment struct{}

// Everyone stands for all members as readers of a piece.
const Everyone = -1

// Create fails on this system.
func Create(int, []byte) (*Segment, error) { return nil, driver.ErrUnsupported }

// Open fails on this system.
func Open([]byte, int, int) (*Segment, error) { return nil, driver.ErrUnsupported }

func (*Segment) Blocks(uint64, int) int                { return -1 }
func (*Segment) Room(uint64, int, int) []byte          { return nil }
func (*Segment) Publish(uint64, int, uint64, int) bool { return false }
func (*Segment) Ready(int, uint64, int) bool           { return false }
func (*Segment) What(int, uint64, int) uint64          { return 0 }
func (*Segment) Bytes(int, uint64, int, int) []byte    { return nil }
func (*Segment) Took(uint64, int) bool                 { return false }
func (*Segment) TookAll(uint64) bool                   { return false }
func (*Segment) Last(int) uint64                       { return 0 }
func (*Segment) Sleepers(func(int))                    {}
func (*Segment) Sleep(int)                             {}
func (*Segment) Wakeful(int) bool                      { return false }
func (*Segment) Hide()                                 {}
func (*Segment) Vacate()                               {}
