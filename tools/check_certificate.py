"""Check a certificate of separability with Python's standard library alone; see docs/reference/certificates.md.

usage: python check_certificate.py certificate.json data.csv
Exit code 0: everything that it claims holds of these data. 1: something is false. 2: a file cannot be read.
"""
import csv, hashlib, json, math, re, struct, sys
from fractions import Fraction

COUNT = r"(?:[1-9][0-9]*|0x[1-9a-f][0-9a-f]*)"  # positive integers: in hexadecimal beyond 4096 bits
SIZE = r"0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}"  # floats without sign, as float.hex writes them
FLOAT, FRACTION = re.compile(f"-?{SIZE}"), re.compile(f"(?:0|-?{COUNT})/{COUNT}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")  # in a cell of the CSV file
HASH, BOUND, REALS = re.compile("[0-9a-f]{64}"), re.compile(f"{SIZE}|inf"), ([FLOAT], [FRACTION])
BRACKET = {"lower": BOUND, "upper": BOUND, "w": REALS, "rows": [int], "weights": REALS}
SUM = {"support": [int], "rivals": [int], "multipliers": [re.compile(COUNT)]}
TEXTS = {  # fields without numbers in strings
    "format": "rosenblatt-certificate", "layout": ("dense", "sparse"), "digest": HASH, "seal": HASH, "names": [str],
    "verdict": ("separable", "quasi-separable", "overlapping", "undecided"), "reason": str, "shape": [int],
    "arithmetic": ("binary", "decimal", "rational"), "classes": list,
    "estimates": [("finite", "+inf", "-inf", "+/-inf", "not identified")], "version": 1, "boundary": [int],
    "intercept": bool, "response": ("labels", "counts", "shares", "pairs", "ordered"), "levels": list, "rows": [int],
}
FORM = TEXTS | SUM | {
    "radius": FLOAT, "vector": (None, *REALS), "point": [FLOAT], "margin": (None, BRACKET),
    "augmented": (None, BRACKET), "mistake_bound": (None, re.compile(f"0|{COUNT}")), "combinations": [(None, SUM)],
    "directions": [REALS],
}

def need(holds, what):
    if not holds:
        raise ValueError(what)

def fits(form, value):
    match form:
        case tuple(): return any(fits(one, value) for one in form)
        case list(): return isinstance(value, list) and all(fits(form[0], one) for one in value)
        case dict(): return fits(dict, value) and set(value) == set(form) and all(fits(form[k], value[k]) for k in form)
        case re.Pattern(): return isinstance(value, str) and form.fullmatch(value) is not None
    return type(value) is form or (type(value) is type(form) and value == form)

def exactly(value):  # the same with numbers for strings, each of which is written in the one way in which it may be
    if isinstance(value, dict):
        return {key: exactly(one) for key, one in value.items()}
    if isinstance(value, list):
        return [exactly(one) for one in value]
    if not isinstance(value, str) or value == "inf":
        return math.inf if value == "inf" else value
    need(len(value) < 10**6, "a number is so long that it would take hours")
    if "/" in value:
        above, below = (int(exactly(part)) for part in value.split("/"))
        need(math.gcd(above, below) == 1, "a fraction is not in lowest terms")
        return Fraction(above, below)
    found = float.fromhex(value) if "." in value else int(value, 16 if "x" in value else 10)
    text = found.hex() if "." in value else hex(found) if found.bit_length() > 4096 else str(found)
    need(text == value, f"{value:.40} is not how this number is written")
    return Fraction(found)

def once(pairs):
    need(len(dict(pairs)) == len(pairs), "a field is there twice")
    return dict(pairs)

def read_certificate(path):
    with open(path, "rb") as file:
        c = json.loads(file.read().decode("utf-8"), object_pairs_hook=once)
    need(isinstance(c, dict) and c.keys() == FORM.keys(), "it has not the fields of a certificate of version 2")
    need(not (wrong := [name for name in FORM if not fits(FORM[name], c[name])]), f"{wrong[:1]} is not of its form")
    labels = c["classes"][c["classes"][:1] == [None] :]  # [null, label] where there is one class only
    need(len(c["classes"]) == max(2, len(labels)) and fits(([str], [bool], [(int, float)]), labels), "no classes")
    need(all(a < b for a, b in zip(labels, labels[1:])), "the classes are not sorted")
    return c | {name: exactly(c[name]) for name in FORM.keys() - TEXTS.keys()}, c

def read_data(path, c):  # the values as the digest has them, the same as fractions, and the responses as text
    arithmetic = c["arithmetic"]
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in csv.reader(file, strict=True) if line]
    last = -2 if c["response"] == "pairs" else -1  # the first column of the response
    need(len({len(line) for line in lines}) == 1 and len(lines[0]) > -last, "its lines are not values and a label each")
    used, responses = set(c["rows"] or range(len(lines))), [line[last:] for line in lines]
    lines = [line[:last] if i in used else [] for i, line in enumerate(lines)]  # others may have missing values
    for cell in [cell for cells in lines for cell in cells]:
        fraction = arithmetic == "rational" and FRACTION.fullmatch(cell)
        need(fraction or NUMBER.fullmatch(cell), f"{cell!r:.40} is no number")
        rounded = arithmetic != "rational" and re.fullmatch("[+-]?[0-9]+", cell) and int(cell) != float(cell)
        need(fraction or (not rounded and abs(float(cell)) < math.inf), f"no double is equal to {cell:.40}")
    values = [[Fraction(v) if arithmetic == "rational" else float(v) + 0.0 for v in cells] for cells in lines]
    exact = [[Fraction(repr(v) if arithmetic == "decimal" else v) for v in x] for x in values]
    return values, exact, responses

