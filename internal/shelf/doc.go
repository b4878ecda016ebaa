// Package shelf has what many rooms keep alike: what is not in use (Free), how many use something (Uses), and what stands in line (List).
package shelf
