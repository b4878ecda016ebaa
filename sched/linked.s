// Functions without a body, see block_unsafe.go, need a file of assembly beside them.
