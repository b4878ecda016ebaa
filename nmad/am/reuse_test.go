package am

import (
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// TestReplyAgain: while a Reply is used again, and its receive is not posted yet, a thread that looks for room takes
// no credit for the last answer once more.
func TestReplyAgain(t *testing.T) {
	s, err := nmad.Open(t.Context(), nmad.Config{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := Open(s, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_ = w.Handle(1, echo)
	var r Reply
	if err := w.Default().RequestFor(&r, 0, 1, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	p, err := w.Default().to(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.prepare(p, 1); err != nil {
		t.Fatal(err)
	}
	h := head{id: 1, wants: true}
	m := p.reserve(&r, &h, false)
	before := p.underWay
	p.harvest(nil)
	if p.underWay != before {
		t.Errorf("%d requests are under way, %d were: the credit of the last answer is taken again", p.underWay, before)
	}
	if err := r.listen(h.seq); err != nil {
		t.Fatal(err)
	}
	r.sent = true
	if err := p.sendCopy(m, h.tag(), front, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Wait(); err != nil {
		t.Error(err)
	}
}
