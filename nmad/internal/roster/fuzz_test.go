package roster

import (
	"bytes"
	"testing"
)

// FuzzPayloads: what is read of a payload is within the bounds of the job, and is written as it was read.
func FuzzPayloads(f *testing.F) {
	card := Card{Rank: 1, PID: 2, Host: "h", Rails: []Rail{{"d", "a"}, {"e", "b"}}}
	f.Add(encodeCards([]Card{card}))
	f.Add(append(encodeCards([]Card{{Rank: 1, Host: "h"}})[:39], 255, 255, 255, 255)) // more rails than there may be
	f.Add(pack(encodeCards([]Card{{}, card})))
	f.Add(encodeCards([]Card{{}, card}))
	f.Add(notice(1, "why"))
	f.Add(encodeRanks(1, 2, 999))
	f.Add(encodeRanks(3, 3, 1000))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := parseCards(b, []int{1}); err == nil && !bytes.Equal(encodeCards(c), b) {
			t.Fatalf("cards %+v are written otherwise than they were read", c)
		}
		if table, err := unpack(b, 2); err == nil && len(table) > maxPayload(kindTable, 2) {
			t.Fatalf("a table of %d bytes was unpacked", len(table))
		}
		if cards, err := parseCards(b, []int{0, 1}); err == nil && !bytes.Equal(encodeCards(cards), b) {
			t.Fatalf("table %+v is written otherwise than it was read", cards)
		}
		if rank, reason, err := parseNotice(b, 2); err == nil && (rank > 1 || !bytes.Equal(notice(rank, reason), b)) {
			t.Fatalf("a notice about rank %d, %q", rank, reason)
		}
		if ranks, err := parseRanks(b, 1000); err == nil && (!bytes.Equal(encodeRanks(ranks...), b) || len(ranks) > 0 && ranks[len(ranks)-1] >= 1000) {
			t.Fatalf("ranks %v", ranks)
		}
		if e, err := parseEvent(kindLeave, b, 2); err == nil && e.Rank > 1 {
			t.Fatalf("rank %d leaves a job of two", e.Rank)
		}
	})
}
