"""How sure `mtt_parser` is, and whether it is right to be: `python -m benchmarks.certainty`.

measure.py    a trained model on the dev and test parts: reliability, and LAS of the most certain sentences
page.py       tables and diagrams
"""
