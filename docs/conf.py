"""The documentation as a site: python -m sphinx -W --keep-going -b html docs output/docs

The pages are plain Markdown and read as well where they are, on GitHub: links go to files, and anchors are those
that GitHub makes of headings. Links to files outside this folder (configs, project.yml) become downloads.
"""

from importlib.metadata import version as version_of

project = "spacy-mtt"
author = "The spacy-mtt developers"
version = release = version_of("spacy-mtt")

extensions = ["myst_parser"]
myst_heading_anchors = 4  # the anchors of page.md#anchor, down to headings of this level
highlight_language = "none"  # indented blocks are formulas and tables

html_theme = "furo"
html_title = "spacy-mtt"
html_show_sphinx = False
html_copy_source = False
