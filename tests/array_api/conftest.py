"""Libraries whose arrays are tried, with scikit-learn's dispatch switched on."""

import os
from types import SimpleNamespace

import pytest
from sklearn import config_context


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    # scikit-learn dispatches only where SciPy has been told to as well.
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with config_context(array_api_dispatch=True):
        yield


def devices():
    """Pairs of a library and a device; the GPU only where there is one."""
    yield pytest.param(("array_api_strict", None), id="strict")
    yield pytest.param(("torch", "cpu"), id="torch")
    yield pytest.param(("torch", "cuda"), id="cuda", marks=pytest.mark.gpu)
    yield pytest.param(("cupy", None), id="cupy", marks=pytest.mark.gpu)


@pytest.fixture(params=list(devices()))
def library(request):
    """Where arrays are made: a function `asarray` that puts them on the device."""
    name, device = request.param
    module = pytest.importorskip(name)
    if device == "cuda" and not _has_cuda(module):
        # `make gpu-test` is asked for where there is one.
        assert "PARTLEARN_GPU" not in os.environ, "no CUDA device was found"
        pytest.skip("no CUDA device")
    options = {} if device is None else {"device": device}
    return SimpleNamespace(asarray=lambda values: module.asarray(values, **options))


def _has_cuda(torch):
    try:
        return bool(torch.cuda.device_count() and torch.zeros(1, device="cuda") == 0)
    except RuntimeError:  # a driver that is older than the library
        return False
