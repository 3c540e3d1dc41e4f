"""CoNLL-X and CoNLL-U treebanks: reading, writing, checking, evaluating."""
