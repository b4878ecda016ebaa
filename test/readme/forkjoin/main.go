package main

import "github.com/pm2-go/pm2/marcel"

func fib(n int) (a int) {
	if n < 2 {
		return n
	}
	var b int
	marcel.Do(func() { a = fib(n - 1) }, func() { b = fib(n - 2) }) // possibly at the same time
	return a + b
}

func main() {
	marcel.Run(func() { println(fib(25)) }) // 75025
}
