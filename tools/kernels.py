"""Run the numerical tests as other processors would compute them.

OpenBLAS chooses its kernels and NumPy its loops by the processor. Both can be told to
use the code of an older one, so that a test which passes on one machine only fails here
as well. ``python tools/kernels.py`` runs all numerical tests with every kernel, with
one and two threads; ``--quick`` runs the shortest of them with the first kernel that is
not the machine's own.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ("Haswell", "Sandybridge", "Zen", "SkylakeX")
QUICK = ["tests/_math/simplex", "tests/_math/linalg", "tests/decomposition"]
ALL = [
    *("tests/_math", "tests/decomposition", "tests/feature_selection"),
    *("tests/classification", "tests/multilabel", "docs/user_guide", "README.md"),
]
KERNEL_IN_USE = (
    "import numpy, scipy.linalg, threadpoolctl; "
    "print({i.get('architecture') for i in threadpoolctl.threadpool_info()})"
)


def wide_loops() -> str:
    """Return the loops of NumPy for AVX-512 that this machine would use."""
    from numpy._core import _multiarray_umath as core

    names = getattr(core, "__cpu_dispatch__", ())
    return " ".join(n for n in names if n.startswith("AVX512") or n == "X86_V4")


def kernel_in_use(environment: dict[str, str]) -> str:
    """Return the kernels that OpenBLAS reports in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", KERNEL_IN_USE],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def run(tests: list[str], environment: dict[str, str], jobs: int) -> int:
    """Run tests in such an environment and return pytest's exit code."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), *tests]
    settings = " ".join(f"{key}={value!r}" for key, value in environment.items())
    print(f"\n{settings}", flush=True)
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment).returncode


def environments(quick: bool) -> list[dict[str, str]]:
    """Return the settings that this machine can run."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return []
    own = kernel_in_use({})
    found = []
    for kernel in KERNELS:
        setting = {"OPENBLAS_CORETYPE": kernel}
        if kernel in own or kernel not in kernel_in_use(setting):
            continue  # the machine's own, or one that it cannot run
        for threads in ("1",) if quick else ("1", "2"):
            limits = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
            found.append(setting | limits)
        if quick:
            break
    if found and (names := wide_loops()):
        found[0]["NPY_DISABLE_CPU_FEATURES"] = names
    return found


def main() -> int:
    """Run the tests; return 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one kernel, few tests")
    parser.add_argument("--jobs", type=int, default=2, help="processes of pytest")
    arguments = parser.parse_args()
    settings = environments(arguments.quick)
    if not settings:
        print("This machine can run no other kernels.")
    tests = QUICK if arguments.quick else ALL
    codes = [run(tests, setting, arguments.jobs) for setting in settings]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
