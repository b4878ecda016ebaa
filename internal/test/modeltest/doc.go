// Package modeltest has tests check models of protocols, with -long, with spin (Holzmann, "The Spin Model
// Checker", 2003): it looks at all orders of events.
//
// A model is a file of Promela. Each name that it asks for by #ifdef or #ifndef is a mutation: with it defined the
// model lacks a check or a barrier, or does something too early, and spin must find an error. So a model shows that it
// can fail, and that each part of the protocol that a mutation takes away is needed.
package modeltest
