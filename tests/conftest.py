"""Fixtures shared by the whole suite."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The same examples every time: a change is judged by what it does. New ones are looked
# for with `pytest --hypothesis-profile=explore`. No deadline, and no limit on the time
# that examples take to make: no test asserts a time. Fixtures of our property tests are
# a folder that every example writes to, or a function.
EVER = {
    "deadline": None,
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
    ],
}
settings.register_profile("steady", derandomize=True, **EVER)
settings.register_profile("explore", print_blob=True, **EVER)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Folder with reference data and oracles, beside the checkout or by variable."""
    folder = Path(os.environ.get("PARTLEARN_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("no reference data beside the checkout (set PARTLEARN_SHARED)")
    return folder


@pytest.fixture(params=[0, 1, 2])
def global_random_seed(request) -> int:
    """Every stochastic test has to pass for each of these seeds."""
    return request.param


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def global_dtype(request):
    return request.param


@pytest.fixture(scope="session")
def load_tool():
    """Import a script of `tools` by its name."""

    def load(name):
        path = ROOT / "tools" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