def sample(c, i, responses):  # the samples that a row makes: the class of each, and the columns of its threshold
    if c["response"] == "ordered":
        known = [str(k) if isinstance(k, str | bool) else Fraction(k) for k in c["levels"]]
        rank, last = known.index(type(known[0])(responses[i][0])), len(known) - 1
        return [(int(t < rank), [int(t == k) for k in range(1, last)]) for t in (rank - 1, rank) if 0 <= t < last]
    up, down = (Fraction(cell) for cell in (responses[i][0], responses[i][-1]))
    down = {"counts": 1, "shares": 1 - up, "pairs": down}[c["response"]]
    need(up >= 0 and down >= 0, f"{responses[i]} is no response of this kind")
    return [(0, [])] * (down > 0) + [(1, [])] * (up > 0)

def samples(c, values, exact, responses):  # in place of the rows, where these are not the samples themselves
    need(bool(c["levels"]) == (c["response"] == "ordered"), "levels are those of ordered responses")
    need(c["rows"] != list(range(len(values))), "rows is empty if each row is a sample")
    rows = c["rows"] or list(range(len(values)))
    need(all(0 <= i < len(values) for i in rows), "rows has a row that is not there")
    if c["response"] == "labels":
        need(len(set(rows)) == len(rows), "a row is there twice")
        return [values[i] for i in rows], [exact[i] for i in rows], [responses[i][-1] for i in rows]
    made = [(i, *one) for i in sorted(set(rows)) for one in sample(c, i, responses)]
    need([i for i, *_ in made] == rows and c["classes"] == [0, 1], "rows and classes do not follow from the responses")
    kind = Fraction if c["arithmetic"] == "rational" else float
    parts = [[[*x[i], *map(to, marks)] for i, _, marks in made] for x, to in ((values, kind), (exact, Fraction))]
    return *parts, [str(k) for _, k, _ in made]

def digest(layout, values, y):
    code = hashlib.sha256(f"rosenblatt\n{layout}\n{len(values)}\n{len(values[0])}\n".encode())
    code.update(struct.pack(f"<{len(y)}q", *y))
    for x in values:
        used = [j for j, v in enumerate(x) if v or layout == "dense"]
        head = [len(used), *used] if layout == "sparse" else []
        if isinstance(x[0], Fraction):
            code.update((",".join(f"{j}:{x[j]}" if head else str(x[j]) for j in used) + "\n").encode())
        else:
            code.update(struct.pack(f"<{len(head)}Q{len(used)}d", *head, *(x[j] for j in used)))
    return code.hexdigest()

def dot(u, v):
    return sum(a * b for a, b in zip(u, v, strict=True))

def mean(pairs, columns):  # of rows with their weights
    return [sum(m * z[j] for m, z in pairs) / sum(m for m, _ in pairs) for j in columns] if pairs else []

def rest(row, basis):  # what is left of a row when multiples of a basis are subtracted
    for j, top in basis.items():
        row = [a - row[j] * b for a, b in zip(row, top, strict=True)] if row[j] else row
    return row

def basis_of(rows):  # of the space that they span: each has a one in its first column, where the others have a zero
    basis = {}
    for row in rows:
        if any(row := rest(row, basis)):
            j = next(j for j, v in enumerate(row) if v)
            row = [v / row[j] for v in row]
            basis = {k: rest(top, {j: row}) for k, top in basis.items()} | {j: row}
    return basis

