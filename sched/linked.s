// Functions without a body, see block_unsafe_linux.go, need a file of assembly beside them.
