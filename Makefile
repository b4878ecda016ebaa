# Builds and installs what C programs and users of MPI need: the library, its header, mpicc, mpiexec, demo.
#
#   make                              into build/
#   make install PREFIX=/opt/pm2      bin, lib, include, lib/pkgconfig, share/pm2 below it; DESTDIR goes before it, for packages
#
# Needs Go, and a C compiler (CC). Go programs need nothing of this: go build, go install.

PREFIX = /usr/local
DESTDIR =
GO = go
INSTALL = install
BUILD = build
VERSION = $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' nmad/session.go)

# Recipes have these as variables of the shell, which keep blanks and what else a name may have in it. $$prefix is where things are in the end, $$to where they are put.
export PREFIX DESTDIR BUILD VERSION
places = case "$$PREFIX" in ''|/*) prefix=$$PREFIX ;; *) prefix=$$(pwd)/$$PREFIX ;; esac; to=$$DESTDIR$$prefix

.PHONY: all programs library install uninstall clean

all: programs library

# What Go builds it looks at itself: it does only what has changed.
programs:
	$(GO) build -o "$$BUILD/bin/" ./cmd/mpicc ./cmd/mpiexec ./cmd/demo

library:
	CGO_ENABLED=1 $(GO) run ./nmad/mpi/abi/internal/build -o "$$BUILD/lib"

install: all
	set -e; $(places); \
	$(INSTALL) -d "$$to/bin" "$$to/lib/pkgconfig" "$$to/include" "$$to/share/pm2"; \
	$(INSTALL) -m 755 "$$BUILD/bin/mpicc" "$$BUILD/bin/mpiexec" "$$BUILD/bin/demo" "$$to/bin"; \
	ln -sf mpicc "$$to/bin/mpicxx"; ln -sf mpicc "$$to/bin/mpic++"; ln -sf mpiexec "$$to/bin/mpirun"; \
	$(INSTALL) -m 755 "$$BUILD/lib/libmpi_abi.so.1" "$$BUILD/lib/libpm2_mpi.so" "$$to/lib"; \
	ln -sf libmpi_abi.so.1 "$$to/lib/libmpi_abi.so"; \
	$(INSTALL) -m 644 "$$BUILD/lib/mpi.h" "$$to/include"; \
	$(INSTALL) -m 644 nmad/mpi/abi/gdb.py nmad/mpi/abi/valgrind.supp "$$to/share/pm2"; \
	printf '%s\n' "prefix=$$prefix" 'includedir=$${prefix}/include' 'libdir=$${prefix}/lib' '' \
	  'Name: pm2-mpi' 'Description: MPI by its standard binary interface, on the engine of pm2' "Version: $$VERSION" \
	  'Cflags: -I"$${includedir}"' 'Libs: -L"$${libdir}" -Wl,-rpath,"$${libdir}" -lmpi_abi' > "$$to/lib/pkgconfig/pm2-mpi.pc"

uninstall:
	$(places); \
	rm -f "$$to/bin/mpicc" "$$to/bin/mpicxx" "$$to/bin/mpic++" "$$to/bin/mpiexec" "$$to/bin/mpirun" "$$to/bin/demo" \
	  "$$to/lib/libmpi_abi.so" "$$to/lib/libmpi_abi.so.1" "$$to/lib/libpm2_mpi.so" "$$to/include/mpi.h" "$$to/lib/pkgconfig/pm2-mpi.pc" \
	  "$$to/share/pm2/gdb.py" "$$to/share/pm2/valgrind.supp"

clean:
	rm -rf "$$BUILD"
