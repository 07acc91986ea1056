"""How arrays lie in the file of a model."""

import io
import zipfile

import numpy as np

from partlearn.persistence._archive import write_archive


def test_arrays_are_compressed_where_that_saves_something():
    measured = np.random.default_rng(0).standard_normal(4000)
    file = io.BytesIO()
    write_archive(file, {}, [measured, np.zeros(4000), np.empty(0)])
    with zipfile.ZipFile(file) as archive:
        methods = [info.compress_type for info in archive.infolist()]
        assert archive.read("arrays/0") == measured.tobytes()
    packed, plain = zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED
    assert methods == [packed, plain, packed, plain]
