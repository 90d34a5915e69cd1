"""Designs whose separation was published, as small tables: papers, textbooks, manuals of packages.

`published` has what the source says, by the name of the coefficient; other coefficients were not reported.
"""

from itertools import product
from typing import NamedTuple

CONSTANT = "(constant)"
COMPLETE, QUASI, OVERLAP = "separable", "quasi-separable", "overlapping"


class Design(NamedTuple):
    """A table, the model it was published for, and what is known of its estimates.

    `y` has labels from 0, or counts, or pairs of successes and failures. Coefficients of several classes are named
    "class: column"; those of an ordinal model are the slopes and the cuts.
    """

    kind: str
    columns: tuple
    X: list
    y: list
    verdict: str
    published: dict
    constant: bool = True


def finite(*names):
    return dict.fromkeys(names, "finite")


def repeated(table):
    """Rows and labels of a table of rows (x, counts by label)."""
    rows = [(list(x), label) for x, counts in table for label, count in enumerate(counts) for _ in range(count)]
    return [x for x, _ in rows], [label for _, label in rows]


def split(table):
    """Rows and responses of a table whose rows end with the response, or with successes and failures."""
    return [list(row[:-1]) for row in table], [row[-1] for row in table]


# ------------------------------------------------------------------------------------------------ logistic regression

# UCLA, "FAQ: What is complete or quasi-complete separation in logistic regression?": Y, X1, X2 of either kind.
UCLA_COMPLETE = Design(
    "binary",
    ("X1", "X2"),
    [[1, 3], [2, 2], [3, -1], [3, -1], [5, 2], [6, 4], [10, 1], [11, 0]],
    [0, 0, 0, 0, 1, 1, 1, 1],
    COMPLETE,
    {"X1": "+inf"},
)
UCLA_QUASI = Design(
    "binary",
    ("X1", "X2"),
    [[1, 3], [2, 0], [3, -1], [3, 4], [3, 1], [4, 0], [5, 2], [6, 7], [10, 3], [11, 4]],
    [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
    QUASI,
    {"X1": "+inf", "X2": "finite"},
)

# Agresti (2012), Categorical Data Analysis, 6.5.1: eight points, and ten with one of each kind at 50; Geyer's notes on
# the same: the slope diverges, the first set is separated at any place between 40 and 60.
EIGHT = [[10], [20], [30], [40], [60], [70], [80], [90]]
AGRESTI_EIGHT = Design("binary", ("x",), EIGHT, [0] * 4 + [1] * 4, COMPLETE, {"x": "+inf", CONSTANT: "-inf"})
AGRESTI_TEN = Design(
    "binary", ("x",), [*EIGHT, [50], [50]], [0] * 4 + [1] * 4 + [0, 1], QUASI, {"x": "+inf", CONSTANT: "-inf"}
)

# Allison (2004), "Convergence problems in logistic regression", tables 9.1 and 9.2: the same about zero, where the
# constant has no limit (complete), or one (quasi-complete).
ABOUT_ZERO = [[x] for x in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)]
ALLISON_COMPLETE = Design("binary", ("x",), ABOUT_ZERO, [0] * 5 + [1] * 5, COMPLETE, {"x": "+inf", CONSTANT: "+/-inf"})
ALLISON_QUASI = Design(
    "binary", ("x",), [*ABOUT_ZERO, [0], [0]], [0] * 5 + [1] * 5 + [0, 1], QUASI, {"x": "+inf", CONSTANT: "finite"}
)

# Flom (2010), "PROC LOGISTIC: complete and quasi-complete separation": level A has C only.
FLOM = Design("grouped", ("A",), [[1], [0]], [[5, 0], [10, 5]], QUASI, {"A": "+inf", CONSTANT: "finite"})

# Hosmer and Lemeshow (2000), Applied Logistic Regression, 4.5: a table with an empty cell, (1, 0) for each level.
HOSMER_ZERO_CELL = Design(
    "grouped",
    ("x = 2", "x = 3"),
    [[0, 0], [1, 0], [0, 1]],
    [[7, 13], [12, 8], [20, 0]],
    QUASI,
    {"x = 2": "finite", "x = 3": "+inf", CONSTANT: "finite"},
)

