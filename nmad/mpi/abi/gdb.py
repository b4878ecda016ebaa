# For gdb, of programs with libmpi_abi.so.1: has backtraces go from the engine, whose calls run on stacks of Go's, on to the function of the program that called MPI.
#
#   gdb -p PID -x PREFIX/share/pm2/gdb.py -ex bt        also with the core of a program

import struct

import gdb
from gdb.unwinder import Unwinder, register_unwinder

LIBRARY = "libpm2_mpi.so"
ENTRY = "pm2_enter"  # the function by which C enters
LENGTH = 88  # of it, in bytes
DEPTH, CHUNK = 8 << 20, 1 << 16  # how much of a stack is searched, and in what pieces

# Below its return address to ENTRY, runtime/cgo's crosscall2 keeps C's registers.
KEPT = {"rbp": -216, "rbx": -208, "r12": -200, "r13": -192, "r14": -184, "r15": -176}


class Frame:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


def address(expression):
    """What an expression of C is, whatever language the program is in where it stands."""
    language = gdb.parameter("language")
    gdb.execute("set language c", to_string=True)
    try:
        return int(gdb.parse_and_eval(expression))
    finally:
        gdb.execute("set language " + language, to_string=True)


class Crossing(Unwinder):
    """Goes from any function of the engine to the one by which the program's thread has entered it."""

    def __init__(self):
        super().__init__("pm2-mpi")
        self.known = {}  # addresses, by process

    def __call__(self, frame):
        pc = int(frame.read_register("rip"))
        if not (gdb.solib_name(pc) or "").endswith(LIBRARY):
            return None
        try:
            process, thread, _ = gdb.selected_thread().ptid
            if process not in self.known:
                self.known[process] = address("(unsigned long)&" + ENTRY), address("*(unsigned long *)&__libc_stack_end")
            low, top = self.known[process]
            if low <= pc < low + LENGTH:
                return None
            if process != thread:
                top = int(frame.read_register("fs_base"))
            slot = self.find(top, low, low + LENGTH)
        except gdb.error:
            return None
        if slot is None:
            return None  # a thread of the engine's
        sp = frame.read_register("rsp")
        info = frame.create_unwind_info(Frame(sp, frame.read_register("rip")))
        word = sp.type
        info.add_saved_register("rip", gdb.Value(self.word(slot)).cast(word))
        info.add_saved_register("rsp", gdb.Value(slot + 8).cast(word))
        for name, at in KEPT.items():
            info.add_saved_register(name, gdb.Value(self.word(slot + at)).cast(word))
        return info

    def find(self, top, low, high):
        """Where the return address to ENTRY stands that lies nearest to the end of the stack."""
        top &= ~7
        for end in range(top, top - DEPTH, -CHUNK):
            try:
                data = gdb.selected_inferior().read_memory(end - CHUNK, CHUNK).tobytes()
            except gdb.MemoryError:
                return None
            for i in range(CHUNK - 8, -1, -8):
                if low < struct.unpack_from("<Q", data, i)[0] < high:
                    return end - CHUNK + i
        return None

    def word(self, address):
        return struct.unpack("<Q", gdb.selected_inferior().read_memory(address, 8).tobytes())[0]


register_unwinder(None, Crossing(), replace=True)
