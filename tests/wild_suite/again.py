"""Calls each gradient of the suite twice, and prints the names of those for which the second call compiles anything.

    python again.py OUTCOMES.json

OUTCOMES.json is what `run.py --json` wrote: the cases that are ok there are looked at.
"""
import contextlib
import copy
import io
import json
import os
import sys
import tempfile
import warnings

import numpy as np
import run
import wild

from tangentc.derivative import Derivative


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    outcomes = json.load(open(sys.argv[1]))
    wild.prepare(os.path.join(tempfile.gettempdir(), "wild-checkouts"))
    with contextlib.redirect_stdout(io.StringIO()):
        cases = run.register()
    compiled, compile_ = [], Derivative._compile
    Derivative._compile = lambda self, *args, **keywords: compiled.append(self) or compile_(self, *args, **keywords)
    for name in (r["name"] for r in outcomes if r["outcome"] == "ok"):
        with contextlib.redirect_stdout(io.StringIO()):  # the libraries print
            made, points, *fixed = cases[name]()
            args, fixed = points[0], fixed[0] if fixed else ()
            gradient = run.Tangentc().gradient(made, args)
            for _ in range(2):
                compiled.clear()
                np.random.seed(0)
                gradient(*run.copies(args), *copy.deepcopy(fixed))
        if compiled:
            print(name)


if __name__ == "__main__":
    main()
