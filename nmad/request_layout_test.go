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
	for _, name := range []string{"entry", "gate", "stage", "special", "completion", "over", "started", "n", "from", "err", "size", "began"} {
		if f, ok := r.FieldByName(name); !ok || f.Offset+f.Type.Size() > lines*line {
			t.Errorf("%s ends at byte %d, behind line %d", name, f.Offset+f.Type.Size(), lines)
		}
	}
	data, _ := r.FieldByName("data")
	size, _ := reflect.TypeFor[payload]().FieldByName("size")
	if end := data.Offset + size.Offset + size.Type.Size(); end > lines*line {
		t.Errorf("the buffer ends at byte %d, behind line %d", end, lines)
	}
}
