package livelinks

import (
	"fmt"
	"slices"
	"strings"
)

// liveDamage is the worst that was done to a case, by what nmad can know of it.
type liveDamage int

const (
	unharmed liveDamage = iota // nothing, or only the time and the blocks in which bytes came
	severed                    // connections were cut, or ended
	noticed                    // what is proven or signed was altered, or bytes of strangers came
	payload                    // bits of messages were flipped, and nothing else
	unsigned                   // what no process signs
)

// damage says what was done, and how many bytes of messages were altered.
func (lc *liveCase) damage(altered []liveAlteration) (worst liveDamage, flipped int) {
	for _, a := range altered {
		switch a.What {
		case "cut", "end", "quiet", "last":
			worst = max(worst, severed)
			continue
		case "strangers", "play", "rights":
			worst = max(worst, noticed)
			continue
		case "scribble":
			return unsigned, 0
		}
		for place, n := range a.Places {
			switch {
			case a.Control || place == "hello" || place == "proof" || place == "frame" || place == "nonsense" && !a.Proven:
				worst = max(worst, noticed)
			case a.What == "flip" && (place == "body of kind 1" || place == "large"):
				worst = max(worst, payload)
				flipped += n
			default:
				worst = unsigned
			}
		}
	}
	return worst, flipped
}

// field is the part of a header in which bits were flipped, if that is all that was altered.
func (lc *liveCase) field(altered []liveAlteration) (place string, ok bool) {
	for _, a := range altered {
		if a.What == "quiet" {
			continue
		}
		for p := range a.Places {
			if a.Control || a.What != "flip" || !strings.HasPrefix(p, "header") || place != "" && place != p {
				return "", false
			}
			place = p
		}
	}
	return place, place != ""
}

// judge looks at how a case went.
func (run *liveRun) judge(c *liveCase, a liveAnswer) {
	var sum liveReport
	opened, busy := 0, false
	for _, r := range a.Reports {
		if r.Opened {
			opened++
		}
		sum.Volume += r.Volume
		sum.Right += r.Right
		sum.Wrong += r.Wrong
		sum.WrongBytes += r.WrongBytes
		sum.WrongSize += r.WrongSize
		sum.Truncated += r.Truncated
		sum.Lost += r.Lost
		sum.Protocol += r.Protocol
		sum.Closed += r.Closed
		sum.Opening, sum.Closing = max(sum.Opening, r.Opening), max(sum.Closing, r.Closing)
		sum.OpenErr += r.OpenErr
		sum.CloseErr += r.CloseErr
		busy = busy || strings.Contains(r.OpenErr, "address already in use")
	}
	failed := sum.Lost + sum.Protocol + sum.Closed
	worst, flipped := c.damage(a.Altered)
	bad := a.Bad
	if wrong := sum.Wrong + sum.WrongSize + sum.Truncated; wrong > 0 && worst < payload {
		bad = append(bad, fmt.Sprintf("%d messages arrived with wrong bytes, %d with a wrong length, %d truncated, and no bytes of them were altered", sum.Wrong, sum.WrongSize, sum.Truncated))
	}
	if worst == payload && (sum.WrongSize+sum.Truncated > 0 || sum.WrongBytes > flipped) {
		bad = append(bad, fmt.Sprintf("%d bytes of messages were altered, and %d are wrong, %d lengths, %d truncated", flipped, sum.WrongBytes, sum.WrongSize, sum.Truncated))
	}
	if worst <= severed && sum.Protocol > 0 && (!c.shm || !c.lends) {
		bad = append(bad, fmt.Sprintf("%d requests ended with ErrProtocol, and no bytes were altered", sum.Protocol))
	}
	cut := slices.ContainsFunc(a.Altered, func(x liveAlteration) bool { return slices.Contains([]string{"cut", "end", "quiet", "last"}, x.What) })
	well := c.leaver < 0 && !cut && (worst == unharmed || worst == payload)
	if c.spared || well && c.config.Timeout > 10e9 {
		if opened < c.size || failed > 0 || sum.CloseErr != "" {
			bad = append(bad, fmt.Sprintf("nothing was done to it that should end anything, and %d of %d opened, %d requests failed", opened, c.size, failed))
		}
	}
	outcome := "all right"
	switch {
	case busy:
		outcome, bad = "address taken", nil
	case opened == 0:
		outcome = "not opened"
	case opened < c.size:
		outcome = "opened in part"
	case sum.Wrong+sum.WrongSize+sum.Truncated > 0 && failed > 0:
		outcome = "wrong bytes and errors"
	case sum.Wrong+sum.WrongSize+sum.Truncated > 0:
		outcome = "wrong bytes"
	case sum.Protocol > 0:
		outcome = "violation"
	case sum.Closed > 0:
		outcome = "left early"
	case failed > 0:
		outcome = "lost"
	}
	run.mu.Lock()
	run.cases++
	if c.apart {
		run.apart++
	}
	run.bytes += a.Bytes
	run.volume += uint64(sum.Volume)
	run.opening, run.closing = max(run.opening, sum.Opening), max(run.closing, sum.Closing)
	run.grown, run.threads = max(run.grown, a.Grown), max(run.threads, a.Threads)
	if run.outcomes[c.theme] == nil {
		run.outcomes[c.theme] = map[string]int{}
	}
	run.outcomes[c.theme][outcome]++
	if field, ok := c.field(a.Altered); ok {
		if run.fields[field] == nil {
			run.fields[field] = map[string]int{}
		}
		run.fields[field][outcome]++
	}
	for k, n := range map[string]int{"right": sum.Right, "ErrPeerLost": sum.Lost, "ErrProtocol": sum.Protocol, "ErrClosed": sum.Closed, "wrong": sum.Wrong, "wrong length": sum.WrongSize, "ErrTruncated": sum.Truncated} {
		run.errors[k] += n
	}
	for _, x := range a.Altered {
		when := " before its proof"
		if x.Proven {
			when = " after its proof"
		}
		if x.What == "last" || x.What == "quiet" || x.At == 0 && x.Connection == 0 || x.What == "scribble" || x.What == "rights" || x.What == "play" {
			when = ""
		}
		if x.Control {
			when += " (control)"
		}
		run.kinds[x.What+when]++
		for p, n := range x.Places {
			run.places[p] += n
		}
	}
	run.mu.Unlock()
	if len(bad) > 0 {
		run.fail(c, fmt.Sprintf("%s\nreports: %+v\naltered: %+v", strings.Join(bad, "\n"), a.Reports, a.Altered))
	}
}
