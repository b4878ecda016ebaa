// Package caller has the ways in which a program can call the library, for tests of what must hold in all of them: a
// kind of caller (thread, goroutine, locked goroutine), and what makes the progress.
//
//	for _, way := range caller.Ways() {
//		err := way.Run(func(s *caller.Spawner) { // on a goroutine, a locked one, or a thread
//			wait := s.Go(f)                  // on another one of the kind
//			wait()
//		})
//	}
package caller
