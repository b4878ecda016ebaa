package nmad

// GateInfo describes a gate.
type GateInfo struct {
	Strategy string     // its name
	Rails    []RailInfo // its links

	// Protocols says which protocol messages of which size take, and why:
	// in order of size, without gaps. What else than its size decides is in Exceptions. A gate
	// that has no links yet does not know more than that it will make them: see Gate.Link.
	//
	//	short       eager, in the way that the driver has for the shortest bodies
	//	eager       header and body in one packet, over the first rail; aside, if the receive is not there yet
	//	rendezvous  announced over the first rail; the receiver asks for the bytes, over one rail or several
	//	exposed     announced with its address: the receiver reads the bytes in the sender's memory
	Protocols  []Protocol
	Exceptions []Exception
}

// Info describes the gate as it is now. It does not block.
func (g *Gate) Info() GateInfo {
	if !g.made() {
		return GateInfo{}
	}
	h := g.lock()
	defer h.letGo()
	return GateInfo{h.flow.Strategy.Name(), h.railInfo(), h.protocols(), h.exceptions()}
}
