"""Start the ranks of a script, and start them again from its last checkpoint if one dies.

    python -m tangentc.learn.parallel -n 2 --restarts 3 train.py --epochs 10

The script calls ``learn.fit(..., parallel=Communicator(), checkpoint=folder)``, which goes on from what is there, with
any number of ranks.  Each rank has one BLAS thread unless the environment says another number.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def mpiexec() -> str:
    """The one beside this Python, as the wheels have it, or that of the system."""
    return shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or "mpiexec"


def run(command: list[str], ranks: int, starter: list[str]) -> int:
    """Run the ranks, and say which one died first, where MPI tells the process."""
    with tempfile.TemporaryDirectory() as folder:
        own = {**dict.fromkeys(THREADS, "1"), **os.environ, "TANGENTC_RANKS": folder}
        started = [*starter, "-n", str(ranks), sys.executable, *command]
        with subprocess.Popen(started, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                if (found := re.search(r"PID (\d+) RUNNING", line)) and (
                    said := Path(folder) / found[1]
                ).exists():  # MPICH
                    print(f"rank {said.read_text()} of {ranks} has died", file=sys.stderr, flush=True)
        return process.returncode


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tangentc.learn.parallel")
    parser.add_argument("-n", type=int, default=2, help="how many ranks")
    parser.add_argument("--restarts", type=int, default=0, help="how often to start again")
    parser.add_argument("--fewer", action="store_true", help="start again with one rank less")
    parser.add_argument("--mpiexec", default=mpiexec(), help='the starter: "mpiexec --allow-run-as-root" for Open MPI')
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the script and its arguments")
    options = parser.parse_args(given)
    ranks = options.n
    while (code := run(options.command, ranks, shlex.split(options.mpiexec))) and options.restarts:
        options.restarts -= 1
        ranks = max(ranks - options.fewer, 1)
        print(f"the run ended with {code}; it starts again with {ranks} ranks", file=sys.stderr, flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
