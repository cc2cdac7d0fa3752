"""CUDA C without a device: the text of kernels compiled by g++, and by NVRTC, which needs no driver.

A header gives g++ the names of CUDA; a block's threads are contexts of one thread, which take turns where they wait for
one another, in an order that is no order of their numbers.  This shows wrong subscripts, guards, sums and arguments, and
entries that two threads touch in the wrong order; not what the memory of a device does, nor how long it takes.
"""

import ctypes
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile

import numpy as np

HEADER = r"""
#include <cmath>
#include <cstdlib>
#include <ucontext.h>
#include <vector>
using std::isnan; using std::isinf; using std::isfinite;
struct Dim { unsigned x, y, z; };
static Dim threadIdx, blockIdx, blockDim, gridDim;
static ucontext_t scheduler;
static std::vector<ucontext_t> contexts;
static std::vector<char> finished;
static unsigned now;
static bool takes_turns;
static double parts_of_all[1024];
#define __global__
#define __device__ static
#define __shared__ static
static void wait() { if (!takes_turns) abort(); swapcontext(&contexts[now], &scheduler); }
static void __syncthreads() { wait(); }
template <class T> static T __shfl_xor_sync(unsigned, T value, int mask)
{
    ((T*)&parts_of_all[now])[0] = value;
    wait();
    T other = ((T*)&parts_of_all[now ^ mask])[0];
    wait();
    return other;
}
template <class T> static T atomicAdd(T* place, T value) { T old = *place; *place += value; return old; }
"""
RUN = r"""
static void (*body)();
static void start(unsigned t) { threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)}; }
static void one() { body(); finished[now] = 1; swapcontext(&contexts[now], &scheduler); }
extern "C" void run(Dim grid, Dim block, PARAMETERS)
{
    gridDim = grid; blockDim = block;
    unsigned threads = block.x * block.y * block.z;
    takes_turns = SYNCHRONISES;
    PARAMETERS_KEPT
    static std::vector<std::vector<char>> stacks(1024, std::vector<char>(takes_turns ? 65536 : 0));
    body = [] { NAME(ARGUMENTS); };
    for (unsigned z = 0; z < grid.z; ++z) for (unsigned y = 0; y < grid.y; ++y) for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        if (!takes_turns) {
            for (unsigned t = threads; t-- > 0;) { start(t); body(); }
            continue;
        }
        contexts.assign(threads, ucontext_t()); finished.assign(threads, 0);
        for (unsigned t = 0; t < threads; ++t) {
            getcontext(&contexts[t]);
            contexts[t].uc_stack.ss_sp = stacks[t].data(); contexts[t].uc_stack.ss_size = stacks[t].size();
            contexts[t].uc_link = &scheduler;
            makecontext(&contexts[t], one, 0);
        }
        for (bool left = true; left;) {
            left = false;
            for (unsigned k = 0; k < threads; ++k) {
                now = (k * 7 + 3) % threads;
                if (!finished[now]) { start(now); swapcontext(&scheduler, &contexts[now]); left = true; }
            }
        }
    }
}
"""
SCALARS = {
    "long long": ((int, np.int64), ctypes.c_longlong), "float": ((np.float32,), ctypes.c_float),
    "double": ((float, np.float64), ctypes.c_double), "bool": ((bool, np.bool_), ctypes.c_bool),
}  # fmt: skip
DTYPES = {"long long": "int64", "float": "float32", "double": "float64", "bool": "bool"}
FLAGS = ["-std=c++17", "-O0", "-shared", "-fPIC", "-w", "-fwrapv", "-ffp-contract=off"]
SEEN = {}  # every text that was compiled, with its name and options


class Dim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


@functools.cache
def folder():
    """Where what is compiled lies; the header is there already compiled."""
    made = tempfile.TemporaryDirectory()
    path = os.path.join(made.name, "device.h")
    with open(path, "w") as out:
        out.write(HEADER)
    subprocess.run([shutil.which("g++"), *FLAGS, "-x", "c++-header", path], check=True)
    return made


@functools.cache
def compiled(text):
    path = os.path.join(folder().name, hashlib.sha1(text.encode()).hexdigest())
    with open(f"{path}.cpp", "w") as out:
        out.write(text)
    subprocess.run([shutil.which("g++"), *FLAGS, f"{path}.cpp", "-o", f"{path}.so"], check=True)
    run = ctypes.CDLL(f"{path}.so").run
    run.restype = None
    return run


class RawKernel:
    """In the place of CuPy's: takes the same arguments, and refuses others."""

    def __init__(self, text, name, options=()):
        SEEN[text] = name, options
        signature = re.search(rf"void {name}\((.*?)\)\s*\{{", text, re.S).group(1)
        self.parameters = []
        parts = [part.strip() for part in signature.split(",")]
        for part in parts:
            kind, pointer = re.match(r"(?:const )?(long long|float|double|bool)(\*?)", part).groups()
            self.parameters.append((kind, bool(pointer)))
        self.name, self.writes = (
            name,
            [p and not part.startswith("const") for part, (_, p) in zip(parts, self.parameters)],
        )
        names = [re.search(r"(\w+)$", part).group(1) for part in parts]
        kinds = [part[: -len(n)].replace("__restrict__", "") for part, n in zip(parts, names)]
        kept = "\n    ".join(
            ["bool is_kept = true; (void)is_kept;"]
            + [
                f"static {kind.replace('const ', '') if '*' not in kind else kind} kept_{n}; kept_{n} = {n};"
                for kind, n in zip(kinds, names)
            ]
        )
        run = RUN.replace("PARAMETERS_KEPT", kept).replace("PARAMETERS", signature)
        run = run.replace("NAME", name).replace("ARGUMENTS", ", ".join(f"kept_{n}" for n in names))
        self.text = (
            '#include "device.h"\n' + text + run.replace("SYNCHRONISES", "true" if "__sync" in text else "false")
        )

    def __call__(self, grid, block, args):
        assert len(args) == len(self.parameters)
        assert all(0 < n for n in (*grid, *block)) and np.prod(block) <= 1024 and all(n < 65536 for n in grid[1:])
        converted = []
        for value, (kind, pointer) in zip(args, self.parameters, strict=True):
            kinds, c_type = SCALARS[kind]
            if pointer:
                held = value.held
                assert held.dtype == DTYPES[kind] and (held.flags.c_contiguous or held.ndim == 0), (
                    self.name,
                    held.dtype,
                )
                converted.append(ctypes.c_void_p(held.ctypes.data))
            else:
                assert type(value) in kinds, (self.name, value, kind)
                converted.append(c_type(value.item() if isinstance(value, np.generic) else value))
        grid, block = (Dim(*(tuple(map(int, n)) + (1, 1))[:3]) for n in (grid, block))
        compiled(self.text)(grid, block, *converted)


# ------------------------------------------------------------------ NVRTC
def nvrtc():
    """The compiler, None where it is not installed."""
    for base in {sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]}:
        for path in sorted(glob.glob(os.path.join(base, "nvidia", "**", "libnvrtc.so.*"), recursive=True)):
            if "builtins" not in path and ".alt." not in path:
                return ctypes.CDLL(path)
    return None


def assembled(library, text, name, options):
    """The PTX of a kernel.  Raises with what the compiler says, warnings too."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert not library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), f"{name}.cu".encode(), 0, None, None)
    given = [o.encode() for o in (*options, "--gpu-architecture=compute_80")]
    failed = library.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    if failed or log.value.strip():
        raise AssertionError(f"{log.value.decode()}\n{text}")
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, code)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return code.value.decode()
