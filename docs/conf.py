"""The documentation as a site: python -m sphinx -W --keep-going -b html docs output/docs

The pages are plain Markdown and read as well where they are, on GitHub: links go to files, and anchors are those
that GitHub makes of headings. Links to files outside this folder (configs, project.yml, other Markdown) become
downloads.
"""

import re
from importlib.metadata import version as version_of
from pathlib import Path

project = "spacy-mtt"
author = "The spacy-mtt developers"
version = release = version_of("spacy-mtt")

extensions = ["myst_parser"]
myst_heading_anchors = 4  # the anchors of page.md#anchor, down to headings of this level
highlight_language = "none"  # indented blocks are formulas and tables

html_theme = "furo"
html_title = "spacy-mtt"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False


def link_to_files(app, docname, source):
    """Have MyST take Markdown outside this folder for files, which it is no page of the site, by its scheme `path:`."""
    folder = Path(app.env.doc2path(docname)).parent

    def target(match):
        outside = not (folder / match[1]).resolve().is_relative_to(app.srcdir)
        return f"](path:{match[1]})" if outside else match[0]

    source[0] = re.sub(r"\]\((\.\./[^)#:]+\.md)\)", target, source[0])


def setup(app):
    app.connect("source-read", link_to_files)
