"""Check a certificate: python check_certificate.py certificate.json data.csv (a CSV without header, the label last).

Standard library only, exact fractions; exit code 0 if every claim holds. Explained in docs/reference/certificates.md.
"""
# ruff: noqa: D103, E401, I001, N817, SIM115

import csv, json, struct, sys
from fractions import Fraction as F
from hashlib import sha256


def real(text):  # a fraction of integers, or a float in hexadecimal
    return F(*(int(v, 0) for v in text.split("/"))) if "/" in text else F(float.fromhex(text))


def dot(u, v):
    return sum(a * b for a, b in zip(u, v, strict=True))


def mean(pairs):
    return [sum(k * z[j] for k, z in pairs) / F(sum(k for k, _ in pairs)) for j in range(len(pairs[0][1]))]


def rank(rows, p=2**61 - 1):  # modulo a prime, which never gives too much
    rows, found = [[v.numerator * pow(v.denominator, -1, p) % p for v in row] for row in rows], 0
    while row := next(filter(any, rows), None):
        j = next(j for j, v in enumerate(row) if v)
        rows, found = [[(a * row[j] - r[j] * b) % p for a, b in zip(r, row, strict=True)] for r in rows], found + 1
    return found


def claims(c, table):
    yield "seal", c.pop("seal") == sha256(json.dumps(c, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    yield "format", c["version"] == 1 and c["arithmetic"] in ("binary", "decimal")
    names, values = [str(k).removesuffix(".0") for k in c["classes"]], [[float(v) + 0.0 for v in x] for *x, _ in table]
    n, d, C, one = len(values), len(values[0]), len(names), c["classes"][0] is None
    y = [names.index(row[-1].removesuffix(".0"), one) for row in table]
    code = sha256(f"rosenblatt\n{c['layout']}\n{n}\n{d}\n".encode() + struct.pack(f"<{n}q", *y))
    for row in values:
        used = [j for j, v in enumerate(row) if v or c["layout"] == "dense"]
        head = [len(used), *used] if c["layout"] == "sparse" else []
        code.update(struct.pack(f"<{len(head)}Q{len(used)}d", *head, *(row[j] for j in used)))
    yield "data", c["digest"] == code.hexdigest() and c["shape"] == [n, d] and {*y} == {*range(one, C)}
    X = [[*(F(repr(v)) if c["arithmetic"] == "decimal" else F(v) for v in row), F(1)] for row in values]
    keys = [(i, r) for i in range(n) for r in range(C) if r != y[i]]  # signed rows: a sample against a rival class
    Z = {(i, r): [((k == y[i]) - (k == r)) * v for k in range(1, C) for v in X[i]] for i, r in keys}
    yield "radius", 1 <= real(c["radius"]) ** 2 / max(dot(x, x) for x in X) <= 1 + F(1, 10**8)
    w, null = [real(v) for v in c["vector"] or []], [[int(v, 0) for v in u] for u in c["null_basis"]]
    height = {key: dot(Z[key], w) for key in keys if w}
    yield "separator", min(height.values(), default=0) >= 0 and any(height.values()) == bool(w)
    yield "boundary", c["boundary"] == sorted({i for (i, r), h in height.items() if h == 0})
    S = [(int(m, 0), Z[i, r]) for m, i, r in zip(c["multipliers"], c["support"], c["rivals"], strict=True)]
    yield "multipliers", all(m > 0 for m, _ in S) and (not S or not any(mean(S)))
    plus = [pair for pair, i in zip(S, c["support"], strict=True) if C == 2 and y[i]]
    yield "point", [real(v) for v in c["point"]] == [F(float(v)) for v in (mean(plus)[:d] if plus else [])]
    yield "null basis", rank(null) == len(null) and not any(dot(z, u) for z in Z.values() for u in null)
    yield "verdict", c["verdict"] == ("overlapping" if not w else "quasi-separable" if S else "separable")
    yield "proof", (S or not c["boundary"]) and (not null if w else rank([z for _, z in S]) + len(null) == len(S[0][1]))
    for name, size, sides in (("margin", d, [[0], [1]]), ("augmented", d + 1, [[0, 1]])):
        if (b := c[name]) and not (one and name == "margin" and b["upper"] == "inf"):
            u, own = [real(v) for v in b["w"]], [[i for i in range(n) if y[i] in side] for side in sides]
            low = sum(min(dot(Z[i, 1 - y[i]], u) for i in rows) for rows in own) / len(own)
            yield name, C == 2 and low > 0 and real(b["lower"]) ** 2 * dot(u[:size], u[:size]) <= low**2
            pairs = [(real(k), i) for k, i in zip(b["weights"], b["rows"], strict=True)]
            means = [mean([(k, Z[i, 1 - y[i]]) for k, i in pairs if i in rows]) for rows in own if pairs]
            gap = [sum(column) / len(own) for column in zip(*means, strict=True)]
            yield name, b["upper"] == "inf" or (min(pairs)[0] > 0 and dot(gap, gap) <= real(b["upper"]) ** 2)
    yield "mistake bound", c["mistake_bound"] == (b and str(real(c["radius"]) ** 2 // real(b["lower"]) ** 2))


if __name__ == "__main__":
    try:
        certificate, table = (open(path, encoding="utf-8") for path in sys.argv[1:])
        faults = [name for name, holds in claims(json.load(certificate), [*csv.reader(table)]) if not holds]
    except Exception as error:
        faults = [repr(error)]
    sys.exit("rejected: " + ", ".join(faults) if faults else 0)
