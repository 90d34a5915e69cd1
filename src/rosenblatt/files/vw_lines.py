"""Lines of Vowpal Wabbit's text format: label, importance, base and tag, then namespaces of features.

A text is an array of bytes whose last one is a newline, and no loop passes a newline. Hashes are those of Vowpal
Wabbit: a name of digits alone is its number plus the seed; of others, MurmurHash3 of 32 bits. It stands here once more
(`tokens` has it, too), because compiled files do not import one another. Numbers that are not short decimals are
left to the caller.
"""

import numpy as np

from rosenblatt.engine.jit import compiled

U = np.uint64
SHORT = 15  # digits of a number below 2^53, whatever they are
TENS = np.array([10.0**k for k in range(SHORT + 1)])
NO_FAULT, NO_BAR, BAD_HEAD, BAD_SPACE, BAD_FEATURE = 0, 1, 2, 3, 4
# Kinds of bytes: those that end a name, of which a colon is one, and those that end a number.
OTHER, ENDS_BOTH, ENDS_NAME = 0, 1, 2
KIND = np.zeros(256, np.uint8)
KIND[[32, 9, 10, 13, 124]] = ENDS_BOTH  # space, tab, newline, carriage return, bar
KIND[58] = ENDS_NAME
POINT, COLON, SPACE, NEWLINE = 46 - 48, 58 - 48, 32 - 48, 10 - 48  # bytes after digits, as digits
MOST_WORDS = 3  # before the bar, without the tag

_word = U(0xFFFFFFFF)
_c1, _c2, _c3, _c4 = U(0xCC9E2D51), U(0x1B873593), U(0x85EBCA6B), U(0xC2B2AE35)


@compiled()
def _scrambled(k):
    k = k * _c1 & _word
    return (k << U(15) | k >> U(17)) * _c2 & _word


@compiled()
def _murmur(text, begin, end, seed):
    h, i = seed & _word, begin
    while i + 4 <= end:
        k = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16) | U(text[U(i + 3)]) << U(24)
        h ^= _scrambled(k)
        h = ((h << U(13) | h >> U(19)) & _word) * U(5) + U(0xE6546B64) & _word
        i += 4
    k = U(0)
    for place in range(i, end):
        k |= U(text[U(place)]) << U(8 * (place - i))
    h ^= _scrambled(k)
    h ^= U(end - begin) & _word
    h = (h ^ h >> U(16)) * _c3 & _word
    h = (h ^ h >> U(13)) * _c4 & _word
    return h ^ h >> U(16)


@compiled()
def _read_name(text, i, seed):
    """Return where the name at i ends, and its hash."""
    begin, number, digits = i, U(0), True
    byte = text[U(i)]
    while KIND[U(byte)] == OTHER:
        digits &= 48 <= byte <= 57
        number = number * U(10) + U(byte - 48)
        i += 1
        byte = text[U(i)]
    return i, number + seed if digits else _murmur(text, begin, i, seed)


@compiled()
def _read_short(text, i):
    """Read a short decimal at i that a space, a bar or the line ends: its value, and where it ends, or -1."""
    negative = text[U(i)] == 45
    i += negative
    begin, w, places = i, 0, 0
    digit = np.int64(text[U(i)]) - 48
    while 0 <= digit <= 9:
        w = w * 10 + digit
        i += 1
        digit = np.int64(text[U(i)]) - 48
    if digit == -2:
        i += 1
        begin += 1
        point = i
        digit = np.int64(text[U(i)]) - 48
        while 0 <= digit <= 9:
            w = w * 10 + digit
            i += 1
            digit = np.int64(text[U(i)]) - 48
        places = i - point
    if i == begin or i - begin > SHORT or KIND[U(text[U(i)])] != ENDS_BOTH:
        return 0.0, -1
    value = w / TENS[U(places)]
    return -value if negative else value, i


@compiled()
def _value_end(text, i):
    """Return where a value ends that is not a short number, and whether it is text."""
    byte, three = text[U(i)], 0
    if KIND[U(byte)] != ENDS_BOTH and KIND[U(text[U(i + 1)])] == OTHER:
        three = (np.int64(byte | 32) << 16) | (np.int64(text[U(i + 1)] | 32) << 8) | np.int64(text[U(i + 2)] | 32)
    number = 48 <= byte <= 57 or byte == 43 or byte == 45 or byte == 46 or three == 0x696E66 or three == 0x6E616E
    if number:  # or inf, or nan
        while KIND[U(text[U(i)])] != ENDS_BOTH:
            i += 1
    else:
        while text[U(i)] != 32 and text[U(i)] != 9 and text[U(i)] != 10 and text[U(i)] != 13:
            i += 1
    return i, not number


