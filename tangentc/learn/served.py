"""The text around the emitted text in the folder of a saved model, which imports NumPy alone."""

MODULE = '''"""A saved model: `predict` calls it.  Its text stands in primal.py, its arrays in parameters.npz."""

import collections
import os
import sys
from pathlib import Path

import numpy as np

from .primal import {name} as _primal

INPUTS = {inputs}  # dtypes and shapes; None is any length


class _Object:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class _Function(_Object):
    """A function of the model, whose text is written out where it is called."""


{classes}with np.load(Path(__file__).with_name("parameters.npz"), allow_pickle=False) as _file:
    _arrays = {{name: _file[name] for name in _file.files}}
_model = ({values})


def predict({names}):
    """What the model gives; raises ValueError for inputs of other dtypes or shapes."""
    inputs = [_checked(name, value, INPUTS[name]) for name, value in zip(INPUTS, [{names}])]
    return _primal(*_model, *inputs{settings})


def _checked(name, value, form):
    value, (dtype, shape) = np.asarray(value), form
    fits = len(shape) == value.ndim and all(n in (None, m) for n, m in zip(shape, value.shape))
    if value.dtype != dtype or not fits:
        wanted = ", ".join("*" if n is None else str(n) for n in shape)
        given = f"{{value.dtype}}{{list(value.shape)}}"
        raise ValueError(f"{{name}} is {{given}}; the model was made for {{dtype}}[{{wanted}}]")
    return value


def _named(value, name):
    """The arrays in a result by their paths."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "__dict__"):
        value = vars(value)
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return {{}} if value is None else {{name: np.asarray(value)}}
    found = {{}}
    for key, part in value.items():
        found.update(_named(part, f"{{name}}.{{key}}" if name else str(key)))
    return found


def main(arguments):
    """Read inputs by their names from an .npz file, and write ``output`` to another one."""
    if len(arguments) != 2:
        print("usage: python -m FOLDER input.npz output.npz", file=sys.stderr)
        return 2
    with np.load(arguments[0], allow_pickle=False) as file:
        given = {{name: file[name] for name in file.files}}
    if given.keys() != INPUTS.keys():
        print(f"the inputs are {{', '.join(INPUTS)}}; the file has {{', '.join(given) or 'none'}}", file=sys.stderr)
        return 1
    try:
        output = _named(predict(*[given[name] for name in INPUTS]), "output")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    with open(arguments[1] + ".partial", "wb") as file:
        np.savez(file, **output)
    os.replace(arguments[1] + ".partial", arguments[1])
    return 0
'''

MAIN = '''"""python -m FOLDER input.npz output.npz, or python FOLDER input.npz output.npz"""

import importlib.util
import sys
from pathlib import Path

if __package__:
    from . import main
else:
    _file = Path(__file__).resolve().with_name("__init__.py")
    _spec = importlib.util.spec_from_file_location("saved_model", _file, submodule_search_locations=[str(_file.parent)])
    sys.modules["saved_model"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["saved_model"])
    main = sys.modules["saved_model"].main

sys.exit(main(sys.argv[1:]))
'''

ADJOINT = '''

from .adjoint import {name} as _adjoint  # noqa: E402

OUTPUT = {form}


def adjoint(out_bar{more}):
    """The gradients of the sum of out_bar * predict(...), by the paths of the model's numbers."""
    return _named(raw_adjoint(out_bar{more}), "")


def raw_adjoint(out_bar{more}):
    """The same in the form of the model."""
    inputs = [_checked(name, value, INPUTS[name]) for name, value in zip(INPUTS, [{names}])]
    return _adjoint(*_model, *inputs{settings}, _checked("out_bar", out_bar, OUTPUT))
'''
