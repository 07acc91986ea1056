"""Damaged data files of every format."""

import gzip
import random

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.utils import Bunch

from partlearn.io import DataError, Limits, read, write
from tools.fuzz.mutate import inside_mat, inside_zip, mutate

LIMITS = Limits(max_bytes=2**26)
READERS = {
    "npz": "npz",
    "npz sparse": "npz",
    "npz inside": "npz",
    "mat": "mat",
    "mat plain": "mat",
    "mat inside": "mat",
    "mat 7.3": "mat",
    "parquet": "parquet",
    "arrow": "arrow",
    "csv": "csv",
    "csv gzip": "csv.gz",
    "arff": "arff",
    "arff sparse": "arff",
    "libsvm": "libsvm",
}
INSIDE = {"npz inside": inside_zip, "mat inside": inside_mat}
ARFF = """@relation 'x: -C -2'
@attribute a numeric
@attribute 'b b' {u,v,'w x'}
@attribute L {0,1}
@attribute K {0,1}
@data
"""


def make_seeds(folder):
    """One small sound file of every kind, as bytes."""
    rng = np.random.default_rng(0)
    X = np.maximum(rng.normal(size=(20, 5)), 0)
    y = np.arange(20) % 4
    S = np.eye(4, dtype=bool)[y]
    S[:, 0] = True
    bunch = Bunch(
        data=X,
        candidates=S,
        truth=y,
        target_names=list("abcd"),
        feature_names=[f"f{j}" for j in range(5)],
        task="pll",
    )
    out = {}
    for kind in ("npz", "mat", "parquet", "arrow", "csv"):
        out[kind] = write(bunch, folder / f"a.{kind}").read_bytes()
    sparse = Bunch(**{**bunch, "data": sp.csr_array(X)})
    out["npz sparse"] = write(sparse, folder / "a.npz").read_bytes()
    out["npz inside"], out["mat inside"] = out["npz sparse"], out["mat"]
    out["csv gzip"] = gzip.compress(out["csv"])
    struct_ = {"data": X, "partial_target": sp.csc_matrix(S.T * 1.0), "t": "text"}
    cells = np.array(["a", "bb"], dtype=object)
    path = folder / "b.mat"
    scipy.io.savemat(path, {"s": struct_ | {"names": cells}})
    out["mat plain"] = path.read_bytes()
    with h5py.File(path, "w") as file:
        item = file.create_dataset("data", data=X.T, chunks=(3, 9), compression="gzip")
        item.attrs["MATLAB_class"] = np.bytes_("double")
        file["gnd"] = (y + 1.0)[None]
    out["mat 7.3"] = path.read_bytes()
    dense = "\n".join(f"{i * 0.3},{['u', 'v'][i % 2]},{i % 2},1" for i in range(9))
    out["arff"] = (ARFF + dense).encode()
    out["arff sparse"] = (ARFF + "{0 0.5, 1 'w x', 2 1}\n{3 1}\n" * 5).encode()
    rows = [f"1,{i % 4 + 1} 1:{i * 0.5} 3:2 {i + 4}:4" for i in range(9)]
    out["libsvm"] = "\n".join(rows).encode()
    return out


class Target:
    """Read mutated files; only the documented errors may come out."""

    def __init__(self, folder):
        self.folder = folder
        self.seeds = make_seeds(folder)

    def attempt(self, i):
        """Read the i-th file; whether it was still readable."""
        rng = random.Random(f"readers {i}")
        kind = rng.choice(list(READERS))
        path = self.folder / f"m.{READERS[kind]}"
        data = INSIDE.get(kind, mutate)(self.seeds[kind], rng)
        if rng.random() < 0.2:
            data = mutate(data, rng)
        path.write_bytes(data)
        try:
            bunch = read(path, limits=LIMITS)
        except DataError:
            return False
        assert bunch.data.shape[0] > 0
        assert bunch.candidates is None or bunch.candidates.dtype == bool
        return True
