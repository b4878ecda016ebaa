// A library for programs in C, which load it by dlopen.
package main

import "C"

import (
	"fmt"
	"time"

	"github.com/pm2-go/pm2/test/runtime/exercise"
)

//export Exercise
func Exercise(ms C.int) C.int {
	r, err := exercise.All(time.Duration(ms) * time.Millisecond)
	if fmt.Printf("%+v\n", r); err != nil {
		fmt.Println("wrong:", err)
		return 1
	}
	return 0
}

func main() {}
