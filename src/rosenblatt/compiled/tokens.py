"""From text to columns: words, their n-grams, hashes, a dictionary, and the rows that come of them.

Text is an array of bytes in UTF-8; a span is [start, end) in it. Indices are cast to unsigned, because Numba would look
for negative ones at each byte.
"""

import numpy as np

from rosenblatt.jit import compiled

U = np.uint64
U8 = np.uint8
BLANK = 32
WIDE = 1  # marks bytes that are not ASCII
FEW = 40  # entries that are sorted faster by insertion than by digits
DIGIT_BITS = 9
PLACES = (1 << DIGIT_BITS) + 2  # numbers to work with when digits are counted

# ----------------------------------------------------------------------------------------------------------- hashes

_word = U(0xFFFFFFFF)
_c1, _c2, _c3, _c4 = U(0xCC9E2D51), U(0x1B873593), U(0x85EBCA6B), U(0xC2B2AE35)
_five, _add = U(5), U(0xE6546B64)
# Eight bytes at a time: each constant is the same in every byte, except the last one.
_low_bits, _high_bits, _case_bits = U(0x7F7F7F7F7F7F7F7F), U(0x8080808080808080), U(0x2020202020202020)
_from_a, _after_z = U(0x1F1F1F1F1F1F1F1F), U(0x0505050505050505)  # 128 - "a", 128 - "{"
_from_0, _after_9 = U(0x5050505050505050), U(0x4646464646464646)  # 128 - "0", 128 - ":"
_underscores = U(0x5F5F5F5F5F5F5F5F)
_place_of_byte = U(0x0001020304050607)


@compiled()
def _scrambled(k):
    k = k * _c1 & _word
    return (k << U(15) | k >> U(17)) * _c2 & _word


@compiled()
def murmur(text, begin, end, seed):
    """Compute MurmurHash3 of 32 bits (x86 variant) of the bytes in [begin, end)."""
    h, i = U(seed), begin
    while i + 4 <= end:
        k = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16) | U(text[U(i + 3)]) << U(24)
        h ^= _scrambled(k)
        h = ((h << U(13) | h >> U(19)) & _word) * _five + _add & _word
        i += 4
    if i + 4 <= text.size:  # a look at what follows is faster than the branches
        k = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16)
        k &= (U(1) << U(8 * (end - i))) - U(1)
    else:
        k = U(0)
        for place in range(i, end):
            k |= U(text[U(place)]) << U(8 * (place - i))
    h ^= _scrambled(k)  # nothing, if no byte is left
    h ^= U(end - begin) & _word
    h = (h ^ h >> U(16)) * _c3 & _word
    h = (h ^ h >> U(13)) * _c4 & _word
    return h ^ h >> U(16)


@compiled()
def hash_spans(text, start, end, seed, mask, column):
    """Write the hash of each span, and the mask, into `column`; `seed` has one seed for all spans, or one for each."""
    step = np.int64(seed.size > 1)
    for k in range(start.size):
        h = np.int64(murmur(text, np.int64(start[k]), np.int64(end[k]), seed[k * step]) & U(mask))
        column[k] = h - (h >> 31 << 32)  # all 32 bits fit, as a number with a sign


# ------------------------------------------------------------------------------------------------------------ words


@compiled()
def _code_point(text, i, stop):
    """Return the code point at i of text that is not ASCII, and its bytes; zero bytes if they are not UTF-8."""
    head = np.int64(text[U(i)])
    size = 2 if 0xC2 <= head < 0xE0 else 3 if 0xE0 <= head < 0xF0 else 4 if 0xF0 <= head < 0xF5 else 0
    if size == 0 or i + size > stop:
        return 0, 0
    point = head & (0x7F >> size)
    for k in range(i + 1, i + size):
        if text[U(k)] & 0xC0 != 0x80:
            return 0, 0
        point = point << 6 | np.int64(text[U(k)]) & 0x3F
    least = 0x80 if size == 2 else 0x800 if size == 3 else 0x10000
    if point < least or 0xD800 <= point < 0xE000 or point > 0x10FFFF:
        return 0, 0
    return point, size


