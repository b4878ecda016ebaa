package bench

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	callersPrefix = "callers: "
	manyExchanges = 4000 // of a run, of sizes up to 8 KiB; of longer ones as many bytes
	fewExchanges  = 1000 // of rows in which one may take a time slice
)

// callerRows vary what users vary, one thing at a time, beside a marcel thread that sends from and receives into the
// same buffers, which begin a page, of sizes that are powers of two. Rows that differ in their sizes alone are measured
// in the same processes.
func callerRows() (rows []Experiment) {
	add := func(name, best string, ours, peer exchange) {
		for _, e := range []*exchange{&ours, &peer} {
			if e.iters == 0 {
				e.iters = manyExchanges
			}
		}
		rows = append(rows, Experiment{
			Name: callersPrefix + name, PeerName: best, Crosses: true, Heavy: true,
			Exchange: &ours, PeerExchange: &peer,
		})
	}
	thread := func(name string, sizes []int, ours exchange) {
		for _, size := range sizes {
			best := exchange{flags: ours.at("driver"), sizes: []int{size}, iters: ours.iters}
			ours.sizes = []int{size}
			add(name+", "+short(size), "a thread, at its best", ours, best)
		}
	}
	kinds := []struct{ name, flags string }{
		{"goroutine", "--caller goroutine"}, {"locked goroutine", "--caller locked"}, {"call from C", "--caller c"},
	}
	ends := []int{8, 64 << 10}
	near := []int{8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20}
	for _, k := range kinds {
		thread(k.name, near, exchange{flags: k.flags})
	}
	thread("goroutine, no engine", near, exchange{flags: "--engine none"})
	for _, k := range kinds {
		thread(k.name+" over tcp", ends, exchange{flags: k.flags + " --driver tcp"})
	}
	few := []int{8, 4 << 10, 64 << 10}
	thread("thread beside busy goroutines", ends, exchange{flags: "--vary busy", iters: fewExchanges})
	for _, k := range kinds {
		thread(k.name+" beside busy ones", ends, exchange{flags: k.flags + " --vary busy", iters: fewExchanges})
	}
	thread("requests made anew", near, exchange{flags: "--vary plain"})
	thread("fresh buffers", near, exchange{flags: "--vary fresh"})
	for _, procs := range []string{"1", "2", "8"} {
		thread("GOMAXPROCS "+procs, few, exchange{flags: "--caller goroutine", env: "GOMAXPROCS=" + procs})
	}
	thread("both ranks on one core", few, exchange{oneCPU: true, iters: fewExchanges})
	for _, ranks := range []int{2, 3} {
		for _, k := range []struct{ name, flags string }{{"thread", ""}, {"goroutine", "--caller goroutine"}} {
			thread(fmt.Sprintf("%d ranks on each core, %s", ranks, k.name), few, exchange{flags: k.flags, others: ranks - 1, iters: fewExchanges})
		}
	}
	for _, offset := range []string{"1", "16", "48", "1:0", "16:0", "48:0", "0:1", "0:16", "0:48"} {
		for _, size := range []int{512, 4 << 10, 16 << 10, 64 << 10, 1 << 20, 4 << 20} {
			add("offset "+offset+", "+short(size), "the same at the begin of a page",
				exchange{flags: "--offset " + offset, sizes: []int{size}}, exchange{sizes: []int{size}})
		}
	}
	for k := 512; k <= 1<<20; k *= 2 {
		for _, size := range []int{k + 1, k + k/2} {
			beside := fmt.Sprintf("between %d and %d", k, 2*k)
			add(fmt.Sprintf("%d bytes", size), beside, exchange{sizes: []int{size}}, exchange{sizes: []int{k, 2 * k}, between: size})
		}
	}
	return rows
}

// short writes a size as --sizes takes it.
func short(size int) string {
	switch {
	case size >= 1<<20 && size%(1<<20) == 0:
		return strconv.Itoa(size>>20) + "M"
	case size >= 1<<10 && size%(1<<10) == 0:
		return strconv.Itoa(size>>10) + "K"
	}
	return strconv.Itoa(size)
}

// Commands are the arguments of demo that the two sides of a row run, if they are such.
func (x *Experiment) Commands() (all [][]string) {
	for _, e := range []*exchange{x.Exchange, x.PeerExchange} {
		if e != nil {
			all = append(all, e.arguments(e.sizes, e.iters))
		}
	}
	return all
}

// Group is the name by which a row is mentioned that is not measured: of many alike, that of all.
func (x *Experiment) Group() string {
	if x.Exchange != nil {
		return strings.TrimSuffix(callersPrefix, ": ")
	}
	return x.Name
}
