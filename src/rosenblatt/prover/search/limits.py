"""The numbers that steer the search: sizes, amounts of work, tolerances of floats and estimates of time.

None of them can make a verdict or a bound wrong, because whatever the search finds is checked exactly before it counts.
They decide which way is tried first, and how long a search continues before the next one. `exact` and `certificates`
have their own limits, which follow from the arithmetic.
"""

from fractions import Fraction

# ---- Which way to search, by the size of the data

# Signed rows of more columns than this, and fewer than 1.5 times their columns, are searched in the space that they
# span. Its matrix is square in the rows: 6,000 take 290 MB and some seconds. If more are needed, nothing is decided.
ROW_SPACE_MIN_FEATURES, ROW_SPACE_MAX_ROWS = 1500, 6000
# Rows of a sample that estimates centre and scale, or is searched before all rows.
SAMPLE_ROWS = 4096
# Entries of the signed rows up to which a contradiction is looked for: the search that continues from one copies the
# rows (128 MB). With more rows than that the usual search soon rules a separator out.
COPIED_ENTRIES = 1 << 24
# Samples per feature from which dependent columns are guessed: twice the largest rank, as some samples are dependent.
SAMPLES_PER_FEATURE = 2
# Share of the columns of dense rows that must be empty to be worth a copy of the others.
EMPTY_SHARE = 0.25
# Entries up to which sparse rows are made dense, so that their columns can be moved (128 kB).
DENSE_MAX_ENTRIES = 1 << 14
# A column is moved if it is farther from zero than this many times its spread: floats lose 16 of their 53 bits there.
FAR_FROM_ZERO = 1 << 16
# Share of entries, in the columns that have some, above which sparse rows are multiplied faster as dense ones.
SPARSE_SHARE = 0.05
# Features and entries up to which a margin that floats do not resolve is searched for on integers: a few seconds.
INTEGER_SEARCH_MAX_FEATURES, INTEGER_SEARCH_MAX_ENTRIES = 24, 100_000
# Entries of a basis of the vectors that vanish on a support, up to which it is computed.
MAX_BASIS_ENTRIES = 1 << 24
# Wide rows from which on a margin within `tol` of the largest is enough; the space of fewer rows takes a moment. IMDB's
# reviews took 25 times the time of LinearSVC to the largest margin, and take twice that time this way.
MIN_ROWS_FOR_CLOSE = 512
# Entries of the signed rows up to which coefficients are determined without being asked for: for any data, for named
# columns, and where rows are fewer than columns, some of which then depend on others. The same in products of rows with
# as many directions as there are weights; and the seconds that it may then take.
FREE_ENTRIES, FREE_NAMED_ENTRIES, FREE_WIDE_ENTRIES = 1 << 13, 1 << 18, 1 << 10
FREE_PRODUCTS, FREE_SECONDS = 1 << 22, 5.0

# ---- How much work a step does

# Epochs of coordinate descent before a search over narrow rows; and of any first pass over several classes or wide
# rows, whose search is so slow that more epochs save time.
DESCENT_EPOCHS, PREPARATION_EPOCHS = 3, 100
# Epochs of coordinate descent towards the largest margin of wide rows; and towards one that is close to it, where rows
# that cannot be separated waste them all.
WIDE_DESCENT_EPOCHS, CLOSE_DESCENT_EPOCHS = 1000, 300
# Coordinate descent compares its margin with the bound that its multipliers prove after this many epochs. In between it
# leaves out rows without a multiplier whose margin is beyond FAR_MARGIN, that of the support being 1.
EPOCHS_PER_LOOK, FAR_MARGIN = 10, 1.1
# Epochs of the perceptron on several classes of wide rows, of which nothing else is decided within minutes: at most,
# and in entries times classes (some ten seconds).
PERCEPTRON_EPOCHS, PERCEPTRON_ENTRIES = 1000, 10**10
# Epochs over several classes of wide rows after which the weights are made to vanish on a support.
TIED_EPOCHS = (5, 20, PREPARATION_EPOCHS)
# Rows that a working set takes in at a time: per column, at least, and at most in entries (128 MB).
ADDED_ROWS_PER_COLUMN, MIN_ADDED_ROWS, ADDED_ENTRIES = 10, 200, 1 << 24
# Wide rows that a search in their space takes in at a time.
ADDED_WIDE_ROWS = 500
# Iterations of a search between two looks at all rows and checks of the deadline: at most, at least, and in products (a
# fraction of a second).
ITERATIONS, MIN_ITERATIONS, PRODUCTS = 1000, 10, 3e8
# Rows outside the support that an iteration looks at first, at least; it looks at all when none of these improves the
# point.
LISTED_ROWS = 64
# Entries of the rows up to which a search adds up in order, so that it gives the same bits interpreted and compiled. It
# is interpreted until that has taken about as long as compiling would: operations per entry of the rows, and in all. A
# first `certify` of OR takes 1.6 s of CPU that way, and 5.9 s if it compiles the search.
ORDERED_ENTRIES = 2000
OPERATIONS_PER_ENTRY, OPERATIONS_TO_COMPILE = 30, 2_000_000
# Looks at all rows after which a search gives up, as a multiple of those it would take if every row entered once.
MAX_ROUNDS = 50

# ---- Where floats cannot distinguish a number from zero

# A residual that drops to this share of its size within one step is zero.
ZERO_SHARE = 1e-12
# Rows enter a working set if their margin is below the support's by more than this share; wide rows, whose factors are
# less exact, by more than the second.
MARGIN_GAP, WIDE_MARGIN_GAP = 1e-9, 1e-7
# For a warm start, a row is independent of others if more than this share of it lies outside their span. Above the
# second share a factorisation without pivoting, which is much faster, is exact enough to tell.
INDEPENDENT_SHARE, SURELY_INDEPENDENT_SHARE = 1e-8, 1e-4
# In the active set, a column depends on the others if its part outside their span is below this share of its length.
DEPENDENT_SHARE = 1e-14
# A row improves the nearest point if its margin is below the support's by more than this share, and by more than the
# rounding error of a margin of zero, as a share of the lengths.
IMPROVEMENT_SHARE, MARGIN_ROUNDING = 1e-10, 4e-16
# Shares of a support below this one of the largest share are likely to be rounding errors.
ZERO_SHARE_OF_LARGEST = 1e-12
# A row of length one, projected on a subspace, vanishes there if it is shorter than this.
VANISHING_LENGTH = 1e-9
# Distance from a cone, as a share of the length of the vector sought in it, that may be a rounding error.
ROUNDED_DISTANCE = 1e-9
# The margin of wide rows is reached, or close enough for a search to continue from there, if this share is missing.
REACHED_GAP, CLOSE_GAP = 1e-9, 1e-3
# Share of the margin that a bracket may leave open, and that the search on integers may miss.
BRACKET_WIDTH, INTEGER_MARGIN_GAP = 1e-7, Fraction(1, 10**9)
# The bias is a weight on a constant of this many times the spread: it then has a negligible share of the length of w.
PADDING_OVER_SPREAD = 100.0

# ---- How long a step that cannot be interrupted takes

# Seconds per product: of a Cholesky factorisation, a QR factorisation with pivoting and the elimination modulo primes
# after it, and of that elimination alone. They are generous: one core of a server took 1e-11, 2e-10 and 1e-10, the
# eliminations on int64; longer integers take more.
FACTORING_SECONDS, PIVOTING_SECONDS, ELIMINATION_SECONDS = 2e-11, 4e-9, 2e-9