@compiled()
def _write_point(out, o, point):
    """Write a code point as UTF-8 and return where it ends."""
    if point < 0x80:
        out[U(o)] = point
        return o + 1
    if point < 0x800:
        out[U(o)], out[U(o + 1)] = 0xC0 | point >> 6, 0x80 | point & 0x3F
        return o + 2
    if point < 0x10000:
        out[U(o)], out[U(o + 1)], out[U(o + 2)] = 0xE0 | point >> 12, 0x80 | point >> 6 & 0x3F, 0x80 | point & 0x3F
        return o + 3
    out[U(o)], out[U(o + 1)] = 0xF0 | point >> 18, 0x80 | point >> 12 & 0x3F
    out[U(o + 2)], out[U(o + 3)] = 0x80 | point >> 6 & 0x3F, 0x80 | point & 0x3F
    return o + 4


@compiled()
def _write_wide(text, i, stop, wide, out, o):
    """Write the character at i, which is not ASCII, if it belongs to a word; return where reading and writing go on."""
    point, size = _code_point(text, i, stop)
    if size == 0:  # a byte that is not UTF-8 is a letter of its own
        out[U(o)] = text[U(i)]
        return i + 1, o + 1
    lower = np.int64(wide[point]) if point < wide.size else 0
    if lower == 0:
        return i + size, o
    return i + size, _write_point(out, o, lower)


@compiled()
def split_words(text, start, end, narrow, wide, out, word_start, word_end, first_word):
    """Cut each span of a text into words, written one after another with a space before and after each.

    Parameters
    ----------
    text : uint8 array
    start, end : int arrays of shape (n,)
        Spans. The byte after each must be there, ASCII, and belong to no word.
    narrow : uint8 array of shape (256,)
        What to write for a byte: 0 if it is a character that belongs to no word, WIDE if it is not ASCII.
    wide : uint32 array
        The same for all characters, by code point; those beyond its end belong to no word. May be empty if the text is
        ASCII.
    out : uint8 array
        With room for twice the spans' bytes and two more for each.
    word_start, word_end : int32 arrays
        With room for a word for each two bytes of the spans, and one for each span.
    first_word : int32 array of shape (n + 1,)
        Receives the number of the first word of each span.

    Returns
    -------
    int
        Bytes written.
    """
    o, words = 0, 0
    for row in range(start.size):
        first_word[row] = words
        i, stop = np.int64(start[row]), np.int64(end[row])
        out[U(o)] = BLANK
        o += 1
        while i < stop:
            begin = o
            letter = narrow[U(text[U(i)])]
            while letter > WIDE:
                out[U(o)] = letter
                o += 1
                i += 1
                letter = narrow[U(text[U(i)])]
            while letter == WIDE:
                before = o
                i, o = _write_wide(text, i, stop, wide, out, o)
                if o == before:
                    letter = U8(0)
                    i -= 1
                else:
                    letter = narrow[U(text[U(i)])]
                    while letter > WIDE:
                        out[U(o)] = letter
                        o += 1
                        i += 1
                        letter = narrow[U(text[U(i)])]
            i += 1
            if o > begin:
                word_start[U(words)], word_end[U(words)] = begin, o
                words += 1
                out[U(o)] = BLANK
                o += 1
    first_word[start.size] = words
    return o


@compiled()
def _load(text, i):
    """Return the eight bytes at i as one number."""
    low = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16) | U(text[U(i + 3)]) << U(24)
    i += 4
    high = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16) | U(text[U(i + 3)]) << U(24)
    return low | high << U(32)


@compiled()
def _word_bytes(x, shift):
    """Return eight bytes in lower case, and the highest bit of each that is no ASCII letter, digit or underscore.

    `shift` is 2 for lower case, and 64 or more would be none: pass 8 to leave letters as they are.
    """
    seven = x & _low_bits
    folded = seven | _case_bits
    letter = (folded + _from_a) & ~(folded + _after_z)
    digit = (seven + _from_0) & ~(seven + _after_9)
    underscore = ~((seven ^ _underscores) + _low_bits)
    inside = (letter | digit | underscore) & ~x & _high_bits
    return x | (letter & ~x & _high_bits) >> shift & _case_bits, inside ^ _high_bits


@compiled()
def _mixed(h, k):
    h ^= _scrambled(k)
    return ((h << U(13) | h >> U(19)) & _word) * _five + _add & _word


