"""The oracle: the algorithms as the lectures write them, in plain Python, slow and readable.

Vectors are lists, nothing is compiled, nothing is clever. The compiled engine must agree with this file.
"""


def score(w, b, x):
    """f(x) = w.x + b."""
    return sum(wj * xj for wj, xj in zip(w, x, strict=True)) + b


def perceptron(rows, labels, orders, *, rates=None, w0=None, b0=0, bias=1, weights=None):
    """Perceptron algorithm: for each epoch's order, update on y f(x) <= 0. Returns w, b and mistakes per epoch."""
    w = list(w0) if w0 is not None else [0] * len(rows[0])
    b = b0
    mistakes = []
    for epoch, order in enumerate(orders):
        eta = 1 if rates is None else rates[epoch]
        mistakes.append(0)
        for i in order:
            x, y = rows[i], labels[i]
            if y * score(w, b, x) <= 0:
                step = eta * (1 if weights is None else weights[i])
                w = [wj + step * y * xj for wj, xj in zip(w, x, strict=True)]
                b = b + bias * step * y
                mistakes[-1] += 1
    return w, b, mistakes


def batch_perceptron(rows, labels, epochs, eta=1):
    """Batch perceptron: one update per epoch by the sum of y x over all misclassified rows."""
    w, b = [0] * len(rows[0]), 0
    for _ in range(epochs):
        wrong = [i for i, x in enumerate(rows) if labels[i] * score(w, b, x) <= 0]
        w = [wj + eta * sum(labels[i] * rows[i][j] for i in wrong) for j, wj in enumerate(w)]
        b = b + eta * sum(labels[i] for i in wrong)
    return w, b


def one_vs_all(rows, classes, n_classes, orders):
    """One perceptron per class against the rest."""
    return [perceptron(rows, [1 if c == k else -1 for c in classes], orders) for k in range(n_classes)]


def one_vs_one(rows, classes, n_classes, orders):
    """One perceptron per pair k < l, on the rows of the two only: k positive, l negative."""
    pairs = [(k, m) for k in range(n_classes) for m in range(k + 1, n_classes)]
    return [
        perceptron(
            rows,
            [1 if c == k else -1 for c in classes],
            [[i for i in order if classes[i] in (k, m)] for order in orders],
        )
        for k, m in pairs
    ]


def joint(rows, classes, n_classes, orders):
    """Ultraconservative perceptron: if another class scores as high, reward the true class, punish the best wrong."""
    W = [[0] * len(rows[0]) for _ in range(n_classes)]
    b = [0] * n_classes
    mistakes = []
    for order in orders:
        mistakes.append(0)
        for i in order:
            x, c = rows[i], classes[i]
            scores = [score(W[k], b[k], x) for k in range(n_classes)]
            wrong = max((k for k in range(n_classes) if k != c), key=lambda k: scores[k])
            if scores[c] <= scores[wrong]:
                W[c] = [wj + xj for wj, xj in zip(W[c], x, strict=True)]
                W[wrong] = [wj - xj for wj, xj in zip(W[wrong], x, strict=True)]
                b[c] += 1
                b[wrong] -= 1
                mistakes[-1] += 1
    return W, b, mistakes


def elect_one_vs_one(vectors, n_classes, x):
    """Predict argmax over k of the sum over l of the signed scores of k against l."""
    pairs = [(k, m) for k in range(n_classes) for m in range(k + 1, n_classes)]
    total = [0] * n_classes
    for (k, m), (w, b, _) in zip(pairs, vectors, strict=True):
        total[k] += score(w, b, x)
        total[m] -= score(w, b, x)
    return max(range(n_classes), key=lambda k: total[k])


def kernel_perceptron(objects, labels, kernel, orders):
    """Perceptron in the dual: alpha_i counts the mistakes on x_i, with f = sum of alpha_i y_i k(x_i, .).

    Returns alpha, the mistakes per epoch, and alpha after each trial.
    """
    alpha, mistakes, history = [0] * len(objects), [], []
    for order in orders:
        mistakes.append(0)
        for i in order:
            if labels[i] * dual_score(alpha, objects, labels, kernel, objects[i]) <= 0:
                alpha[i] += 1
                mistakes[-1] += 1
            history.append(list(alpha))
    return alpha, mistakes, history


def dual_score(alpha, objects, labels, kernel, x):
    """f(x) = sum of alpha_i y_i k(x_i, x)."""
    return sum(a * y * kernel(z, x) for a, y, z in zip(alpha, labels, objects, strict=True) if a)


def forgetron(objects, labels, kernel, budget):
    """Self-tuned Forgetron of Dekel et al. (2008), one pass. Returns the active rows, oldest first, and weights."""
    active, weight, damage, mistakes = [], {}, 0.0, 0

    def f(x):
        return sum(weight[i] * labels[i] * kernel(objects[i], x) for i in active)

    for t, (x, y) in enumerate(zip(objects, labels, strict=True)):
        if y * f(x) > 0:
            continue
        mistakes += 1
        active.append(t)
        weight[t] = 1.0
        if len(active) > budget:
            r = active[0]
            mu, own = labels[r] * f(objects[r]), kernel(objects[r], objects[r])

            def psi(phi, sigma=weight[r], mu=mu, own=own):
                return (phi * sigma) ** 2 * own + 2 * phi * sigma - 2 * phi * sigma * phi * mu

            allowed = 15 / 32 * mistakes
            phi = 1.0
            if damage + psi(1.0) > allowed:
                low, high = 0.0, 1.0
                for _ in range(200):  # the largest admissible factor, by bisection
                    middle = (low + high) / 2
                    low, high = (middle, high) if damage + psi(middle) <= allowed else (low, middle)
                phi = low
            damage += psi(phi)
            for i in active:
                weight[i] *= phi
            active.pop(0)
    return active, [weight[i] * labels[i] for i in active]
