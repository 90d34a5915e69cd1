"""Words, hashes and values as docs/reference/features.md says, in plain Python."""

import itertools
import math
import unicodedata


def murmur(data, seed=0):
    """MurmurHash3 of 32 bits (x86), as Austin Appleby published it."""

    def rotated(x, r):
        return (x << r | x >> (32 - r)) & 0xFFFFFFFF

    def scrambled(k):
        return rotated(k * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF

    h = seed
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        h ^= scrambled(int.from_bytes(data[i : i + 4], "little"))
        h = (rotated(h, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= scrambled(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def is_letter(character):
    if 0xDC80 <= ord(character) <= 0xDCFF:  # a byte that is not UTF-8
        return True
    if ord(character) < 128:
        return character.isalnum() or character == "_"
    if ord(character) >= 0x323B0:
        return False
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def lower(character):
    small = character.lower()[0]
    return chr(0x3C3) if small == chr(0x3C2) else small  # the sigma at the end of a word is a sigma


def words(data, lowercase=True):
    """Return the words of some bytes, as bytes."""
    found, word = [], ""
    for character in data.decode("utf-8", "surrogateescape") + " ":
        if is_letter(character):
            word += lower(character) if lowercase else character
        elif word:
            found.append(word.encode("utf-8", "surrogateescape"))
            word = ""
    return found


def characters(data):
    """Cut bytes into characters, as the first byte of each says."""
    found = []
    for byte in data:
        if byte & 0xC0 == 0x80 and found:
            found[-1] += bytes([byte])
        else:
            found.append(bytes([byte]))
    return found


def grams(data, word_range=(1, 1), letter_range=None, lowercase=True):
    """Return the n-grams of words and those of characters."""
    tokens = words(data, lowercase)
    of_words, of_letters = [], []
    if word_range:
        for i in range(len(tokens)):
            for n in range(word_range[0], word_range[1] + 1):
                if i + n <= len(tokens):
                    of_words.append(b" ".join(tokens[i : i + n]))
    if letter_range:
        for token in tokens:
            letters = characters(b" " + token + b" ")
            for i in range(len(letters)):
                for n in range(letter_range[0], letter_range[1] + 1):
                    if i + n <= len(letters):
                        of_letters.append(b"".join(letters[i : i + n]))
    return of_words, of_letters


def value(count, counts):
    return {"binary": 1.0, "count": float(count), "log": 1 + math.log(count)}[counts]


def text_row(data, bits=18, counts="log", normalise=True, seed=0, **options):
    """Return the row of a text as a dict from column to value."""
    total = {}
    of_words, of_letters = grams(data, **options)
    for names, own in ((of_words, seed), (of_letters, murmur(b"letters", seed))):
        found = {}
        for name in names:
            column = murmur(name, own) % (1 << bits)
            found[column] = found.get(column, 0) + 1
        for column, count in found.items():
            total[column] = total.get(column, 0.0) + value(count, counts)
    length = math.sqrt(sum(number * number for number in total.values())) if normalise else 1.0
    return {column: number / length for column, number in total.items()}


def number_column(name, bits=18):
    return murmur(name.encode()) % (1 << bits)


def category_column(name, text, bits=18):
    return murmur(text.encode(), murmur(name.encode())) % (1 << bits)


def cross_column(columns, bits=18):
    """Return the column of a cross, by the columns of its features: Fowler, Noll and Vo's prime, and exclusive or."""
    found = columns[0]
    for column in columns[1:]:
        found = (found * 16_777_619 % 2**64) ^ column
    return found % (1 << bits)


def cross(features, names, squares=()):
    """Yield the features of a cross, each as those that it is made of, given the features of each column of a row.

    Of one column every choice of different features comes once, whatever their order; of the columns in `squares` a
    feature may be chosen again.
    """
    choices = []
    for name in dict.fromkeys(names):
        chosen = itertools.combinations_with_replacement if name in squares else itertools.combinations
        choices.append(chosen(sorted(features[name]), names.count(name)))
    for parts in itertools.product(*choices):
        yield [feature for part in parts for feature in part]
