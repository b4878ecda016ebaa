package main

import "github.com/pm2-go/pm2/marcel"

func main() {
	var mu marcel.Mutex
	sum, threads := 0, make([]marcel.Thread, 1000)
	for i := range threads {
		threads[i] = marcel.Spawn(func() { mu.Lock(); sum += i; mu.Unlock() })
	}
	for _, t := range threads {
		t.Join()
	}
	println(sum) // 499500
}