@compiled()
def _head_limits(text, i):
    """Return where the part before the bar begins, of a line that begins at i, and where the bar is, or -1."""
    bar = begin = i
    while text[U(bar)] != 124:
        if text[U(bar)] == 10:
            return i, -1
        if text[U(bar)] == 9 and begin == i:  # up to the first tab nothing counts
            begin = bar + 1
        bar += 1
    return begin, bar


@compiled()
def _read_head(text, i, row, label, weight):
    """Read what is before the bar of a line that begins at i; return where the bar is, and what is wrong.

    `label` and `weight` receive where each begins and ends; the same place twice if there is none.
    """
    i, bar = _head_limits(text, i)
    if bar < 0:
        return i, NO_BAR
    label[row, 0] = label[row, 1] = weight[row, 0] = weight[row, 1] = i
    words = 0
    while i < bar:
        if text[U(i)] == 32:
            i += 1
            continue
        begin = i
        while i < bar and text[U(i)] != 32:
            i += 1
        rest = i
        while rest < bar and text[U(rest)] == 32:
            rest += 1
        if i == bar or (rest == bar and text[U(begin)] == 39):  # the tag
            break
        if words == MOST_WORDS:
            return begin, BAD_HEAD
        if words == 0:
            label[row, 0], label[row, 1] = begin, i
        elif words == 1:
            weight[row, 0], weight[row, 1] = begin, i
        words += 1
    return bar, NO_FAULT


@compiled()
def _note(others, place, begin, end):
    count = others[0, 0] + 1
    others[0, 0] = count
    others[count, 0], others[count, 1], others[count, 2] = place, begin, end


@compiled()
def _read_pairs(text, i, mask, seed, factor, k, column, value):
    """Read features from i on as long as name and value are short numbers; return where that ends, and entries so far.

    Most files of numbers have nothing else, and a short loop reads these faster than the functions for any feature.
    """
    while text[U(i)] == 32:
        begin = i
        i += 1
        index, digit = 0, np.int64(text[U(i)]) - 48
        while 0 <= digit <= 9:
            index = index * 10 + digit
            i += 1
            digit = np.int64(text[U(i)]) - 48
        if digit != COLON or i == begin + 1 or i - begin > SHORT:
            return begin, k
        i += 1
        negative = text[U(i)] == 45
        i += negative
        start, w, places = i, 0, 0
        digit = np.int64(text[U(i)]) - 48
        while 0 <= digit <= 9:
            w = w * 10 + digit
            i += 1
            digit = np.int64(text[U(i)]) - 48
        if digit == POINT:
            i += 1
            start += 1
            point = i
            digit = np.int64(text[U(i)]) - 48
            while 0 <= digit <= 9:
                w = w * 10 + digit
                i += 1
                digit = np.int64(text[U(i)]) - 48
            places = i - point
        if (digit != SPACE and digit != NEWLINE) or i - start > SHORT or i == start:
            return begin, k
        number = w / TENS[U(places)]
        number = (-number if negative else number) * factor
        column[U(k)], value[U(k)] = np.int64(U(index) + seed & mask), number
        k += number != 0.0  # zeros are left out
    return i, k


