package nmad

import "context"

// A job is domain 0 of itself: what follows is that domain's.

// zero is domain 0; nil: there is no session.
func (s *Session) zero() *Domain {
	if !s.made() {
		return nil
	}
	return &s.job
}

// Gate returns the gate to a rank, own rank included. For a rank that does not
// exist it returns one on which everything fails with ErrRank.
func (s *Session) Gate(rank int) *Gate {
	if !s.made() {
		return &Gate{rank: rank}
	}
	return s.job.Gate(rank)
}

// Post starts an operation; see Domain.Post.
func (s *Session) Post(rank int, r *Request, op *Op) error { return s.zero().Post(rank, r, op) }

// Start starts an operation with a request of its own; see Domain.Start.
func (s *Session) Start(rank int, op *Op) *Request { return s.zero().Start(rank, op) }

// Irecv starts to receive a message that m is for from any rank; see Domain.Irecv.
func (s *Session) Irecv(m Match, buf []byte) *Request { return s.zero().Irecv(m, buf) }

// Recv receives a message that m is for from any rank; see Domain.Recv.
func (s *Session) Recv(m Match, buf []byte) (Envelope, error) { return s.zero().Recv(m, buf) }

// OpenContext opens a context for messages between these ranks; see Domain.OpenContext.
func (s *Session) OpenContext(number int, ranks ...int) (*Context, error) {
	return s.zero().OpenContext(number, ranks...)
}

// Iprobe looks for a message from any rank; see Gate.Iprobe.
func (s *Session) Iprobe(m Match) (Envelope, bool) { return s.zero().Iprobe(m) }

// Probe waits for a message from any rank; see Gate.Probe.
func (s *Session) Probe(ctx context.Context, m Match) (Envelope, error) {
	return s.zero().Probe(ctx, m)
}

// Claim takes a message from any rank; see Gate.Claim.
func (s *Session) Claim(m Match) *Message { return s.zero().Claim(m) }

// Peek looks into a message from any rank; see Gate.Peek.
func (s *Session) Peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	return s.zero().Peek(m, buf)
}

// Attach is Domain.Attach of the job.
func (s *Session) Attach(memory []byte) error { return s.zero().Attach(memory) }

// Detach is Domain.Detach of the job.
func (s *Session) Detach(ctx context.Context) ([]byte, error) { return s.zero().Detach(ctx) }
