#!/bin/sh
# Makes default.pgo anew, the profile that go build takes for this command by itself: run it from
# anywhere, on a machine with nothing else to do, after the hot paths have changed.
# docs/decisions/profile-guided.md says what it is for.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -trimpath -pgo=off -o "$work/demo" .
export DEMO_CPUPROFILE="$work/profile"
demo() { "$work/demo" "$@" >/dev/null; }

# The rows of whole programs are not among these: they are measured with a profile that they did
# not train. No more of the sockets than that, for their samples are the kernel's, and would push all else
# out of the hottest 99 % to which the compiler looks.
demo bench --rows '^(yield|spawn|semaphore|mutex|task|mailbox)' --reps 9 --time 60ms
for engine in explicit hooks; do
	demo pingpong --driver shm --engine $engine --sizes 1,1K --iters 300000
	demo pingpong --driver shm --engine $engine --sizes 8 --window 64 --iters 40000
	demo pingpong --driver tcp --engine $engine --sizes 1 --iters 20000
done
demo pingpong --driver tcp --sizes 8 --window 64 --iters 4000
demo pingpong --driver shm --sizes 32K --iters 3000
demo pingpong --driver shm --threads 8 --sizes 8 --iters 20000

go tool pprof -proto "$work"/profile.* 2>/dev/null >"$work/merged"
mv "$work/merged" default.pgo