@compiled()
def _finished(h, tail, size):
    h ^= _scrambled(tail)
    h ^= U(size) & _word
    h = (h ^ h >> U(16)) * _c3 & _word
    h = (h ^ h >> U(13)) * _c4 & _word
    return h ^ h >> U(16)


@compiled()
def _careful_word(text, i, stop, narrow, wide, scratch, seed):
    """Return where the word at i ends, its number of bytes and its hash."""
    o = 0
    while i < stop:
        letter = narrow[U(text[U(i)])]
        if letter == WIDE:
            before = o
            after, o = _write_wide(text, i, stop, wide, scratch, o)
            if o == before:
                return (i, o, murmur(scratch, 0, o, seed)) if o > 0 else (after, 0, U(0))
            i = after
        elif letter == 0:
            return (i, o, murmur(scratch, 0, o, seed)) if o > 0 else (i + 1, 0, U(0))
        else:
            scratch[U(o)] = letter
            o += 1
            i += 1
    return i, o, murmur(scratch, 0, o, seed)


# One argument for each array: Numba would pass a bundle of them array by array, too.
@compiled()
def hash_words(text, start, end, narrow, wide, shift, seed, mask, column, pointer, scratch):
    """Write the hash of each word of each span, and the mask, into `column`: as `split_words` and `hash_spans` do.

    Eight bytes are looked at together, so that most words take no branch that depends on their length. `scratch` has
    room for twice the bytes of the longest span, and eight more.
    """
    count, limit = 0, text.size - 8
    mask, seed = U(mask), U(seed)
    for row in range(start.size):
        pointer[row] = count
        i, stop = np.int64(start[row]), np.int64(end[row])
        while i < stop:
            begin, h, plain = i, seed, i <= limit
            x, outside, size = U(0), U(0), 0
            while plain:
                x, outside = _word_bytes(_load(text, i), shift)
                if outside != 0:
                    break
                h = _mixed(_mixed(h, x & _word), x >> U(32))
                i += 8
                plain = i <= limit
            if plain:
                first = (outside & (~outside + U(1))) >> U(7)  # the lowest bit of the first byte outside of the word
                size = np.int64((first * _place_of_byte) >> U(56))
                x &= first - U(1)
                plain = text[U(i + size)] < 128
            if plain:
                longer = ~(U(size >= 4) - U(1))  # all bits or none: a branch would often be predicted wrongly
                h = _mixed(h, x & _word) & longer | h & ~longer
                h = _finished(h, x >> U(32) & longer | x & ~longer, i - begin + size)
                i += size + 1
                column[U(count)] = np.int64(h & mask)
                count += i - 1 > begin
            else:
                i, size, h = _careful_word(text, begin, stop, narrow, wide, scratch, seed)
                column[U(count)] = np.int64(h & mask)
                count += size > 0
    pointer[start.size] = count
    return count


@compiled()
def word_grams(word_start, word_end, first_word, least, most, start, end, pointer):
    """Write the spans of all n-grams of words, n from `least` to `most`; return how many."""
    count = 0
    for row in range(first_word.size - 1):
        pointer[row] = count
        last = first_word[row + 1]
        for word in range(first_word[row], last):
            for other in range(word + least - 1, min(word + most, last)):
                start[U(count)], end[U(count)] = word_start[word], word_end[other]
                count += 1
    pointer[first_word.size - 1] = count
    return count


@compiled()
def letter_grams(text, word_start, word_end, first_word, least, most, start, end, pointer):
    """Write the spans of all n-grams of characters in each word and the space on either side; return how many."""
    count = 0
    for row in range(first_word.size - 1):
        pointer[row] = count
        for word in range(first_word[row], first_word[row + 1]):
            begin, stop = np.int64(word_start[word]) - 1, np.int64(word_end[word]) + 1
            while begin < stop:
                i = begin
                for n in range(1, most + 1):
                    if i >= stop:
                        break
                    i += 1
                    while i < stop and text[U(i)] & 0xC0 == 0x80:
                        i += 1
                    if n >= least:
                        start[U(count)], end[U(count)] = begin, i
                        count += 1
                begin += 1
                while begin < stop and text[U(begin)] & 0xC0 == 0x80:
                    begin += 1
    pointer[first_word.size - 1] = count
    return count


# ------------------------------------------------------------------------------------------------------------- rows


