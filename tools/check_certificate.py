"""Check a certificate: python check_certificate.py certificate.json data.csv; see docs/reference/certificates.md."""
import csv, hashlib, json, struct, sys
from fractions import Fraction

def real(text):  # a fraction of integers, or a float in hexadecimal
    return Fraction(*(int(v, 0) for v in text.split("/"))) if "/" in text else Fraction(float.fromhex(text))

def dot(u, v):
    return sum(a * b for a, b in zip(u, v, strict=True))

def mean(pairs):  # of rows with their weights
    columns = zip(*([k * v for v in z] for k, z in pairs), strict=True)
    return [sum(column) / Fraction(sum(k for k, _ in pairs)) for column in columns]

def rank(rows, p=2**61 - 1):  # modulo a prime, which never gives too much
    rows, found = [[v.numerator * pow(v.denominator, -1, p) % p for v in row] for row in rows], 0
    while row := next(filter(any, rows), None):
        j = next(j for j, v in enumerate(row) if v)
        rows, found = [[(a * row[j] - r[j] * b) % p for a, b in zip(r, row, strict=True)] for r in rows], found + 1
    return found

def claims(c, table):
    names, values = [str(k).removesuffix(".0") for k in c["classes"]], [[float(v) + 0.0 for v in x] for *x, _ in table]
    n, d, C, one, seal = len(values), len(values[0]), len(names), c["classes"][0] is None, c.pop("seal")
    yield "seal", seal == hashlib.sha256(json.dumps(c, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    y = [names.index(row[-1].removesuffix(".0"), one) for row in table]
    code = hashlib.sha256(f"rosenblatt\n{c['layout']}\n{n}\n{d}\n".encode() + struct.pack(f"<{n}q", *y))
    for x in values:
        used = [j for j, v in enumerate(x) if v or c["layout"] == "dense"]
        head = [len(used), *used] if c["layout"] == "sparse" else []
        code.update(struct.pack(f"<{len(head)}Q{len(used)}d", *head, *(x[j] for j in used)))
    yield "data", c["digest"] == code.hexdigest() and c["shape"] == [n, d] and {*y} == {*range(one, C)}
    exact = {("binary", 1): Fraction, ("decimal", 1): lambda v: Fraction(repr(v))}[c["arithmetic"], c["version"]]
    X, others = [[*map(exact, x), Fraction(1)] for x in values], [{*range(C)} - {k} for k in y]
    Z = {(i, r): [((k == y[i]) - (k == r)) * v for k in range(1, C) for v in X[i]] for i in range(n) for r in others[i]}
    yield "radius", 1 <= real(c["radius"]) ** 2 / max(dot(x, x) for x in X) <= 1 + Fraction(1, 10**8)
    w, null = [real(v) for v in c["vector"] or []], [[int(v, 0) for v in u] for u in c["null_basis"]]
    height = {key: dot(z, w) for key, z in Z.items() if w}
    yield "vector", min(height.values(), default=0) >= 0 and any(height.values()) == bool(w)
    yield "boundary", c["boundary"] == sorted({i for (i, _), h in height.items() if h == 0})
    S = [(int(m, 0), Z[i, r], i) for m, i, r in zip(c["multipliers"], c["support"], c["rivals"], strict=True)]
    yield "multipliers", all(m > 0 for m, _, _ in S) and not any(mean([(m, z) for m, z, _ in S]))
    yield "point", c["point"] == [float(v).hex() for v in mean([(m, z) for m, z, i in S if C == 2 and y[i]])[:d]]
    yield "verdict", c["verdict"] == ("overlapping" if not w else "quasi-separable" if S else "separable")
    yield "null basis", rank(null) == len(null) and not any(dot(z, u) for z in Z.values() for u in null)
    yield "proof", not null and (S or not c["boundary"]) if w else rank([s[1] for s in S]) + len(null) == len(S[0][1])
    for name, size, sides in (("margin", d, [[0], [1]]), ("augmented", d + 1, [[0, 1]])):
        if (b := c[name]) and not (one and name == "margin" and b["upper"] == "inf"):
            u, S = [real(v) for v in b["w"]], [(real(m), Z[i, 1 - y[i]], i) for m, i in zip(b["weights"], b["rows"])]
            low = sum(min(dot(z, u) for (i, _), z in Z.items() if y[i] in side) for side in sides) / len(sides)
            gap = mean([(1, mean([(m, z) for m, z, i in S if y[i] in side])) for side in sides])
            yield name, C == 2 and low > 0 and real(b["lower"]) ** 2 * dot(u[:size], u[:size]) <= low**2
            yield name, b["upper"] == "inf" or (min(m for m, _, _ in S) > 0 and dot(gap, gap) <= real(b["upper"]) ** 2)
    yield "mistake bound", c["mistake_bound"] == (b and str(real(c["radius"]) ** 2 // real(b["lower"]) ** 2))

sys.excepthook = lambda kind, error, trace: print("rejected:", repr(error), file=sys.stderr)
certificate = json.load(open(sys.argv[1], encoding="utf-8"))
faults = [name for name, holds in claims(certificate, [*csv.reader(open(sys.argv[2], encoding="utf-8"))]) if not holds]
sys.exit("rejected: " + ", ".join(faults) if faults else print("holds:", certificate["verdict"]))
