package am

import (
	"fmt"
	"testing"
)

// BenchmarkSelf is a round trip within one process: what the processor has to do.
func BenchmarkSelf(b *testing.B) {
	for _, n := range []int{0, 8, 4 << 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			j := newJob(b, 1, nil, Config{}, false)
			defer j.close()
			j.handle(1, echo)
			d, body := j.worlds[0].Default(), make([]byte, n)
			var r Reply
			b.ReportAllocs()
			for b.Loop() {
				if err := d.RequestFor(&r, 0, 1, nil, body); err != nil {
					b.Fatal(err)
				}
				if _, _, err := r.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