@compiled()
def _sort_few(keys, begin, end):
    for k in range(begin + 1, end):
        key, place = keys[U(k)], k
        while place > begin and keys[U(place - 1)] > key:
            keys[U(place)] = keys[U(place - 1)]
            place -= 1
        keys[U(place)] = key


@compiled()
def _distribute(keys, begin, size, low, spare, places):
    """Sort keys by the digit from bit `low` on, equal ones in order; return how many have the commonest digit."""
    buckets = np.int64(1) << DIGIT_BITS
    for bucket in range(buckets + 1):
        places[U(bucket)] = 0
    for k in range(begin, begin + size):
        places[U((np.int64(keys[U(k)]) >> low & buckets - 1) + 1)] += 1
    most = 0
    for bucket in range(buckets):
        most = max(most, places[U(bucket + 1)])
        places[U(bucket + 1)] += places[U(bucket)]
    for k in range(begin, begin + size):
        bucket = U(np.int64(keys[U(k)]) >> low & buckets - 1)
        spare[U(places[bucket])] = keys[U(k)]
        places[bucket] += 1
    for k in range(size):
        keys[U(begin + k)] = spare[U(k)]
    return most


@compiled()
def _sort(keys, begin, end, low, bits, spare, places):
    """Sort keys by the bits from `low` on; lower ones must be in order already where those are equal."""
    if end - begin <= FEW:
        return _sort_few(keys, begin, end)
    # Hashes are spread evenly: the highest digit nearly sorts them. Other columns are sorted digit by digit.
    most = _distribute(keys, begin, end - begin, low + max(bits - DIGIT_BITS, 0), spare, places)
    if most <= FEW:
        return _sort_few(keys, begin, end)
    for digit in range(0, bits, DIGIT_BITS):
        _distribute(keys, begin, end - begin, low + digit, spare, places)
    return None


@compiled()
def count_columns(indptr, column, value, bits, logarithm, binary, spare, room, logs):
    """Sort the columns of each row and count them, in place; return the entries that are left, one for each column.

    A count becomes one if `binary`, and one plus its logarithm if `logarithm`. All columns have at most `bits` bits.
    There is room to work in: as many `spare` columns as the longest row has entries, as many numbers in `room` and
    PLACES more, and 63 `logs`.
    """
    places, last = room[:PLACES], room[PLACES - 1 :]
    for count in range(63):  # a loop compiles sooner than an expression of arrays
        logs[count] = 1.0 + np.log(count + 1.0)
    k, begin = 0, np.int64(indptr[0])
    for row in range(indptr.size - 1):
        end = np.int64(indptr[row + 1])
        _sort(column, begin, end, 0, bits, spare, places)
        # Without branches, which would often be predicted wrongly.
        unique = 0
        last[0] = begin
        for entry in range(begin, end - 1):
            key = column[U(entry)]
            column[U(k + unique)], last[U(unique + 1)] = key, entry + 1
            unique += key != column[U(entry + 1)]
        if begin < end:
            column[U(k + unique)], last[U(unique + 1)] = column[U(end - 1)], end
            unique += 1
        for entry in range(unique):
            count = last[U(entry + 1)] - last[U(entry)]
            if logarithm:
                value[U(k + entry)] = logs[U(count - 1)] if count < 64 else 1.0 + np.log(np.float64(count))
            else:
                value[U(k + entry)] = 1.0 if binary else np.float64(count)
        k += unique
        begin = end
        indptr[row + 1] = k
    return k


@compiled()
def _rises(column, begin, end):
    """Return whether columns are from 0, in order, and none is there twice."""
    last = -1
    for entry in range(begin, end):
        if column[U(entry)] <= last:
            return False
        last = np.int64(column[U(entry)])
    return True


