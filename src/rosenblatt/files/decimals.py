"""Decimal numbers in text, rounded correctly.

Numbers of up to 19 digits are turned into the nearest float64 here: by one exact operation if numerator and power of
ten are exact (Clinger 1990), else by a product of 128 bits (Lemire 2021). Longer ones are left to Python's float.

A text is an array of bytes whose last one is a newline. No loop passes a newline, so that none reads beyond the text.
Indices are cast to unsigned, because Numba would check for negative ones at each byte.
"""

import numpy as np

from rosenblatt.engine.jit import compiled

FINE, MALFORMED, LONG = 0, 1, 2  # a number, something else, a number of too many digits

EXACT_POWER = 22  # 10^22 is the largest power of ten that is a float64
EXACT_NUMBER = 1 << 53
SMALLEST_POWER, LARGEST_POWER = -342, 308
MAX_DIGITS = 18  # of an integer that always fits int64
SHORT = 15  # digits of an integer that is always below 2^53
POINT, COLON, SPACE, NEWLINE = 46 - 48, 58 - 48, 32 - 48, 10 - 48  # bytes after digits, as digits
U = np.uint64
MANY = 100_000  # an exponent beyond all that make a difference
TENS = np.array([10.0**k for k in range(EXACT_POWER + 1)])
TWOS = np.array([2.0**k for k in range(-1074, 1024)])


def _powers_of_five():
    """Return the highest 128 bits of 5^q for each q, as two words each: rounded down, or up where q is negative."""
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), np.uint64)
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        if q >= 0:
            power = 5**q
            shift = power.bit_length() - 128
            power = power >> shift if shift >= 0 else power << -shift
        else:
            divisor = 5**-q
            power = (1 << (divisor.bit_length() + 127)) // divisor + 1
        table[q - SMALLEST_POWER] = power >> 64, power & ((1 << 64) - 1)
    return table


FIVES = _powers_of_five()

_half = np.uint64(0xFFFFFFFF)
_one, _three, _word, _bits32, _carry = np.uint64(1), np.uint64(3), np.uint64(2**64 - 1), np.uint64(32), np.uint64(63)


@compiled()
def _product(a, b):
    """Return the upper and the lower word of a product of two words."""
    al, ah, bl, bh = a & _half, a >> _bits32, b & _half, b >> _bits32
    low, one, other = al * bl, ah * bl, al * bh
    middle = (low >> _bits32) + (one & _half) + (other & _half)
    high = ah * bh + (one >> _bits32) + (other >> _bits32) + (middle >> _bits32)
    return high, (middle << _bits32) | (low & _half)


@compiled()
def _leading_zeros(w):
    count = np.uint64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - step) == 0:
            w <<= np.uint64(step)
            count += np.uint64(step)
    return count


@compiled()
def _nearest(w, q):
    """Return the float64 nearest to w 10^q for an integer w of 64 bits (Lemire 2021, algorithm 1)."""
    if w == 0 or q < SMALLEST_POWER:
        return 0.0
    if q > LARGEST_POWER:
        return np.inf
    zeros = _leading_zeros(w)
    w <<= zeros
    high, low = _product(w, FIVES[q - SMALLEST_POWER, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):  # the second word may change the bits that matter
        more, _ = _product(w, FIVES[q - SMALLEST_POWER, 1])
        low += more
        high += np.uint64(low < more)
    upper = high >> _carry
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217706 * q) >> 16) + 63 + np.int64(upper) - np.int64(zeros) + 1023
    if exponent <= 0:  # below the normal numbers
        if 1 - exponent >= 64:
            return 0.0
        mantissa >>= np.uint64(1 - exponent)
        mantissa = (mantissa + (mantissa & _one)) >> _one
        return np.float64(mantissa) * TWOS[0]
    half_way = low <= _one and -4 <= q <= 23 and mantissa & _three == _one
    if half_way and mantissa << shift == high:
        mantissa &= ~_one
    mantissa = (mantissa + (mantissa & _one)) >> _one
    if mantissa >= np.uint64(1 << 53):
        mantissa = np.uint64(1 << 52)
        exponent += 1
    if exponent >= 2047:
        return np.inf
    return np.float64(mantissa) * TWOS[exponent - 1]


