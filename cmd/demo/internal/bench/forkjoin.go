package bench

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/pm2-go/pm2/marcel"
)

// Programs that fork and join: a call starts one branch, takes the other itself, and waits.

func fibSpawn(_ *watch, n int) (int, error)  { return spawnFib(n), nil }
func fibDo(_ *watch, n int) (int, error)     { return doFib(n), nil }
func fibGroups(_ *watch, n int) (int, error) { return groupFib(n), nil }

func spawnFib(n int) int {
	if n < 2 {
		return n
	}
	var x int
	t := marcel.Spawn(func() { x = spawnFib(n - 1) })
	y := spawnFib(n - 2)
	_ = t.Join()
	return x + y
}

func doFib(n int) int {
	if n < 2 {
		return n
	}
	var x, y int
	marcel.Do(
		func() { x = doFib(n - 1) },
		func() { y = doFib(n - 2) },
	)
	return x + y
}

func groupFib(n int) int {
	if n < 2 {
		return n
	}
	var x int
	var wg sync.WaitGroup
	wg.Go(func() { x = groupFib(n - 1) })
	y := groupFib(n - 2)
	wg.Wait()
	return x + y
}

// fib is the result that the programs have to find.
func fib(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}

// leaf is how many elements a mergesort sorts in place.
const leaf = 64

// mergesort times sort(a, tmp) of n ints in random order. The result is how many of them are in order; that they are
// still the same is checked as well.
func mergesort(sort func(a, tmp []int)) version {
	return func(w *watch, n int) (int, error) {
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
		if fingerprint(a) != before {
			return 0, errors.New("mergesort: not the elements that were there before")
		}
		return ordered(a), nil
	}
}

// ordered is how many elements at the beginning of a are in order.
func ordered(a []int) int {
	for i := 1; i < len(a); i++ {
		if a[i] < a[i-1] {
			return i
		}
	}
	return len(a)
}

// fingerprint is the same for the same elements in any order.
func fingerprint(a []int) (sums [2]uint64) {
	for _, x := range a {
		sums[0] += uint64(x)
		sums[1] += uint64(x) * uint64(x)
	}
	return sums
}

func sortSpawn(a, tmp []int) {
	if len(a) <= leaf {
		slices.Sort(a)
		return
	}
	half := len(a) / 2
	t := marcel.Spawn(func() { sortSpawn(a[:half], tmp[:half]) })
	sortSpawn(a[half:], tmp[half:])
	_ = t.Join()
	merge(a, tmp, half)
}

func sortGroups(a, tmp []int) {
	if len(a) <= leaf {
		slices.Sort(a)
		return
	}
	half := len(a) / 2
	var wg sync.WaitGroup
	wg.Go(func() { sortGroups(a[:half], tmp[:half]) })
	sortGroups(a[half:], tmp[half:])
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
