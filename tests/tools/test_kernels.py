"""The settings under which the numerical tests run as on other processors."""

import pytest


@pytest.fixture
def kernels(load_tool, monkeypatch):
    tool = load_tool("kernels")
    monkeypatch.setattr(tool.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(tool, "wide_loops", lambda: "X86_V4")
    return tool


def answer(own, able):
    def kernel_in_use(environment):
        asked = environment.get("OPENBLAS_CORETYPE", own)
        return asked if asked in able else own

    return kernel_in_use


def test_the_own_kernel_and_those_it_cannot_run_are_left_out(kernels, monkeypatch):
    monkeypatch.setattr(
        kernels, "kernel_in_use", answer("Haswell", ("Haswell", "Sandybridge"))
    )
    settings = kernels.environments(quick=False)
    assert {s["OPENBLAS_CORETYPE"] for s in settings} == {"Sandybridge"}
    assert [s["OMP_NUM_THREADS"] for s in settings] == ["1", "2"]
    assert settings[0]["NPY_DISABLE_CPU_FEATURES"] == "X86_V4"
    assert len(kernels.environments(quick=True)) == 1


def test_other_machines_have_none(kernels, monkeypatch):
    monkeypatch.setattr(kernels.platform, "machine", lambda: "arm64")
    assert kernels.environments(quick=True) == []


def test_the_exit_code_is_that_of_the_tests(kernels, monkeypatch, capsys):
    monkeypatch.setattr(kernels.sys, "argv", ["kernels.py", "--quick"])
    monkeypatch.setattr(kernels, "kernel_in_use", answer("SkylakeX", kernels.KERNELS))
    for code in (0, 1):
        monkeypatch.setattr(kernels, "run", lambda *_, code=code: code)
        assert kernels.main() == code
    monkeypatch.setattr(kernels, "environments", lambda quick: [])
    assert kernels.main() == 0
    assert "no other kernels" in capsys.readouterr().out