# One argument for each array: Numba would pass a bundle of them array by array, too.
@compiled()
def _read_features(text, i, mask, seed, factor, k, column, value, spans, space, others):
    """Read the features of a namespace from i on, as entries from k on: where they end, their number, what is wrong.

    Zeros are left out. Numbers that are not short decimals are noted in `others`.
    """
    anonymous = U(0)
    while text[U(i)] == 32 or text[U(i)] == 9:
        if (spans.size == 0) & (48 <= text[U(i + 1)] <= 57):
            before = i
            i, k = _read_pairs(text, i, mask, seed, factor, k, column, value)
            if i > before:
                continue
        i += 1
        begin = i
        kind = KIND[U(text[U(i)])]
        if kind == ENDS_BOTH:
            continue
        i, h = _read_name(text, i, seed)
        end, number, long = i, factor, -1
        if text[U(i)] == 58:
            number, after = _read_short(text, i + 1)
            number *= factor
            if after < 0:
                after, is_text = _value_end(text, i + 1)
                if after == i + 1:
                    return begin, k, BAD_FEATURE
                if is_text:
                    h, end, number, kind = _murmur(text, i + 1, after, h), after, 1.0, OTHER
                else:
                    number, long = factor, i + 1
            i = after
        if kind == ENDS_NAME:  # no name: features are numbered
            h, end = seed + anonymous, begin - 1 - np.int64(anonymous)
            anonymous += U(1)
        if number == 0.0:
            continue
        if long >= 0:
            _note(others, k, long, i)
        column[U(k)], value[U(k)] = np.int64(h & mask), number
        if spans.size:
            spans[U(k), 0], spans[U(k), 1], spans[U(k), 2] = begin, end, space
        k += 1
    return i, k, NO_FAULT if KIND[U(text[U(i)])] == ENDS_BOTH else BAD_FEATURE


@compiled()
def _read_spaces(text, i, mask, k, column, value, spans, spaces, others):
    """Read the namespaces of a line from its first bar on: where they end, entries so far, what is wrong."""
    while text[U(i)] == 124:
        i += 1
        begin, seed, factor, fault = i, U(0), 1.0, NO_FAULT
        if KIND[U(text[U(i)])] == ENDS_NAME:
            return i, k, BAD_SPACE
        name_end = i
        if KIND[U(text[U(i)])] == OTHER:
            i, seed = _read_name(text, i, U(0))
            name_end = i
            if text[U(i)] == 58:
                factor, after = _read_short(text, i + 1)
                if after < 0:
                    return i + 1, k, BAD_SPACE
                i = after
        if spans.size:
            count = spaces[0, 0] + 1
            spaces[0, 0] = count
            spaces[count, 0], spaces[count, 1] = begin, name_end
        i, k, fault = _read_features(
            text, i, mask, seed, factor, k, column, value, spans, np.int64(spaces[0, 0]), others
        )
        if fault != NO_FAULT:
            return i, k, fault
    while text[U(i)] == 13:
        i += 1
    return i, k, NO_FAULT if text[U(i)] == 10 else BAD_FEATURE


@compiled()
def read_vw(text, start, mask, label, weight, line, indptr, column, value, spans, spaces, others):
    """Read lines until the end or the first fault.

    One argument for each array: Numba would pass a bundle of them array by array, too.

    Parameters
    ----------
    text : uint8 array
        Whole lines: the last byte is a newline.
    start : (int, int, int)
        Where to begin: a byte at the start of a line, the number of that line, and the rows read so far.
    mask : int
        Number of columns, less one.
    label, weight : int arrays of shape (n, 2)
        Receive spans of the text; empty ones where there is none.
    line, indptr : arrays with a place for each line, and one more
    column, value : arrays
        With a place for each two bytes of the text.
    spans : int array of shape (n, 3), or (0, 3) if names are not wanted
        Receives start and end of each feature's name, and the number of its namespace in `spaces`, from 1. A feature
        without a name is numbered, from 0: it ends so many bytes, and one more, before its start.
    spaces : int array of shape (n, 2)
        Receives start and end of each namespace's name; its first place counts the others.
    others : int array of shape (n, 3)
        Receives entry, start and end of each number that is not short; its first place counts the others.

    Returns
    -------
    rows, place, number, fault
        Rows so far; where the faulty piece begins, or the end of the text; the number of the line there; what is wrong.
    """
    i, number, row = start
    end, k, mask = text.size, np.int64(indptr[row]), U(mask)
    while i < end:
        if text[U(i)] == 10 or (text[U(i)] == 13 and text[U(i + 1)] == 10):
            i += 1 if text[U(i)] == 10 else 2
            number += 1
            continue
        noted = others[0, 0]
        i, fault = _read_head(text, i, row, label, weight)
        if fault == NO_FAULT:
            i, k, fault = _read_spaces(text, i, mask, k, column, value, spans, spaces, others)
        if fault != NO_FAULT:
            others[0, 0] = noted
            return row, i, number, fault
        line[row] = number
        row += 1
        indptr[row] = k
        i += 1
        number += 1
    return row, end, number, NO_FAULT
