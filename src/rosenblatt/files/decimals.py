"""Decimal numbers in text, rounded correctly, and the rows of svmlight, which are little else.

Up to 19 digits are turned into the nearest float64 here: by one exact operation where numerator and power of ten
are exact (Clinger 1990), else by a product of 128 bits (Lemire 2021). Longer numbers are left to Python's float: the
loops note where they are.

A text is an array of bytes whose last one is a newline. No loop passes a newline while it reads a number or a line, so
that none reads beyond the text. Indices are cast to unsigned, because Numba would look for negative ones at each byte.
"""

import numpy as np

from rosenblatt.engine.jit import compiled

# What a loop that reads numbers says of a piece of text.
FINE, MALFORMED, LONG = 0, 1, 2
# Why a line was refused.
NO_FAULT, BAD_LABEL, BAD_PAIR, BAD_VALUE, OUTSIDE, INFINITE = 0, 1, 2, 3, 4, 5

EXACT_POWER = 22  # 10^22 is the largest power of ten that is a float64
EXACT_NUMBER = 1 << 53
SMALLEST_POWER, LARGEST_POWER = -342, 308
MAX_DIGITS = 18  # of a number that fits int64 whatever its digits
SHORT = 15  # digits of a number below 2^53, whatever they are
POINT, COLON, SPACE, NEWLINE = 46 - 48, 58 - 48, 32 - 48, 10 - 48  # bytes after digits, as digits
U = np.uint64
MANY = 100_000  # an exponent beyond all that matter
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
    """Return the number after an e and where it ends; -1 if there is none."""
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
def read_numbers(text, start, end, number, fault):
    """Read the number that each span of the text is; `fault` says which are FINE, MALFORMED or LONG.

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


@compiled()
def read_plain_table(text, delimiter, out):
    """Read rows of numbers between delimiters; return how many, or -1 if something else is there.

    `out` has a row for each line. The text is whole lines.
    """
    i, row, width = 0, 0, out.shape[1]
    while i < text.size:
        for field in range(width):
            value, i, code = decimal(text, i)
            if code != FINE or not abs(value) < np.inf:
                return -1
            if field == width - 1 and text[U(i)] == 13:
                i += 1
            if text[U(i)] != (10 if field == width - 1 else delimiter):
                return -1
            out[row, field] = value
            i += 1
        row += 1
    return row


# ------------------------------------------------------------------------------------------------------- svmlight
# Most pairs are short numbers between single spaces, and a short loop reads these. It leaves all others, one at a
# time, to a careful function.


@compiled()
def _is_blank(byte):
    return byte == 32 or byte == 9 or byte == 13


@compiled()
def _ends_word(byte):
    return byte == 32 or byte == 9 or byte == 13 or byte == 10 or byte == 35


@compiled()
def _after_query(text, i):
    """Return where a word qid:7 that begins at i ends, or -1 if it is none."""
    for byte in (113, 105, 100, 58):
        if text[i] != byte:
            return -1
        i += 1
    begin = i
    while 48 <= text[i] <= 57:
        i += 1
    return i if i > begin and _ends_word(text[i]) else -1


@compiled()
def _read_label(text, i, optional):
    """Read the label at i: its value, where reading goes on, FINE or MALFORMED or LONG."""
    value, after, code = decimal(text, i)
    if code != MALFORMED and _ends_word(text[after]):
        return value, after, code
    if optional and (text[after] == 58 or text[i] == 113):  # the line begins with a pair or a query
        return np.nan, i, FINE
    return 0.0, i, MALFORMED


@compiled()
def _read_plain_pairs(text, i, first, width, k, last, indices, values):
    """Read pairs as long as they are plain.

    Returns where that ends, the number of entries, the last column, and whether columns rise.
    """
    rising = True
    while text[U(i)] == 32:
        begin = i
        i += 1
        index, digit = 0, np.int64(text[U(i)]) - 48
        while 0 <= digit <= 9:
            index = index * 10 + digit
            i += 1
            digit = np.int64(text[U(i)]) - 48
        column = index - first
        if digit != COLON or i - begin - 2 >= MAX_DIGITS or i == begin + 1 or U(column) >= U(width):
            return begin, k, last, rising
        i += 1
        negative = text[U(i)] == 45
        i += negative
        start, w = i, 0
        digit = np.int64(text[U(i)]) - 48
        while 0 <= digit <= 9:
            w = w * 10 + digit
            i += 1
            digit = np.int64(text[U(i)]) - 48
        places = 0
        if digit == POINT:
            i += 1
            point = i
            digit = np.int64(text[U(i)]) - 48
            while 0 <= digit <= 9:
                w = w * 10 + digit
                i += 1
                digit = np.int64(text[U(i)]) - 48
            places = i - point
            start += 1
        if (digit != SPACE and digit != NEWLINE) or i - start >= SHORT or i == start:
            return begin, k, last, rising
        value = w / TENS[U(places)]
        rising &= column > last
        last = column
        indices[U(k)], values[U(k)] = column, -value if negative else value
        k += 1
    return i, k, last, rising


@compiled()
def _read_pair(text, i, first, width):
    """Read index:value at i: column, value, where it ends, and what is wrong; a LONG value has the fault -1."""
    begin, index = i, 0
    while 48 <= text[i] <= 57:
        index = index * 10 + np.int64(text[i]) - 48
        i += 1
    if i == begin or text[i] != 58:
        return 0, 0.0, begin, BAD_PAIR
    column = index - first
    if i - begin > MAX_DIGITS or column < 0 or column >= width:
        return 0, 0.0, begin, OUTSIDE
    value, i, code = decimal(text, i + 1)
    if code == MALFORMED or not _ends_word(text[i]):
        return 0, 0.0, begin, BAD_VALUE
    if code == LONG:
        return column, value, i, -1
    return column, value, i, NO_FAULT if abs(value) < np.inf else INFINITE


@compiled()
def _note_long(long_numbers, place, begin, end):
    """Note that the number of an entry, or of a label (-1 - row), is in [begin, end) and is for Python to read."""
    count = long_numbers[0, 0] + 1
    long_numbers[0, 0] = count
    long_numbers[count, 0], long_numbers[count, 1], long_numbers[count, 2] = place, begin, end


@compiled()
def _read_row(text, i, first, width, k, indices, values, long_numbers):
    """Read the pairs of a line from i on, as entries from k on.

    Returns where the line ends, the number of entries, what is wrong, and whether the columns rise. LONG values are
    noted.
    """
    last, rising = np.int64(-1), True  # not -1, for which Numba would compile what is called once more
    while True:
        i, k, last, rises = _read_plain_pairs(text, i, first, width, k, last, indices, values)
        rising &= rises
        while _is_blank(text[i]):
            i += 1
        if text[i] == 35:
            while text[i] != 10:
                i += 1
        if text[i] == 10:
            return i, k, NO_FAULT, rising
        after = _after_query(text, i)
        if after >= 0:
            i = after
            continue
        column, value, after, fault = _read_pair(text, i, first, width)
        if fault > 0:
            return i, k, fault, rising
        if fault < 0:
            _note_long(long_numbers, k, i, after)
        rising &= column > last
        last = column
        indices[k], values[k] = column, value
        k += 1
        i = after


# One argument for each array: Numba would pass a bundle of them array by array, too.
@compiled()
def read_svmlight(text, start, first, width, optional, label, line, indptr, indices, values, long_numbers):
    """Read lines until the end or the first fault.

    Parameters
    ----------
    text : uint8 array
        Whole lines: the last byte is a newline.
    start : (int, int, int)
        Where to begin: a byte at the start of a line, the number of that line, and the rows read so far.
    first, width : int
        Index of the first column, and the number of columns.
    optional : bool
        Whether a label may be missing; it is NaN then.
    label, line, indptr : arrays with a place for each line, and one more
        `line` receives the number of each row's line. `indptr` must hold the entries of the rows read so far.
    indices, values : arrays
        With a place for each four bytes of the text.
    long_numbers : int array of shape (n, 3)
        With a place for each 18 bytes of the text, and one more; the first place counts the others.

    Returns
    -------
    rows, place, number, fault, rising
        Rows so far; where the faulty piece begins, or the end of the text; the number of the line there; what is
        wrong; whether columns rise in each row.
    """
    i, number, row = start
    end, k, rising = text.size, np.int64(indptr[row]), True
    while i < end:
        while _is_blank(text[i]):
            i += 1
        if text[i] != 10 and text[i] != 35:
            noted = long_numbers[0, 0]
            value, after, code = _read_label(text, i, optional)
            if code == MALFORMED or abs(value) == np.inf:
                return row, i, number, BAD_LABEL if code == MALFORMED else INFINITE, rising
            if code == LONG:
                _note_long(long_numbers, -1 - row, i, after)
            i, k, fault, rises = _read_row(text, after, first, width, k, indices, values, long_numbers)
            if fault != NO_FAULT:
                long_numbers[0, 0] = noted
                return row, i, number, fault, rising
            rising &= rises
            label[row], line[row] = value, number
            row += 1
            indptr[row] = k
        while text[i] != 10:
            i += 1
        i += 1
        number += 1
    return row, end, number, NO_FAULT, rising
