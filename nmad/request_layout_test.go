package nmad

import (
	"reflect"
	"strconv"
	"testing"
)

// What every short message touches lies in three lines, also in an array of requests.
func TestRequestLayout(t *testing.T) {
	const line, lines = 64, 3
	if strconv.IntSize != 64 {
		t.Skip("laid out for words of 8 bytes")
	}
	r := reflect.TypeFor[Request]()
	if r.Size()%line != 0 {
		t.Errorf("a request has %d bytes: those of an array begin within lines", r.Size())
	}
	within := func(outer reflect.StructField, in reflect.Type, names ...string) {
		for _, name := range names {
			if f, ok := in.FieldByName(name); !ok || outer.Offset+f.Offset+f.Type.Size() > lines*line {
				t.Errorf("%s ends at byte %d, behind line %d", name, outer.Offset+f.Offset+f.Type.Size(), lines)
			}
		}
	}
	within(reflect.StructField{}, r, "gate", "completion", "started", "told", "began")
	core, _ := r.FieldByName("core")
	within(core, core.Type, "Entry", "Stage", "Special", "Told", "Over", "N", "From", "Err", "Size")
	data, _ := core.Type.FieldByName("Data")
	data.Offset += core.Offset
	within(data, data.Type, "Buf", "Size")
}
