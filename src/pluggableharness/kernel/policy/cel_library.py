"""The CEL library without the command line of its own that its package imports with it.

That one brings a whole terminal interface, and would take most of the time of a start.
"""

import importlib
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

_PACKAGE, _EXTENSION = "cel", "cel.cel"


@cache
def cel() -> Any:
    """The module that compiles and evaluates.

    It is registered under its own name: the package, if anyone imports it, finds it there, since
    an extension can be loaded once in a process.
    """
    package = find_spec(_PACKAGE)
    places = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec(_EXTENSION, places) if places is not None else None
    if _PACKAGE in sys.modules or spec is None or spec.loader is None:
        return importlib.import_module(_PACKAGE)
    module = module_from_spec(spec)
    sys.modules[_EXTENSION] = module
    spec.loader.exec_module(module)
    return module
