//go:build !linux

package linux

func _() {
	"pioman and nmad are for Linux: docs/platforms.md says what builds elsewhere"
}
