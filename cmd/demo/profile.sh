#!/bin/sh
# Makes default.pgo anew, the profile that go build takes for this command by itself: run it from
# anywhere, on a machine with nothing else to do, after the hot paths have changed.
# docs/decisions/profile-guided.md says what it is for.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The programs that train it are none of those that are measured with it: the packages' benchmarks,
# in place of the rows of demo bench, and messages of sizes and in windows that no figure is of.
bench() { # package, benchmarks
	go test -c -trimpath -pgo=off -o "$work/test" "./$1"
	(cd "$1" && "$work/test" -test.run '^$' -test.bench "^Benchmark($2)$" -test.benchtime 400ms -test.cpu 2 -test.cpuprofile "$work/profile.$1" >/dev/null)
}
bench marcel 'Yield|Mutex|Semaphore|SpawnBatch|SpawnJoin|Mailbox|Select|Tree'
bench pioman 'Yield|TaskSubmitRunComplete|TaskInATree|PassiveWait|Poll|SwitchHook|NeedDone|SignalTestReset'
bench tasklet 'ScheduleAndRun|ScheduleAndRun16'

# No more of the sockets than that, for their samples are the kernel's, and would push all else
# out of the hottest 99 % to which the compiler looks.
go build -trimpath -pgo=off -o "$work/demo" ./cmd/demo
export DEMO_CPUPROFILE="$work/profile"
messages() { "$work/demo" pingpong "$@" >/dev/null; }
for engine in explicit hooks; do
	messages --driver shm --engine $engine --sizes 48,1500 --iters 300000
	messages --driver shm --engine $engine --sizes 24 --window 48 --iters 50000
	messages --driver tcp --engine $engine --sizes 48 --iters 20000
done
messages --driver tcp --sizes 24 --window 48 --iters 5000
messages --driver shm --sizes 24K --iters 3000
messages --driver shm --threads 6 --sizes 24 --iters 20000

go tool pprof -proto "$work"/profile.* 2>/dev/null >"$work/merged"
mv "$work/merged" cmd/demo/default.pgo
