package spelling

// Edits counts the letters to be inserted, removed or changed in one word to make another of it
// (Levenshtein, 1966), in bytes.
func Edits(from, to string) int {
	row := make([]int, len(to)+1) // for what has been read of from
	for j := range row {
		row[j] = j
	}
	for i := range len(from) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(to) {
			change := corner
			if from[i] != to[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

// Nearest gives the one of words that is at most so many edits, and fewer than its own length, away from word; "" if
// none is.
func Nearest(word string, words []string, most int) (best string) {
	least := most + 1
	for _, w := range words {
		if d := Edits(word, w); d < least && d < len(w) {
			best, least = w, d
		}
	}
	return best
}
