"""ARFF in the dialects of UCI, Mulan and MEKA, and LIBSVM."""

import gzip

import arff
import numpy as np
import pytest
import scipy.sparse as sp

from partlearn._sizes import SIZES
from partlearn.io import (
    AmbiguousDataError,
    DataFormatError,
    DataLimitError,
    Limits,
    read,
)

HEAD = """% a comment
@relation 'my set'
@attribute weight numeric
@ATTRIBUTE "the colour" {red, 'light green', blue}
@attribute 'it\\'s' REAL
"""
UCI = (
    HEAD
    + """@attribute class {cat,dog,eel}
@data
1.5, red, ?, cat

2, 'light green', -3e2, dog
% another
?, blue, 0, cat
"""
)


def put(folder, text, name="set.arff"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_uci(tmp_path):
    bunch = read(put(tmp_path, UCI))
    expected = [[1.5, 0, np.nan], [2, 1, -300], [np.nan, 2, 0]]
    np.testing.assert_array_equal(bunch.data, expected)
    assert bunch.feature_names == ["weight", "the colour", "it's"]
    assert bunch.target_names == ["cat", "dog", "eel"]
    np.testing.assert_array_equal(bunch.truth, [0, 1, 0])
    assert bunch.task == "multiclass"
    assert "the colour: 0=red, 1=light green, 2=blue" in bunch.DESCR


def test_agrees_with_liac_arff(tmp_path):
    theirs = arff.loads(UCI)
    ours = read(put(tmp_path, UCI))
    assert [name for name, _ in theirs["attributes"]][:2] == ours.feature_names[:2]
    for row, expected in zip(ours.data, theirs["data"], strict=True):
        colour = ["red", "light green", "blue"][int(row[1])]
        got = [None if np.isnan(row[0]) else row[0], colour]
        assert got == expected[:2]


MULAN = """@relation emotions
@attribute a numeric
@attribute b {0,1}
@attribute L1 {0,1}
@attribute L2 {0,1}
@data
"""
DENSE = "0.5,1,1,0\n1.5,0,1,1\n0,0,0,0\n"
SPARSE = "{0 0.5, 1 1, 2 1}\n{0 1.5,2 1,3 1}\n{ }\n"
XML = """<?xml version="1.0"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="L1"><label name="L2"></label></label>
</labels>"""


@pytest.mark.parametrize("rows", [DENSE, SPARSE])
@pytest.mark.parametrize("how", ["xml", "train", "meka", "last", "names", "path", "gz"])
def test_multilabel(tmp_path, rows, how):
    text, name, options = MULAN + rows, "set.arff", {}
    if how == "xml":
        (tmp_path / "set.xml").write_text(XML)
    elif how == "gz":
        (tmp_path / "set.xml").write_text(XML)
        (tmp_path / "set.arff.gz").write_bytes(gzip.compress(text.encode()))
        name = "set.arff.gz"
    elif how == "train":
        (tmp_path / "set.xml").write_text(XML)
        name = "set-train.arff"
    elif how == "meka":
        text = text.replace("emotions", "'emotions: -C -2 -split 10'")
    elif how == "last":
        options = {"labels": -2}
    elif how == "names":
        options = {"labels": ["L1", "L2"]}
    else:
        xml = tmp_path / "other.xml"
        xml.write_text(XML)
        options = {"labels": str(xml)}
    if how != "gz":
        put(tmp_path, text, name)
    bunch = read(tmp_path / name, **options)
    np.testing.assert_array_equal(bunch.data, [[0.5, 1], [1.5, 0], [0, 0]])
    np.testing.assert_array_equal(bunch.truth, [[1, 0], [1, 1], [0, 0]])
    assert bunch.task == "multilabel"
    assert bunch.target_names == ["L1", "L2"]
    assert read(tmp_path / name, task="pml", **options).candidates.sum() == 3


def test_first_labels_of_meka(tmp_path):
    text = MULAN.replace("emotions", "'x: -C 2'").replace("a numeric", "a {0,1}")
    bunch = read(put(tmp_path, text + "1,0,1,0\n0,1,1,1\n"))
    assert bunch.target_names == ["a", "b"]
    np.testing.assert_array_equal(bunch.data, [[1, 0], [1, 1]])


def test_no_labels_is_ambiguous(tmp_path):
    with pytest.raises(AmbiguousDataError, match="`labels`"):
        read(put(tmp_path, MULAN + DENSE))
    numeric = "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n1,2\n"
    with pytest.raises(AmbiguousDataError, match="`labels`"):
        read(put(tmp_path, numeric))
    bunch = read(put(tmp_path, numeric + "1,3\n"), labels="b")
    assert bunch.target_names == ["2", "3"]


def test_numbers_as_classes_keep_their_digits(tmp_path):
    text = "@relation r\n@attribute a real\n@attribute class real\n@data\n"
    bunch = read(put(tmp_path, f"{text}1,1234567\n2,1234568\n"))
    assert bunch.target_names == ["1234567", "1234568"]


def test_absent_means_the_first_nominal_value(tmp_path):
    text = """@relation r
@attribute a {5,0}
@attribute b {no,yes}
@attribute c {1,0}
@attribute class {u,v}
@data
{}
{0 0, 1 yes, 2 0, 3 v}
{0 ?}
"""
    bunch = read(put(tmp_path, text), labels=["b", "c"])
    assert bunch.feature_names == ["a", "class"]
    np.testing.assert_array_equal(bunch.data, [[5, 0], [0, 1], [np.nan, 0]])
    np.testing.assert_array_equal(bunch.truth, [1, 0, 1])  # one label in each row


def test_candidate_sets_in_one_attribute(tmp_path):
    text = """@relation r
@attribute a numeric
@attribute note string
@attribute animals string
@data
1,x,'cat|dog'
2,y,dog
{0 3}
"""
    path = put(tmp_path, text)
    with pytest.raises(AmbiguousDataError, match="`task"):
        read(path, labels="animals", ignore=["note"])
    bunch = read(path, labels="animals", ignore=["note"], task="pll")
    np.testing.assert_array_equal(bunch.candidates, [[1, 1], [0, 1], [0, 0]])
    with pytest.raises(AmbiguousDataError, match="`ignore`"):
        read(path, labels="animals", task="pll")


def test_sparse_stays_sparse(tmp_path):
    names = "\n".join(f"@attribute w{j} {{0,1}}" for j in range(200))
    rows = "\n".join(f"{{{i % 200} 1, 200 {'uv'[i % 2]}}}" for i in range(400))
    text = f"@relation r\n{names}\n@attribute class {{u,v}}\n@data\n{rows}\n"
    bunch = read(put(tmp_path, text))
    assert isinstance(bunch.data, sp.csr_array)
    assert bunch.data.nnz == 400
    assert read(put(tmp_path, text), sparse=False).data.sum() == 400


def test_latin_1(tmp_path):
    path = tmp_path / "a.arff"
    path.write_bytes(UCI.replace("dog", "köter").encode("latin-1"))
    assert "köter" in read(path).target_names


R = "@relation r\n"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no @data"),
        (R + "@data\n1\n", "no attributes"),
        (R + "nonsense\n", "not an ARFF declaration"),
        (R + "@attribute a\n", "name and a type"),
        (R + "@attribute a odd\n", "unknown type"),
        (R + "@attribute a {x,y\n", "not closed"),
        (R + "@attribute a {x,x}\n", "twice"),
        (R + "@attribute a {x,'y}\n", "is not closed"),
        (R + "@attribute a real\n@attribute a real\n", "occurs twice"),
        (R + "@attribute a {x,y}\n@data\n", "no rows"),
        (R + "@attribute a {x,y}\n@data\nx\n", "besides the labels"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n1\n", "1 values for 2"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\nz,x\n", "numeric; found"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n1,z\n", "not a value of"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n1,?\n", "no class"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n{0 1\n", "braces"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n{-1 1}\n", "not a pair"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n{9 1}\n", "column 9"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n{0 1,0 1}\n", "order"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n{0}\n", "not a pair"),
        (R + "@attribute a real\n@attribute c {x,y}\n@data\n{0 'x' y}\n", "not closed"),
        ("@relation 'r -C 9'\n@attribute a {0,1}\n@data\n1\n", "9 labels"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, match):
    with pytest.raises(DataFormatError, match=match):
        read(put(tmp_path, text))


@pytest.mark.parametrize(
    ("kind", "row", "match"),
    [
        ("numeric", "1,2,0", "marks are 0 and 1, or yes and no; found '2'"),
        ("{0,1,2}", "1,2,0", "found '2'"),
        ("{0,1}", "1,?,0", "missing"),
        ("{a,b}", "1,a,0", "found 'a'"),
    ],
)
def test_bad_label_attributes(tmp_path, kind, row, match):
    text = (
        f"{R}@attribute a real\n@attribute L {kind}\n@attribute K {{0,1}}\n@data\n{row}"
    )
    with pytest.raises(DataFormatError, match=match):
        read(put(tmp_path, text), labels=-2)
    with pytest.raises(AmbiguousDataError, match="`labels`: there is no"):
        read(put(tmp_path, text), labels=["L", "nobody"])
    with pytest.raises(DataFormatError, match="do not fit into"):
        read(put(tmp_path, text), labels=0)


def test_label_that_is_never_relevant(tmp_path):
    text = (
        f"{R}@attribute a real\n@attribute L {{0}}\n@attribute K numeric\n@data\n1,0,1"
    )
    assert read(put(tmp_path, text), labels=-2).truth.tolist() == [1]


ENTITY = """<?xml version="1.0"?><!DOCTYPE labels [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><labels><label name="&b;"/></labels>"""


@pytest.mark.parametrize(
    ("xml", "match"),
    [
        (ENTITY, "entities"),
        ("<labels>", "damaged"),
        ("<labels/>", "has no labels"),
        ("<labels><label/></labels>", "no name"),
        ("<label name='x'>" * 100, "deeply"),
        ('<?xml version="1.0" encoding="nonsense"?><labels/>', "damaged"),
    ],
)
def test_xml_is_not_trusted(tmp_path, xml, match):
    (tmp_path / "set.xml").write_text(xml)
    with pytest.raises(DataFormatError, match=match):
        read(put(tmp_path, MULAN + DENSE))


def test_xml_has_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr(SIZES, "arff_bytes", 10)
    (tmp_path / "set.xml").write_text(XML)
    with pytest.raises(DataLimitError, match="too large"):
        read(put(tmp_path, MULAN + DENSE))


# LIBSVM ----------------------------------------------------------------------------


def test_libsvm_multilabel(tmp_path):
    text = "1,3 1:0.5 3:2 # note\n 2:1\n\n2 1:1\n"
    bunch = read(put(tmp_path, text, "set.libsvm"), sparse=False)
    np.testing.assert_array_equal(bunch.data, [[0.5, 0, 2], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(bunch.truth, [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    assert bunch.target_names == ["1", "2", "3"]
    sets = read(put(tmp_path, text, "set.svm"), task="pll")
    np.testing.assert_array_equal(sets.candidates, bunch.truth)


def test_libsvm_multiclass(tmp_path):
    path = put(tmp_path, "2 1:1\n-1 2:1\n2 1:3\n", "set.svm")
    bunch = read(path)
    assert bunch.task == "multiclass"
    np.testing.assert_array_equal(bunch.truth, [1, 0, 1])
    assert bunch.target_names == ["-1", "2"]
    assert read(path, task="pll").candidates.sum() == 3
    with gzip.open(tmp_path / "set.svm.gz", "wb") as file:
        file.write(path.read_bytes())
    assert read(tmp_path / "set.svm.gz").data.shape == (3, 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 -1:1\n",
        "1 1:x\n",
        "x 1:1\n",
        "1 99999999999999999999:1\n",
        "1 3:1 2:1\n",
        "nan 1:1\n",
        "1, 1:1\n",
        "\xff\xfe",
    ],
)
def test_libsvm_damage(tmp_path, text):
    with pytest.raises(DataFormatError):
        read(put(tmp_path, text, "set.libsvm"))


def test_libsvm_columns_cost_nothing(tmp_path):
    bunch = read(put(tmp_path, "1 2000000000:1\n2 5:1\n", "set.libsvm"))
    assert bunch.data.shape == (2, 2_000_000_000)
    assert bunch.data.nnz == 2
    with pytest.raises(DataLimitError):
        read(tmp_path / "set.libsvm", sparse=False)
    with pytest.raises(DataLimitError):
        read(tmp_path / "set.libsvm", limits=Limits(max_bytes=5))