# Low birth weight by race and smoking (Hosmer and Lemeshow 1989; birthwt of MASS), low and not: all estimates finite.
BIRTH_WEIGHT = Design(
    "grouped",
    ("black", "other", "smoke"),
    [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1]],
    [[4, 40], [19, 33], [5, 11], [6, 4], [20, 35], [5, 7]],
    OVERLAP,
    finite("black", "other", "smoke", CONSTANT),
)

# Heinze and Schemper (2002): grade of endometrial cancer by neovasculisation, pulsatility index, thickness. R's
# detectseparation: (0, Inf, 0, 0). NV, PI, EH in hundredths, HG.
ENDOMETRIAL_DATA = """
0 13 164 0|0 16 226 0|0 8 314 0|0 34 268 0|0 20 128 0|0 5 231 0|0 17 180 0|0 10 168 0|0 26 156 0|0 17 231 0|0 8 201 0
0 7 189 0|0 20 315 0|0 10 123 0|0 18 127 0|0 16 176 0|0 18 200 0|0 8 264 1|0 29 88 1|0 12 127 1|0 20 137 1|1 38 97 1
1 22 114 1|1 7 88 1|1 25 91 1|1 15 58 1|0 7 97 1|0 28 150 0|0 11 133 0|0 19 237 0|0 10 182 0|0 10 313 0|0 18 131 0
0 14 192 0|0 21 164 0|0 11 201 0|0 17 188 0|0 25 193 0|0 16 211 0|0 19 129 0|0 15 172 0|0 33 75 0|0 24 192 0|0 48 184 1
0 12 111 1|0 19 161 1|0 2 118 1|1 22 144 1|1 40 118 1|1 5 93 1|1 0 117 1|0 21 119 1|0 15 106 1|0 29 202 0|0 15 229 0
0 12 233 0|0 3 290 0|0 20 170 0|0 23 141 0|0 12 225 0|0 22 154 0|0 42 197 0|0 15 175 0|0 13 216 0|0 14 257 0|0 19 137 0
0 12 361 0|0 13 204 0|0 10 217 0|0 12 169 1|1 49 27 1|0 6 184 1|0 5 130 1|0 17 96 1|1 11 101 1|1 21 98 1|0 5 35 1
1 19 102 1|0 33 85 1
"""
ENDOMETRIAL_ROWS = [[int(v) for v in row.split()] for row in ENDOMETRIAL_DATA.replace("\n", "|").split("|") if row]
ENDOMETRIAL = Design(
    "binary",
    ("NV", "PI", "EH"),
    *split(ENDOMETRIAL_ROWS),
    QUASI,
    {"NV": "+inf"} | finite("PI", "EH", CONSTANT),
)

# The same with a multiple of NV after it, from the tests of detectseparation: (0, Inf, NA, 0, 0).
ENDOMETRIAL_ALIASED = Design(
    "binary",
    ("NV", "2 NV", "PI", "EH"),
    [[row[0], 2 * row[0], *row[1:3]] for row in ENDOMETRIAL_ROWS],
    [row[-1] for row in ENDOMETRIAL_ROWS],
    QUASI,
    {"NV": "+inf", "2 NV": "not identified"} | finite("PI", "EH", CONSTANT),
)