@compiled()
def add_columns(indptr, column, value, bits, own, room):
    """Sort the entries of each row by column and add up those of one column, in place; return how many are left.

    Negative columns are left out; others have at most `bits` bits. Values of one column are added in the order in which
    they came. There is room to work in: as many values in `own` as the longest row has entries, twice as many numbers
    in `room` and PLACES more.
    """
    size = own.size
    places, keys, spare = room[:PLACES], room[PLACES : PLACES + size], room[PLACES + size :]
    k, begin = 0, np.int64(indptr[0])
    for row in range(indptr.size - 1):
        end, count = np.int64(indptr[row + 1]), 0
        if _rises(column, begin, end):
            for entry in range(begin, end):
                column[U(k)], value[U(k)] = column[U(entry)], value[U(entry)]
                k += 1
            begin = end
            indptr[row + 1] = k
            continue
        for entry in range(begin, end):
            if column[U(entry)] >= 0:
                keys[U(count)] = np.int64(column[U(entry)]) << 32 | count
                own[U(count)] = value[U(entry)]
                count += 1
        _sort(keys, 0, count, 32, bits, spare, places)
        last = -1
        for entry in range(count):
            key = keys[U(entry)] >> 32
            number = own[U(keys[U(entry)] & 0xFFFFFFFF)]
            if key == last:
                value[U(k - 1)] += number
            else:
                column[U(k)], value[U(k)] = key, number
                k += 1
            last = key
        begin = end
        indptr[row + 1] = k
    return k


@compiled()
def normalise_rows(indptr, value):
    """Divide the values of each row by their length, in place."""
    for row in range(indptr.size - 1):
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += value[k] * value[k]
        if 0.0 < total < np.inf:
            length = np.sqrt(total)
            for k in range(indptr[row], indptr[row + 1]):
                value[k] /= length


@compiled()
def append_entries(place, indptr, column, value, columns, values):
    """Copy the entries of each row to its next free place, and move that."""
    for row in range(indptr.size - 1):
        k = place[row]
        for entry in range(indptr[row], indptr[row + 1]):
            columns[k], values[k] = column[entry], value[entry]
            k += 1
        place[row] = k


@compiled()
def mark_columns(column, used):
    """Note which columns have an entry."""
    for k in range(column.size):
        used[column[k]] = 1


# ------------------------------------------------------------------------------------------------------- dictionary


@compiled()
def _is_name(text, begin, size, names, place, length):
    if size != length:
        return False
    for k in range(size):  # noqa: SIM110 - Numba does not compile generators as arguments
        if text[U(begin + k)] != names[U(place + k)]:
            return False
    return True


@compiled()
def join_names(text, start, end, group, prefixes, prefix_end, out, out_end):
    """Write the full name of each span: the prefix of its group, and its bytes. `group` is one for all, or for each."""
    o, step = 0, np.int64(group.size > 1)
    for k in range(start.size):
        own = group[k * step]
        for i in range(prefix_end[own], prefix_end[own + 1]):
            out[U(o)] = prefixes[U(i)]
            o += 1
        for i in range(start[k], end[k]):
            out[U(o)] = text[U(i)]
            o += 1
        out_end[k + 1] = o


@compiled()
def find_names(text, name_end, slots, names, known_end, state, column):
    """Find the number of each name in a dictionary, and enter new names as long as there is room.

    Parameters
    ----------
    text, name_end : arrays
        The names to look for, one after another: where each ends, after a zero.
    slots : int32 array
        A power of two of places, at least twice as many as names: the number of a name, or -1.
    names, known_end : arrays
        The names that are known, likewise.
    state : int64 array
        Number of names; most names; the first name to be looked for, and afterwards the first that was not.
    column : int32 array
        Receives the numbers: -1 where a name is not known and there is no room for it.

    Returns
    -------
    bool
        Whether all names were looked for; else there is not enough room for the bytes of another one.
    """
    mask = slots.size - 1
    for k in range(state[2], name_end.size - 1):
        begin, size = np.int64(name_end[k]), np.int64(name_end[k + 1]) - np.int64(name_end[k])
        slot = np.int64(murmur(text, begin, begin + size, 0)) & mask
        number = np.int64(slots[slot])
        while number >= 0:
            place = known_end[number]
            if _is_name(text, begin, size, names, place, known_end[number + 1] - place):
                break
            slot = (slot + 1) & mask
            number = np.int64(slots[slot])
        if number < 0 and state[0] < state[1]:
            number, place = state[0], known_end[state[0]]
            if place + size > names.size:
                state[2] = k
                return False
            names[place : place + size] = text[begin : begin + size]
            known_end[number + 1], slots[slot] = place + size, number
            state[0] += 1
        column[k] = number
    state[2] = name_end.size - 1
    return True
