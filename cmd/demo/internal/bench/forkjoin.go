package bench

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/pm2-go/pm2/marcel"
)

// Programs that fork and join: a call starts one branch, takes the other itself, and waits.

func forkOurs(n int) func(*watch) error {
	return func(*watch) error { return expect("fib", fibThreads(n), fib(n)) }
}

func forkPeer(n int) func(*watch) error {
	return func(*watch) error { return expect("fib", fibGoroutines(n), fib(n)) }
}

func fibThreads(n int) int {
	if n < 2 {
		return n
	}
	var x int
	t := marcel.Spawn(func() { x = fibThreads(n - 1) })
	y := fibThreads(n - 2)
	_ = t.Join()
	return x + y
}

func fibGoroutines(n int) int {
	if n < 2 {
		return n
	}
	var x int
	var wg sync.WaitGroup
	wg.Go(func() { x = fibGoroutines(n - 1) })
	y := fibGoroutines(n - 2)
	wg.Wait()
	return x + y
}

// fib is what they have to find.
func fib(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}

// leaf is how many elements a mergesort sorts in place.
const leaf = 64

// mergesort times sort(a, tmp) of n ints in random order and checks that a is in order then and
// has the elements that it had.
func mergesort(n int, sort func(a, tmp []int)) func(*watch) error {
	return func(w *watch) error {
		a, tmp := make([]int, n), make([]int, n)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range a {
			a[i] = random.Int()
			tmp[i] = i // not the first to touch it: that is not sorting
		}
		before := fingerprint(a)
		w.begin()
		sort(a, tmp)
		w.end()
		if !slices.IsSorted(a) {
			return errors.New("the elements are not in order")
		}
		return expect("mergesort: fingerprint of the elements", fingerprint(a), before)
	}
}

// fingerprint is the same for the same elements in any order.
func fingerprint(a []int) (sums [2]uint64) {
	for _, x := range a {
		sums[0] += uint64(x)
		sums[1] += uint64(x) * uint64(x)
	}
	return sums
}

func sortOurs(a, tmp []int) {
	if len(a) <= leaf {
		slices.Sort(a)
		return
	}
	half := len(a) / 2
	t := marcel.Spawn(func() { sortOurs(a[:half], tmp[:half]) })
	sortOurs(a[half:], tmp[half:])
	_ = t.Join()
	merge(a, tmp, half)
}

func sortPeer(a, tmp []int) {
	if len(a) <= leaf {
		slices.Sort(a)
		return
	}
	half := len(a) / 2
	var wg sync.WaitGroup
	wg.Go(func() { sortPeer(a[:half], tmp[:half]) })
	sortPeer(a[half:], tmp[half:])
	wg.Wait()
	merge(a, tmp, half)
}

// merge merges the sorted a[:half] and a[half:] by way of tmp.
func merge(a, tmp []int, half int) {
	copy(tmp, a[:half])
	left, right := tmp[:half], a[half:]
	for i := range a {
		if len(left) == 0 {
			return // what is left of the right half is in place
		}
		if len(right) == 0 || left[0] <= right[0] {
			a[i], left = left[0], left[1:]
		} else {
			a[i], right = right[0], right[1:]
		}
	}
}