# Urinary tract infections by contraceptive (sex2 of R's logistf; Cytel 2000), cases and controls: all users of a
# diaphragm are cases. Grouped; Firth's estimates of these groups are those that the manual prints.
SEX2 = Design(
    "grouped",
    ("age", "oc", "vic", "vicl", "vis", "dia"),
    [
        *([0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0], [0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0]),
        *([0, 0, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 1], [0, 1, 1, 0, 0, 0], [0, 1, 1, 0, 0, 1]),
        *([0, 1, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 0], [1, 0, 1, 0, 0, 0], [1, 0, 1, 0, 1, 0]),
        *([1, 0, 1, 0, 1, 1], [1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0]),
        *([0, 1, 0, 0, 1, 0], [1, 0, 1, 1, 1, 0], [1, 1, 0, 0, 1, 0], [1, 1, 1, 1, 1, 0]),
    ],
    [
        *([1, 1], [14, 2], [3, 1], [10, 8], [12, 18], [1, 0], [44, 42], [3, 0], [15, 1], [1, 0], [2, 0], [7, 5]),
        *([3, 6], [2, 0], [1, 0], [1, 0], [1, 2], [1, 0], [5, 14], [3, 1], [0, 1], [0, 4], [0, 1], [0, 2]),
    ],
    QUASI,
    {"dia": "+inf"} | finite("age", "oc", "vic", "vicl", "vis", CONSTANT),
)

# Silvapulle (1981): psychiatric cases and others among 35 men by score of the General Health Questionnaire;
# detectseparation: (-Inf, Inf). Among 85 women the estimates exist.
SILVAPULLE_MEN = Design(
    "grouped",
    ("GHQ",),
    [[0], [1], [2], [4], [5], [7], [10]],
    [[0, 18], [0, 8], [1, 1], [1, 0], [3, 0], [2, 0], [1, 0]],
    QUASI,
    {"GHQ": "+inf", CONSTANT: "-inf"},
)
SILVAPULLE_WOMEN = Design(
    "grouped",
    ("GHQ",),
    [[score] for score in range(10)],
    [[2, 42], [2, 14], [4, 5], [3, 1], [2, 1], [3, 0], [1, 0], [1, 0], [3, 0], [1, 0]],
    OVERLAP,
    finite("GHQ", CONSTANT),
)

# Schoener (1970), McCullagh and Nelder (1989), table 4.6; lizards of brglm2: grahami and opalinus by height, diameter,
# light, time (midday, late). detectseparation: six zeros. One cell of the 24 had no lizards.
LIZARDS = Design(
    "grouped",
    ("height", "diameter", "light", "midday", "late"),
    [[*x, *time] for *x, time in product((0, 1), (0, 1), (0, 1), ((0, 0), (1, 0), (0, 1)))],
    [
        *([20, 2], [8, 1], [4, 4], [34, 11], [69, 20], [18, 10], [8, 3], [4, 1], [5, 3], [17, 15], [60, 32], [8, 8]),
        *([13, 0], [8, 0], [12, 0], [31, 5], [55, 4], [13, 3], [6, 0], [0, 0], [1, 1], [12, 1], [21, 5], [4, 4]),
    ],
    OVERLAP,
    finite("height", "diameter", "light", "midday", "late", CONSTANT),
)

# Titanic of R, survived and not: class (second, third, crew), woman, child. No child was in the crew. With classes and
# sexes and ages alone all is finite; all children of the first two classes survived, so that their interaction is not.
TITANIC_ROWS = [
    *([0, 0, 0, 0, 0, 57, 118], [1, 0, 0, 0, 0, 14, 154], [0, 1, 0, 0, 0, 75, 387], [0, 0, 1, 0, 0, 192, 670]),
    *([0, 0, 0, 1, 0, 140, 4], [1, 0, 0, 1, 0, 80, 13], [0, 1, 0, 1, 0, 76, 89], [0, 0, 1, 1, 0, 20, 3]),
    *([0, 0, 0, 0, 1, 5, 0], [1, 0, 0, 0, 1, 11, 0], [0, 1, 0, 0, 1, 13, 35], [0, 0, 1, 0, 1, 0, 0]),
    *([0, 0, 0, 1, 1, 1, 0], [1, 0, 0, 1, 1, 13, 0], [0, 1, 0, 1, 1, 14, 17], [0, 0, 1, 1, 1, 0, 0]),
]
TITANIC = Design(
    "grouped",
    ("second", "third", "crew", "woman", "child"),
    [row[:5] for row in TITANIC_ROWS],
    [row[5:] for row in TITANIC_ROWS],
    OVERLAP,
    finite("second", "third", "crew", "woman", "child", CONSTANT),
)
TITANIC_CHILDREN = Design(
    "grouped",
    ("second", "third", "crew", "woman", "child", "second child", "third child", "crew child"),
    [[*row[:5], *(row[4] * v for v in row[:3])] for row in TITANIC_ROWS],
    [row[5:] for row in TITANIC_ROWS],
    QUASI,
    # Relative to the first class: the child effect is infinite there and in the second class, finite in the third.
    {"child": "+inf", "second child": "+/-inf", "third child": "-inf", "crew child": "not identified"}
    | finite("second", "third", "crew", "woman", CONSTANT),
)
# The same without a constant, a column for each class: what the children of the first class have is again +inf.
TITANIC_BARE = Design(
    "grouped",
    ("first", "second", "third", "crew", "woman", "first child", "second child", "third child"),
    [
        [1 - sum(row[:3]), *row[:4], row[4] * (1 - sum(row[:3])), row[4] * row[0], row[4] * row[1]]
        for row in TITANIC_ROWS
    ],
    [row[5:] for row in TITANIC_ROWS],
    QUASI,
    {"first child": "+inf", "second child": "+inf"}
    | finite("first", "second", "third", "crew", "woman", "third child"),
    constant=False,
)

