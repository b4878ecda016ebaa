package taskqueue

import (
	"testing"
	"unsafe"
)

// No two jobs of a slice share a line, and what goes to and fro with one is one line in each variant.
func TestJobsLie(t *testing.T) {
	var j Job
	if unsafe.Sizeof(j)%apart != 0 || unsafe.Offsetof(j.done)%apart != 0 || unsafe.Offsetof(j.next)%apart != 0 {
		t.Errorf("%d bytes, the tree's from %d on, the others' from %d on", unsafe.Sizeof(j), unsafe.Offsetof(j.done), unsafe.Offsetof(j.next))
	}
}
