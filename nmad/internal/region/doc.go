// Package region has the memory out of which messages are lent to another process: how it is made and mapped
// (Memory, View), and which part of it is free (Blocks). What a loan is says package nmad.
package region
