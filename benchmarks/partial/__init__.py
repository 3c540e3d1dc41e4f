"""How much of a treebank has to be annotated, and which words: `python -m benchmarks.partial`.

annotation.py    treebanks with a part of their heads, drawn at random or where a model is least sure
page.py          the table and the curve
"""
