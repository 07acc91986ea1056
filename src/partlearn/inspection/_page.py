"""Self-contained pages with a script of their own."""

# SPDX-License-Identifier: BSD-3-Clause

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from partlearn._extras import import_optional
from partlearn._pages import visible


def rendered(name: str, data: Mapping[str, Any], **values: Any) -> str:
    """Render a template as a page without outside requests.

    Parameters
    ----------
    name : str
        Name of the template and of its script.
    data : mapping of str to object
        Data of the script, embedded as JSON that cannot end its element.
    **values : object
        Variables of the template.

    Returns
    -------
    str
        HTML, readable without scripts. Its policy allows this one script.
    """
    jinja2 = import_optional("jinja2", "Label reports", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("partlearn.inspection"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    source = files("partlearn.inspection").joinpath("templates", f"{name}.js")
    script = source.read_text(encoding="utf-8")
    digest = hashlib.sha256(script.encode()).digest()
    text = json.dumps(data, separators=(",", ":"))
    page = environment.get_template(f"{name}.html.j2").render(
        script=script,
        script_digest=base64.b64encode(digest).decode(),
        data=text.replace("<", "\\u003c").replace("&", "\\u0026"),
        **values,
    )
    return str(page)