# AIDS symptoms by race and early use of AZT (Agresti 2002, table 5.5; aids of brglm2): yes and no. All finite.
AIDS = Design(
    "grouped",
    ("white", "AZT"),
    [[1, 1], [1, 0], [0, 1], [0, 0]],
    [[14, 93], [32, 81], [11, 52], [12, 43]],
    OVERLAP,
    finite("white", "AZT", CONSTANT),
)

# Schwendinger, Gruen and Hornik (2021), vignette of detectseparation: separated, with a constant and two columns.
SCHWENDINGER = Design(
    "binary", ("a", "b"), [[1, 2], [0, 1], [3, 1], [2, 4], [3, 6], [4, 8]], [0, 0, 0, 1, 1, 1], COMPLETE, {"b": "+inf"}
)

# ------------------------------------------------------------------------------------------------------------- counts

# Correia, Guimaraes and Zylkin, primer of ppmlhdfe: the first two rows are separated by x.
PPML_ONE = Design(
    "poisson",
    ("x",),
    [[1], [1], [0], [0], [0], [0]],
    [0, 0, 0, 1, 2, 3],
    QUASI,
    {"x": "-inf", CONSTANT: "finite"},
)
# Separated by z = 2 x1 + x2: the first row alone.
PPML_TWO = Design(
    "poisson",
    ("x1", "x2"),
    [[2, -1], [-1, 2], [0, 0], [0, 0], [5, -10], [6, -12]],
    [0, 0, 0, 1, 2, 3],
    QUASI,
    {"x1": "-inf", "x2": "-inf", CONSTANT: "finite"},
)
# Two fixed effects; the third of the five rows is separated, by both together.
PPML_EFFECTS = Design(
    "poisson",
    ("id1 = 2", "id2 = 2"),
    [[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]],
    [0, 1, 0, 0, 1],
    QUASI,
    {"id1 = 2": "-inf", "id2 = 2": "+inf", CONSTANT: "finite"},
)
# Haberman (1974), Fienberg and Rinaldo (2012): no three-factor interaction, zeros in opposite corners of 2 x 2 x 2.
# With z = abc's parity the two empty cells fall together, and nothing else moves.
CORNERS = list(product((0, 1), repeat=3))
HABERMAN = Design(
    "poisson",
    ("a", "b", "c", "ab", "ac", "bc"),
    [[a, b, c, a * b, a * c, b * c] for a, b, c in CORNERS],
    [0, 3, 2, 5, 4, 1, 6, 0],
    QUASI,
    {CONSTANT: "-inf", "a": "+inf", "b": "+inf", "c": "+inf", "ab": "-inf", "ac": "-inf", "bc": "-inf"},
)
# Dobson (1990), page 93, example of R's glm: no count is zero.
DOBSON = Design(
    "poisson",
    ("outcome 2", "outcome 3", "treatment 2", "treatment 3"),
    [[o == 1, o == 2, t == 1, t == 2] for t in range(3) for o in range(3)],
    [18, 17, 15, 20, 10, 20, 25, 13, 12],
    OVERLAP,
    finite("outcome 2", "outcome 3", "treatment 2", "treatment 3", CONSTANT),
)

