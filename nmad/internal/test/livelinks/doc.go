// Package livelinks has a test alone: jobs of nmad over real sockets and shared memory, whose links go through proxies
// that alter, cut and invent what passes. TestLiveLinks says what has to hold whatever happens.
package livelinks
