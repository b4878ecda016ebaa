// Command average is a port of the averages of "mpitutorial.com": scatter, gather and allgather.
package main
