"""Changes modules of the library at the moment they are imported."""

import sys

from .own import BUILTINS as __builtins__


class Loader:
    """Loads as the module's own loader does, then changes the module."""

    def __init__(self, loader, change):
        self.loader, self.change = loader, change

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.change(module)


class Finder:
    """Finds the modules that are changed, with the finders behind it."""

    def __init__(self, changes):
        self.changes = changes

    def find_spec(self, name, path=None, target=None):
        change = self.changes.get(name)
        if change is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                spec.loader = Loader(spec.loader, change)
                return spec
        return None


def install(changes):
    """changes: name of a module -> function that changes it."""
    for name, change in changes.items():
        if name in sys.modules:
            change(sys.modules[name])
    sys.meta_path.insert(0, Finder(changes))