# ------------------------------------------------------------------------------------ several classes and ordered ones

# Agresti (2002), table 7.1; alligators of brglm2: primary food (fish, invertebrate, reptile, bird, other) by lake, sex
# and size. The model has size (small) and lake, against George.
ALLIGATOR_COUNTS = {
    "Hancock": (((7, 1, 0, 0, 5), (4, 0, 0, 1, 2)), ((16, 3, 2, 2, 3), (3, 0, 1, 2, 3))),
    "Oklawaha": (((2, 2, 0, 0, 1), (13, 7, 6, 0, 0)), ((3, 9, 1, 0, 2), (0, 1, 0, 1, 0))),
    "Trafford": (((3, 7, 1, 0, 1), (8, 6, 6, 3, 5)), ((2, 4, 1, 1, 4), (0, 1, 0, 0, 0))),
    "George": (((13, 10, 0, 2, 2), (9, 0, 0, 1, 2)), ((3, 9, 1, 0, 1), (8, 1, 0, 0, 1))),
}
LAKES = ("Hancock", "Oklawaha", "Trafford")
FOODS = ("invertebrate", "reptile", "bird", "other")


def alligators(share):
    """Rows with frequencies divided by a number and rounded."""
    return repeated(
        ([small == 0, *(lake == name for name in LAKES)], [round(count / share) for count in counts])
        for lake, sexes in ALLIGATOR_COUNTS.items()
        for sizes in sexes
        for small, counts in enumerate(sizes)
    )


ALLIGATORS = Design(
    "multinomial",
    ("small", *LAKES),
    *alligators(1),
    OVERLAP,
    finite(*(f"{food}: {column}" for food in FOODS for column in ("small", *LAKES, CONSTANT))),
)
# Kosmidis, vignette of brglm2, and the guide of ppmlhdfe: with a third of the frequencies no reptile is eaten at
# George, so that the constant of reptile falls and its lakes rise with it.
ALLIGATORS_SPARSE = Design(
    "multinomial",
    ("small", *LAKES),
    *alligators(3),
    QUASI,
    {f"reptile: {lake}": "+inf" for lake in LAKES} | {f"reptile: {CONSTANT}": "-inf", "reptile: small": "finite"},
)

# Randall (1989), wine of R's ordinal: bitterness 1 to 5 by temperature and contact. clm: all finite.
WINE = Design(
    "ordinal",
    ("warm", "contact"),
    *repeated(
        [
            ([0, 0], (4, 9, 5, 0, 0)),
            ([0, 1], (1, 7, 8, 2, 0)),
            ([1, 0], (0, 5, 8, 3, 2)),
            ([1, 1], (0, 1, 5, 7, 5)),
        ]
    ),
    OVERLAP,
    finite("warm", "contact", *(f"cut {k}" for k in range(4))),
)
# McCullagh and Nelder (1989), table 5.1: four cheeses, tasted from 1, strong dislike, to 9.
CHEESE = Design(
    "ordinal",
    ("A", "B", "C"),
    *repeated(
        [
            ([1, 0, 0], (0, 0, 1, 7, 8, 8, 19, 8, 1)),
            ([0, 1, 0], (6, 9, 12, 11, 7, 6, 1, 0, 0)),
            ([0, 0, 1], (1, 1, 6, 8, 23, 7, 5, 1, 0)),
            ([0, 0, 0], (0, 0, 0, 1, 3, 7, 14, 16, 11)),
        ]
    ),
    OVERLAP,
    finite("A", "B", "C", *(f"cut {k}" for k in range(8))),
)

DESIGNS = {name.lower(): one for name, one in list(globals().items()) if isinstance(one, Design)}
