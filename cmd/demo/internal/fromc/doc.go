// Package fromc has Go functions called by C, as a library of C's that is written in Go has them called: on a thread
// that C has made, each call from C into Go.
//
//	err := fromc.Thread(func() {           // a thread of C's, which enters Go once
//		c := fromc.New(func() { ... })
//		defer c.Close()
//		c.Call()                       // into C, which calls the function
//	})
//
// A program has that only if it is built with the tag fromc, and with cgo; demo builds itself anew that way when it is
// needed ([Build]), so that it takes no C compiler otherwise.
package fromc