@compiled()
def _exponent(text, i):
    """Return the number after an e and where it ends; -1 if it is missing."""
    negative = text[U(i)] == 45
    i += negative or text[U(i)] == 43
    begin, power = i, 0
    digit = np.int64(text[U(i)]) - 48
    while 0 <= digit <= 9:
        power = min(power * 10 + digit, MANY)
        i += 1
        digit = np.int64(text[U(i)]) - 48
    return -power if negative else power, i if i > begin else -1


@compiled()
def _significant(text, begin, stop, power):
    """Return the number nearest to the many digits in [begin, stop), and FINE or LONG."""
    w, digits = np.uint64(0), 0
    for i in range(begin, stop):
        if text[i] != 46 and (digits > 0 or text[i] != 48):
            digits += 1
            if digits > MAX_DIGITS + 1:
                return 0.0, LONG
            w = w * np.uint64(10) + np.uint64(text[i] - 48)
    return _nearest(w, power), FINE


@compiled()
def decimal(text, i):
    """Read a decimal number that begins at i: its value, the first byte after it, and FINE, MALFORMED or LONG."""
    negative = text[U(i)] == 45
    i += negative or text[U(i)] == 43
    begin, w = i, 0
    digit = np.int64(text[U(i)]) - 48
    while 0 <= digit <= 9:
        w = w * 10 + digit
        i += 1
        digit = np.int64(text[U(i)]) - 48
    digits, power = i - begin, 0
    if digit == POINT:
        i += 1
        point = i
        digit = np.int64(text[U(i)]) - 48
        while 0 <= digit <= 9:
            w = w * 10 + digit
            i += 1
            digit = np.int64(text[U(i)]) - 48
        power = point - i
        digits -= power
    if digits == 0:
        return 0.0, i, MALFORMED
    stop, fault = i, FINE
    if text[U(i)] | 32 == 101:
        shift, i = _exponent(text, i + 1)
        if i < 0:
            return 0.0, stop, MALFORMED
        power += shift
    if digits > MAX_DIGITS:
        value, fault = _significant(text, begin, stop, power)
    elif w <= EXACT_NUMBER and -EXACT_POWER <= power <= EXACT_POWER:
        value = w * TENS[U(power)] if power >= 0 else w / TENS[U(-power)]
    else:
        value = _nearest(np.uint64(w), power)
    return -value if negative else value, i, fault


@compiled()
def read_pairs(text, i, shift, mask, first, end, factor, zeros, k, indices, values):
    """Read pairs of index:value after single spaces until one is not plain; return where that is, and entries so far.

    Plain are indices and values of few digits, without an exponent. An index plus `shift`, and `mask`, is plain from
    `first` and below `end`, and the column is counted from `first`. Values are multiplied by `factor`, and only with
    `zeros` is a zero kept. The numbers are read here, not by a function: a call takes 1.7 times as long, inlined or
    not.
    """
    while text[U(i)] == 32:
        begin = i
        i += 1
        index, digit = 0, np.int64(text[U(i)]) - 48
        while 0 <= digit <= 9:
            index = index * 10 + digit
            i += 1
            digit = np.int64(text[U(i)]) - 48
        column = U(index) + shift & mask
        if digit != COLON or i - begin > SHORT or i == begin + 1 or column < first or column >= end:
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
        value = w / TENS[U(places)] * factor
        indices[U(k)], values[U(k)] = np.int64(column - first), -value if negative else value
        k += zeros or value != 0.0
    return i, k


@compiled()
def note_number(notes, place, begin, end):
    """Note that the number in [begin, end) belongs to a place, to read it later; the first note counts the others."""
    count = notes[0, 0] + 1
    notes[0, 0] = count
    notes[count, 0], notes[count, 1], notes[count, 2] = place, begin, end


@compiled()
def read_numbers(text, start, end, number, fault):
    """Read the number in each span of the text; `fault` receives FINE, MALFORMED or LONG.

    Returns how many are not FINE.
    """
    faults = 0
    for k in range(start.size):
        value, i, code = decimal(text, start[k])
        if i != end[k]:
            code = MALFORMED
        number[k], fault[k] = value, code
        faults += code != FINE
    return faults
