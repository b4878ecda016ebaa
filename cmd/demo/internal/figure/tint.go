package figure

import (
	"hash/fnv"
	"image/color"

	"github.com/pm2-go/pm2/marcel/timeline"
)

// Colors of what is no thread.
var (
	paleIdle  = color.NRGBA{R: 0xf3, G: 0xe9, B: 0xc8, A: 0xff}
	paleSleep = color.NRGBA{R: 0xee, G: 0xee, B: 0xf0, A: 0xff}
	hookTint  = color.NRGBA{R: 0x9a, G: 0x6a, B: 0x12, A: 0xff}
	taskTint  = color.NRGBA{R: 0x5b, G: 0x2a, B: 0x86, A: 0xff}
	arrowInk  = color.NRGBA{R: 0xb0, G: 0x1e, B: 0x4f, A: 0xd0}
	wakeInk   = color.NRGBA{R: 0x55, G: 0x55, B: 0x55, A: 0x70}
	waitTint  = color.NRGBA{R: 0xdd, G: 0x9a, B: 0x76, A: 0xff}
	mailTint  = color.NRGBA{R: 0x7d, G: 0xb5, B: 0xa5, A: 0xff}
	threadHue = []color.NRGBA{
		{R: 0x3b, G: 0x7d, B: 0xc4, A: 0xff}, {R: 0x2f, G: 0x9e, B: 0x6e, A: 0xff}, {R: 0xc9, G: 0x5d, B: 0x3f, A: 0xff},
		{R: 0x85, G: 0x62, B: 0xb8, A: 0xff}, {R: 0xc2, G: 0x8b, B: 0x16, A: 0xff}, {R: 0x2b, G: 0x93, B: 0xa8, A: 0xff},
		{R: 0xb2, G: 0x4e, B: 0x86, A: 0xff}, {R: 0x6d, G: 0x8a, B: 0x2f, A: 0xff},
	}
)

// tint is the color of a slice; a thread's is that of its name.
func tint(e *timeline.Event) color.NRGBA {
	switch {
	case e.Cat == "idle" && e.Name != "looking for work":
		return paleSleep
	case e.Cat == "idle":
		return paleIdle
	case e.Cat == "hook":
		return hookTint
	case e.Cat == "ltask":
		return taskTint
	case e.Cat == "away":
		return waitTint
	case e.Cat == "message":
		return mailTint
	}
	h := fnv.New32a()
	h.Write([]byte(e.Name))
	return threadHue[h.Sum32()%uint32(len(threadHue))]
}
