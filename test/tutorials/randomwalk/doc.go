// Command randomwalk is a port of the random walk of "mpitutorial.com": messages whose lengths the receiver asks for.
package main
