// The program whose debugging information says where the runtime keeps things.
package main

func main() {}
