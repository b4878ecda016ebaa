//go:build !linux

package mapped

import "github.com/pm2-go/pm2/nmad/driver"

// Memory is that of this process alone.
type Memory struct {
	bytes []byte
	card  Card // none
}

// Make makes memory.
func Make(_ string, size uint64) (*Memory, error) { return &Memory{bytes: make([]byte, size)}, nil }

// ReadOnly does nothing: no other process has it.
func (*Memory) ReadOnly() {}

// Hide does nothing.
func (*Memory) Hide() {}

// Vacate does nothing.
func (*Memory) Vacate() error { return nil }

// Open fails: memory of other processes is mapped on Linux only.
func (Card) Open(string, bool) (*Memory, error) { return nil, driver.ErrUnsupported }
