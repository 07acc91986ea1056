"""Names that ``partlearn.datasets`` had before files and checks moved out of it."""

import pytest

import partlearn.check
import partlearn.datasets
import partlearn.io


@pytest.mark.parametrize("name", partlearn.datasets.__all__)
def test_every_listed_name_is_there(name):
    assert getattr(partlearn.datasets, name) is not None


@pytest.mark.parametrize("name", partlearn.check.__all__)
def test_the_checker_is_the_same_one(name):
    assert getattr(partlearn.datasets, name) is getattr(partlearn.check, name)


@pytest.mark.parametrize("name", ["read", "write", "Limits", "DataError"])
def test_readers_are_the_same_ones(name):
    assert getattr(partlearn.datasets, name) is getattr(partlearn.io, name)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        partlearn.datasets.nothing  # noqa: B018
