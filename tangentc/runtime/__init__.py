"""The few functions that emitted code may call beside NumPy's.

Each works for any argument types; where types are known when compiling, emitted code does without
them.  `tangentc.export` writes the ones that a module uses into it, so each stands by itself.
"""

import types

from tangentc.runtime.arrays import *  # noqa: F403
from tangentc.runtime.checks import *  # noqa: F403
from tangentc.runtime.containers import *  # noqa: F403
from tangentc.runtime.launching import *  # noqa: F403
from tangentc.runtime.states import *  # noqa: F403
from tangentc.runtime.steps import *  # noqa: F403

for _helper in [*globals().values()]:
    if isinstance(_helper, types.FunctionType):
        _helper.__module__ = __name__  # where emitted code finds it