def claims(c, document, values, exact, labels):  # yields what is claimed, and whether it holds
    body = json.dumps({k: v for k, v in document.items() if k != "seal"}, sort_keys=True, separators=(",", ":"))
    yield "seal", c["seal"] == hashlib.sha256(body.encode()).hexdigest()
    n, d, C, one = len(values), len(values[0]), len(c["classes"]), c["classes"][0] is None
    numeric = not isinstance(c["classes"][-1], str | bool)
    known = [Fraction(k) if numeric else str(k) for k in c["classes"][one:]]
    doubles = {Fraction(k) for k in c["classes"] if isinstance(k, float)}  # the label 0.1 is one
    near = {k: Fraction(float(k)) for k in labels if numeric and NUMBER.fullmatch(k)}
    labels = [(near[k] if near[k] in doubles else Fraction(k)) if k in near else k for k in labels]
    y, width = [known.index(k) + one if k in known else -1 for k in labels], (C - 1) * (d + 1)
    absent = c["response"] == "labels" and set(known) - set(labels)
    same = c["shape"] == [n, d] and set(labels) <= set(known) and not absent
    same = same and c["digest"] == digest(c["layout"], values, y)
    yield "these are the data", same
    if not same:
        return
    need(len(c["names"]) in (0, d), "there are not as many names as features")
    X = [[*x, Fraction(c["intercept"])] for x in exact]
    Z = {(i, r): [((k == y[i]) - (k == r)) * v for k in range(1, C) for v in X[i]]
         for i in range(n) for r in range(C) if r != y[i]}
    longest = max(dot(x, x) for x in X)
    yield "radius", c["radius"] >= 0 and longest <= c["radius"] ** 2 <= longest * (1 + Fraction(1, 10**9)) ** 2

    def pairs(s):
        return [(m, Z[i, r]) for i, r, m in zip(s["support"], s["rivals"], s["multipliers"], strict=True)]

    S, w = pairs(c), c["vector"]
    heights = {key: 0 if w is None else dot(z, w) for key, z in Z.items()}
    zero = [key for key, height in heights.items() if height == 0]
    yield "verdict", (c["verdict"], bool(S), w is None) in (
        ("separable", False, False), ("quasi-separable", True, False), ("overlapping", True, True))
    yield "vector", min(heights.values()) >= 0 and any(heights.values()) == (w is not None) and bool(S or not zero)
    yield "boundary", c["boundary"] == (sorted({i for i, _ in zero}) if w else [])
    yield "multipliers", not any(mean(S, range(width)))
    basis = basis_of(z for _, z in S)
    yield "span", len(basis) == width or not any(any(rest(Z[key], basis)) for key in zero)
    own = [(m, z) for (m, z), i in zip(S, c["support"]) if C == 2 and y[i] == 1 and c["intercept"]]
    yield "point", document["point"] == [float(v).hex() for v in mean(own, range(d))]

    for name, size, sides in (("margin", d, [[0], [1]]), ("augmented", d + 1, [[0, 1]])):
        b = c[name]
        need(not b or name == "augmented" or c["intercept"], "a model without an intercept has no geometric margin")
        if b and one and name == "margin":
            need(len(b["w"]) in (0, width) and len(b["weights"]) == len(b["rows"]), "margin has not its form")
            need(all(0 <= i < n for i in b["rows"]) and all(m > 0 for m in b["weights"]), "margin has not its form")
            yield name, b["upper"] == math.inf
        elif b:
            rows = [(m, Z[i, 1 - y[i]], y[i]) for m, i in zip(b["weights"], b["rows"], strict=True)]
            yield name, c["verdict"] == "separable" and C == 2 and any(b["w"][:size]) and all(m > 0 for m, *_ in rows)
            low = sum(min(dot(Z[i, 1 - y[i]], b["w"]) for i in range(n) if y[i] in side) for side in sides) / len(sides)
            square = dot(b["w"][:size], b["w"][:size])
            yield name, b["lower"] < math.inf and low >= 0 and b["lower"] ** 2 * square <= low**2
            parts = [[(m, z) for m, z, own in rows if own in side] for side in sides]
            gap = mean([(1, mean(part, range(size))) for part in parts], range(size)) if all(parts) else [math.inf]
            yield name, dot(gap, gap) <= b["upper"] ** 2 and (all(parts) or not rows)
    lower = c["augmented"] and c["augmented"]["lower"]
    yield "mistake bound", c["mistake_bound"] == (c["radius"] ** 2 // lower**2 if lower else None)

    places = range(width if c["estimates"] else 0)
    leading = basis_of([x[-1:] + x[:-1] for x in X]) if places else {}  # of columns in order, the constant first
    kept = [j for j in places if (j + 1) % (d + 1) in leading]
    spanned = basis_of([z[j] for j in kept] for _, z in S)
    signs = {j: {(u[j] > 0) - (u[j] < 0) for u in c["directions"]} for j in places}
    fixed = {j for j in kept if not any(rest([int(j == k) for k in kept], spanned))}
    yield "directions", all(dot(z, u) >= 0 for z in Z.values() for u in c["directions"]) and all(
        signs[j] <= {0} for j in places if j not in kept) and bool(places or not c["directions"])
    for j, estimate, proof in zip(places, c["estimates"], c["combinations"], strict=True):
        total = mean(pairs(proof), range(width)) if proof else [0] * width
        alone = [k for k in kept if total[k]] == [j] and ("+inf" if total[j] > 0 else "-inf")
        both = "+/-inf" if signs[j] >= {-1, 1} and not proof else ""
        found = "not identified" if j not in kept else "finite" if j in fixed else alone or both
        yield f"estimate {j}", estimate == found and (proof is None) != (estimate in ("+inf", "-inf"))

def main(arguments):
    if len(arguments) != 2:
        return print(__doc__.split("\n")[2], file=sys.stderr) or 2
    try:
        c, document = read_certificate(path := arguments[0])
        data = samples(c, *read_data(path := arguments[1], c))
        false = sorted({name for name, holds in claims(c, document, *data) if not holds})
    except Exception as fault:
        return print(f"cannot read {path}: {fault!r:.200}", file=sys.stderr) or 2
    return print(f"false: {', '.join(false)}" if false else f"holds: {c['verdict']}") or bool(false)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
