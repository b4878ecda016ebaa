package marcel_test

import (
	"fmt"

	"github.com/pm2-go/pm2/marcel"
)

func ExampleStats() {
	before := marcel.Stats()
	marcel.Run(func() {
		for range 100 {
			marcel.Spawn(func() {}).Join()
		}
	})
	s := marcel.Stats().Since(before)
	fmt.Println("threads spawned:", s.Total.Spawned)
	for i := range s.VPs {
		if load := s.Load(i); load < 0 || load > 1 {
			fmt.Println("VP", i, "worked for", load, "of the time")
		}
	}
	// Output: threads spawned: 101
}
