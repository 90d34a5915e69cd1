"""Learn from a stream of mails: predict each one, then learn from its label. New words appear all the time."""

import random

from rosenblatt import AROW

random.seed(0)
WORDS = {
    "spam": ["free", "prize", "winner", "click", "cash", "offer", "urgent", "money"],
    "ham": ["meeting", "lunch", "report", "thanks", "agenda", "project", "home", "money"],
}

model, mistakes = AROW(), 0
for number in range(1, 1001):
    kind = random.choice(["spam", "ham"])
    mail = dict.fromkeys([*random.choices(WORDS[kind], k=4), f"name{random.randrange(500)}"], 1.0)
    if number > 2 and model.predict_one(mail) != kind:
        mistakes += 1
    model.learn_one(mail, kind)
    if number in (10, 100, 1000):
        print(f"after {number:4} mails: {mistakes} mistakes, {model.n_features_in_} words")
