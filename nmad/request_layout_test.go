package nmad

import (
	"reflect"
	"strconv"
	"testing"
)

// What a plain message needs is two lines, also in an array of requests.
func TestRequestLayout(t *testing.T) {
	const line, lines = 64, 2
	if strconv.IntSize != 64 {
		t.Skip("laid out for words of 8 bytes")
	}
	if size := reflect.TypeFor[Request]().Size(); size != line*lines {
		t.Errorf("a request has %d bytes, want %d", size, line*lines)
	}
}
