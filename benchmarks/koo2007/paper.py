"""The figures of Koo et al. (2007), tables 2 and 3: unlabelled attachment on the CoNLL-X test sets, in percent."""

METHODS = ("perceptron", "max-margin", "log-linear")
LANGUAGES = ("Arabic", "Dutch", "Japanese", "Slovene", "Spanish", "Turkish")

# Per language: perceptron p, np, max-margin p, np, log-linear p, np (projective or non-projective training).
TABLE_2 = {
    "Arabic": (71.74, 71.84, 71.74, 72.99, 73.11, 73.67),
    "Dutch": (77.17, 78.83, 76.53, 79.69, 76.23, 79.55),
    "Japanese": (91.90, 91.78, 92.10, 92.18, 91.68, 91.49),
    "Slovene": (78.02, 78.66, 79.78, 80.10, 78.24, 79.66),
    "Spanish": (81.19, 80.02, 81.71, 81.93, 81.75, 81.57),
    "Turkish": (71.22, 71.70, 72.83, 72.02, 72.26, 72.62),
}

# Per language: perceptron, max-margin, log-linear, with projective or non-projective training chosen on validation.
TABLE_3 = {
    "Arabic": (71.74, 72.99, 73.67),
    "Dutch": (78.83, 79.69, 79.55),
    "Japanese": (91.78, 92.18, 91.49),
    "Slovene": (78.66, 80.10, 79.66),
    "Spanish": (81.19, 81.93, 81.57),
    "Turkish": (71.70, 72.02, 72.26),
}
# As printed; the perceptron's row has the mean 78.98.
AVERAGE_3 = (79.05, 79.82, 79.71)
SENTENCES = 2472
SIGN_TESTS = {"log-linear": (448, 343), "max-margin": (500, 383)}  # better and worse than the perceptron
