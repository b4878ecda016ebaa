package door

import "sync"

// hall is what the doors of a process share: the strangers of all of them have seats() at most. Its lock is taken under that of a door.
var hall = struct {
	sync.Mutex
	taken int
	by    map[*Door]int // doors with strangers, and how many each has
}{by: map[*Door]int{}}

// sit takes a seat for a stranger of d; false: all are taken.
func sit(d *Door, seats int) bool {
	hall.Lock()
	defer hall.Unlock()
	if hall.taken >= seats {
		return false
	}
	hall.taken++
	hall.by[d]++
	return true
}

// rise gives one back.
func rise(d *Door) {
	hall.Lock()
	defer hall.Unlock()
	hall.taken--
	if hall.by[d]--; hall.by[d] == 0 {
		delete(hall.by, d)
	}
}

// fullest is the door that has most strangers, d if there is none.
func fullest(d *Door) *Door {
	hall.Lock()
	defer hall.Unlock()
	most := hall.by[d]
	for other, n := range hall.by {
		if n > most {
			d, most = other, n
		}
	}
	return d
}
