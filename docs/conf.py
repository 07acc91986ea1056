"""Sphinx configuration. `make docs` builds with warnings as errors."""

import functools
import importlib
import inspect
import os
import re
import sys
import warnings
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

import partlearn

logger = logging.getLogger(__name__)
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tools"))

import equations  # noqa: E402

project = "partlearn"
author = "the partlearn developers"
project_copyright = "2026, the partlearn developers"
release = version = partlearn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/**.ipynb", "auto_examples/**.py"]
autosummary_generate = True
# A name of ours that is not found is an error; methods of scikit-learn are not here.
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*"), ("py:.*", "(sklearn|numpy)\\..*|ValueError")]
html_domain_indices = False
autodoc_typehints = "none"
numpydoc_show_class_members = False

# A checkout may live in a folder with spaces in its name.
suppress_warnings = ["sphinx_gallery.space_in_filename"]

# Formulas are MathML, which browsers draw by themselves: no script, no request.
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = "partlearn"
html_show_sourcelink = False
html_static_path = ["_static"]
html_sidebars = {"**": ["sidebar-collapse.html", "site-navigation.html"]}
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2}

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_|messy_table",
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "plot_gallery": os.environ.get("PARTLEARN_DOCS_PLOTS", "1") == "1",
    "reset_modules": ("matplotlib",),
    "abort_on_example_error": True,
}
warnings.filterwarnings("ignore", category=UserWarning, message=".*non-GUI backend.*")

PACKAGES = [
    "candidates",
    "decomposition",
    "feature_selection",
    "classification",
    "multilabel",
    "multilabel.classification",
    "multilabel.feature_selection",
    "metrics",
    "model_selection",
    "tables",
    "inspection",
    "persistence",
    "io",
    "check",
    "datasets",
    "benchmark",
    "report",
    "base",
    "utils",
]


# Classes that not every installation can fit are public, and in no list of methods.
OPTIONAL = {"classification": ["TorchClassifier"]}


def write_api() -> dict[str, list[str]]:
    """List every public name, so that none can be forgotten.

    Returns the attributes that the docstring of each class describes.
    """
    lines = ["API", "===", ""]
    top = [name for name in partlearn.__all__ if not name.startswith("__")]
    sections = [("partlearn", partlearn, top)] if top else []
    for package in PACKAGES:
        module = importlib.import_module(f"partlearn.{package}")
        names = [*module.__all__, *OPTIONAL.get(package, ())]
        sections.append((f"partlearn.{package}", module, names))
    described = {}  # attributes that the page of a class has already
    seen = set()  # names handed on by a second package have their page already
    for title, module, names in sections:
        documented = [
            name
            for name in names
            if (
                inspect.isclass(thing := getattr(module, name))
                or inspect.isroutine(thing)
            )
            and thing.__module__.startswith("partlearn")
            and (thing.__module__, name) not in seen
        ]
        seen |= {(getattr(module, name).__module__, name) for name in documented}
        scorers = {
            name: match[1]
            for name in names
            if (match := re.match(r"make_scorer\((\w+)", repr(getattr(module, name))))
        }
        for name in documented:
            text = inspect.getdoc(getattr(module, name)) or ""
            match = re.search(
                r"^Attributes\n-+\n(.*?)(?=^\S+\n-+\n|\Z)", text, re.S | re.M
            )
            names = re.findall(r"^(\S.*?) :", match[1], re.M) if match else []
            described[f"{title}.{name}"] = ", ".join(names).split(", ")
        first = inspect.getdoc(module).splitlines()[0]
        lines += [title, "-" * len(title), "", f".. module:: {title}", "", first, ""]
        lines += [".. autosummary::", "   :toctree: .", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in documented] + [""]
        for name, score in scorers.items():
            lines += [f".. data:: {name}", "", f"   Scorer of :func:`{score}`.", ""]
    folder = HERE / "generated"
    folder.mkdir(exist_ok=True)
    text = "\n".join(lines)
    target = folder / "api.rst"
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
    return described


autosummary_context = {"described": write_api()}
equations.write_pages(HERE / "generated")


def escape_names(app, what, name, obj, options, lines):
    """Shapes such as (n_iter_,) name attributes; reST would take them for links."""
    for i, line in enumerate(lines):
        if "``" not in line and ">>>" not in line:
            lines[i] = re.sub(
                r"\([^()]*\)",
                lambda shape: re.sub(r"(?<=\w)_(?=[\s,)])", r"\\_", shape.group()),
                line,
            )


def skip_others(app, what, name, obj, skip, options):
    """Leave out what is not ours, or stands under the class with what it is.

    Methods that every string, tuple or error has, and requests of metadata, are not
    ours. Fields of data classes and named tuples would be listed again, without a word.
    """
    builtin = any(
        getattr(kind, name, None) is obj for kind in (str, tuple, dict, BaseException)
    )
    if builtin or re.fullmatch(r"set_\w+_request", name):
        return True
    computed = (property, functools.cached_property, classmethod, staticmethod)
    field = not (inspect.isroutine(obj) or isinstance(obj, computed))
    if field and what in {"class", "attribute"}:  # by autodoc, by autosummary
        return True
    return None


def shorten_defaults(app, what, name, obj, options, signature, returns):
    """Write defaults by their names: a class, and the registry with all addresses."""
    short = re.sub(r"<class '([\w.]+)'>", r"\1", signature or "")
    short = re.sub(r"mappingproxy\(\{.*\}\)", "REGISTRY", short)
    return None if short == (signature or "") else (short, returns)


def visit_formula(translator, node):
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    # Long formulas scroll by themselves, not the page.
    tag = "div" if display == "block" else "span"
    text = node.astext().replace("\\arg", r"\operatorname{arg}\,")
    text = re.sub(r"\\[bB]ig[lr]?\s*\\\|", r"\\|", text)
    if "&" in text:
        text = rf"\begin{{align*}}{text}\end{{align*}}"
    formula = convert(text, display=display)
    if "\\" in formula:  # written on the page as it is
        logger.warning("Not understood by latex2mathml: %s", text, location=node)
    # As an operator, the sign of transposition would get space around it.
    formula = formula.replace("<mo>&#x022A4;</mo>", "<mi>&#x022A4;</mi>")
    translator.body.append(f'<{tag} class="formula">{formula}</{tag}>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_formula, None), (visit_formula, None))
    app.add_css_file("pages.css")
    app.connect("autodoc-skip-member", skip_others)
    app.connect("autodoc-process-signature", shorten_defaults)
    # Before numpydoc, which listens with the default priority.
    app.connect("autodoc-process-docstring", escape_names, priority=400)
