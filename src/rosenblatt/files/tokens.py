"""From text to columns: lines, words, their n-grams, hashes, and a dictionary.

Text is an array of bytes in UTF-8; a span is [start, end) in it. Indices are cast to unsigned, because Numba would
check for negative ones at each byte.
"""

import numpy as np

from rosenblatt.engine.jit import compiled
from rosenblatt.files.entries import bit_count, lowest_bit

U = np.uint64
U8, U32 = np.uint8, np.uint32
BLANK, STAR = 32, 42
WIDE = 1  # marks bytes that are not ASCII
AT_ONCE = 64  # bytes that are processed together, a bit for each
BATCH = 128  # minimum of words that are hashed together
WORK = 2 * BATCH + AT_ONCE + 8  # size of the work arrays of `hash_words`

# ----------------------------------------------------------------------------------------------------------- hashes

_word = U(0xFFFFFFFF)
_c1, _c2, _c3, _c4 = U(0xCC9E2D51), U(0x1B873593), U(0x85EBCA6B), U(0xC2B2AE35)
_five, _add = U(5), U(0xE6546B64)
_high_bits = U(0x8080808080808080)  # of eight bytes
_from_a, _after_z = U(0x0101010101010101 * (128 - 65)), U(0x0101010101010101 * (128 - 91))  # which set the high bits
_gather = U(0x0102040810204080)  # moves the lowest bit of each of eight bytes to the highest byte
_all = U(0xFFFFFFFFFFFFFFFF)


@compiled()
def _scrambled(k):
    k = k * _c1 & _word
    return (k << U(15) | k >> U(17)) * _c2 & _word


@compiled()
def _turned(h):
    return ((h << U(13) | h >> U(19)) & _word) * _five + _add & _word


@compiled()
def _finished(h, size):
    h ^= size
    h = (h ^ h >> U(16)) * _c3 & _word
    h = (h ^ h >> U(13)) * _c4 & _word
    return h ^ h >> U(16)


@compiled(inline="always")  # a call would take longer than hashing most words
def murmur(text, begin, end, seed):
    """Compute MurmurHash3 of 32 bits (x86 variant) of the bytes in [begin, end)."""
    h, i = U(seed), begin
    while i + 4 <= end:
        k = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16) | U(text[U(i + 3)]) << U(24)
        h = _turned(h ^ _scrambled(k))
        i += 4
    k = U(0)
    for place in range(i, end):
        k |= U(text[U(place)]) << U(8 * (place - i))
    h ^= _scrambled(k)  # 0 if no byte is left
    return _finished(h, U(end - begin) & _word)


@compiled()
def hash_spans(text, start, end, seed, mask, column):
    """Write the hash of each span, and the mask, into `column`; `seed` has one seed for all spans, or one for each."""
    step = np.int64(seed.size > 1)
    for k in range(start.size):
        h = np.int64(murmur(text, np.int64(start[k]), np.int64(end[k]), seed[k * step]) & U(mask))
        column[k] = h - (h >> 31 << 32)  # as a signed number of 32 bits


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
    """Write the character at i, which is not ASCII, if it belongs to a word; return where both texts continue."""
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

    Returns the number of bytes written. The byte after each span must exist, be ASCII, and not be part of a word.

    Parameters
    ----------
    narrow : uint8 array of shape (256,)
        What to write for a byte: 0 if it is not part of a word, WIDE if it is not ASCII.
    wide : uint32 array
        The same for all characters, by code point; those beyond its end are not part of words. May be empty if the text
        is ASCII.
    out : uint8 array
        With room for twice the spans' bytes and two more for each.
    word_start, word_end : int32 arrays
        With room for a word for each two bytes of the spans, and one for each span.
    first_word : int32 array of shape (n + 1,)
        Receives the number of the first word of each span.
    """
    o = words = np.int64(0)
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
def find_tabs(text, end, tab):
    """Write where each line has its first tab, or where it ends if it has none, given where lines end."""
    i = 0
    for line in range(end.size):
        while i < end[line] and text[U(i)] != 9:
            i += 1
        tab[line] = i
        i = end[line] + 1


@compiled()
def _eight_bytes(text, i):
    """Return the eight bytes at i as one number, the first of them lowest: compiled, it is a single load."""
    found = U(0)
    for k in range(8):
        found |= U(text[U(i + k)]) << U(8 * k)
    return found


@compiled()
def _load(text, i):
    """Return the eight bytes at i as one number; zeros after the end of the text."""
    if i + 8 <= text.size:
        return _eight_bytes(text, i)
    found = U(0)
    for place in range(i, text.size):
        found |= U(text[U(place)]) << U(8 * (place - i))
    return found


@compiled()
def _careful_word(text, i, stop, narrow, wide, scratch, seed):
    """Return where the word at i ends, its number of bytes (0 if there is no word) and its hash."""
    o = zero = np.int64(0)  # a literal 0 would have another type, for which Numba compiles a second version
    while i < stop:
        letter = narrow[U(text[U(i)])]
        after, before = i + 1, o
        if letter == WIDE:
            after, o = _write_wide(text, i, stop, wide, scratch, o)
        elif letter != 0:
            scratch[U(o)] = letter
            o += 1
        if o == before:
            i = i if o > 0 else after
            break
        i = after
    return i, o, murmur(scratch, zero, o, seed)


@compiled()
def _mark_letters(text, start, size, letters):
    """Write 1 for each byte that may belong to a word and 0 for any other, and AT_ONCE zeros after the last."""
    for k in range(size):
        byte = text[U(start + k)]
        letter = (byte | 32 >= 97) & (byte | 32 <= 122) | (byte >= 48) & (byte <= 57)
        letters[U(k)] = letter | (byte == 95) | (byte >= 128)
    for k in range(size, size + AT_ONCE):
        letters[U(k)] = 0


@compiled()
def _bits(marks, i):
    """Return a number whose bits are the AT_ONCE marks from i on, each 0 or 1."""
    found = U(0)
    for k in range(0, AT_ONCE, 8):
        found |= _eight_bytes(marks, i + k) * _gather >> U(56) << U(k)
    return found


@compiled()
def _lower(x, case):
    """Return eight bytes of ASCII in lower case if `case` has all bits, as they are if it has none."""
    return x | ((x + _from_a) & ~(x + _after_z) & _high_bits & case) >> U(2)


# The same steps in numbers of 32 bits: a register holds twice as many.


@compiled()
def _short_scrambled(k):
    k = U32(U(k) * _c1 & _word)
    return U32(U(U32((U(k) << U(15) | U(k) >> U(17)) & _word)) * _c2 & _word)


@compiled()
def _short_turned(h):
    return U32(U(U32((U(h) << U(13) | U(h) >> U(19)) & _word)) * _five + _add & _word)


@compiled()
def _hash_short(eight, edges, count, case, seed, mask, column, first, flags):
    """Write the hashes of words by their first eight bytes, without branches: the loop is vectorised.

    `flags` receives which words are longer or not ASCII, and must be hashed otherwise.
    """
    for k in range(count):
        wide = edges[U(2 * k + 1)] - edges[U(2 * k)]
        x, length = eight[U(k)] & _all >> ((~wide + U(1)) << U(3) & U(63)), U32(wide)
        flags[U(k)] = (length > U32(8)) | (x & _high_bits != U(0))
        x = _lower(x, case)
        h = U32(seed ^ _short_scrambled(U32(x & _word)))
        h = _short_turned(h) if length > U32(3) else h
        h = U32(h ^ _short_scrambled(U32(x >> U(32))))
        h = _short_turned(h) if length > U32(7) else h
        h = U32(h ^ length)
        h = U32(U(U32(h ^ U32(h >> U32(16)))) * _c3 & _word)
        h = U32(U(U32(h ^ U32(h >> U32(13)))) * _c4 & _word)
        column[U(first + k)] = np.int64(U32(h ^ U32(h >> U32(16))) & mask)


@compiled()
def _hash_long(text, begin, end, case, seed):
    """Return the hash of a word, and whether it is ASCII."""
    h, i, seen = seed, begin, U(0)
    while i + 8 <= end:
        x = _eight_bytes(text, i)
        seen |= x
        x = _lower(x, case)
        h = _turned(h ^ _scrambled(x & _word))
        h = _turned(h ^ _scrambled(x >> U(32)))
        i += 8
    left = U(end - i)
    x = _load(text, i) & (U(1) << (left << U(3))) - U(1)
    seen |= x
    x = _lower(x, case)
    h ^= _scrambled(x & _word)
    h = _turned(h) if left > U(3) else h
    h ^= _scrambled(x >> U(32))
    return _finished(h, U(end - begin)), seen & _high_bits == U(0)


@compiled()
def _hash_others(text, edges, count, flags, narrow, wide, case, seed, mask, column, first, scratch):
    """Write the hashes of words with a flag, where they are long or not ASCII; return where columns end then.

    Bytes that are not ASCII may be no word, or several, of which one has its place. The loop runs from the last word
    to the first, so that the last column can fill a place that becomes free. `flags` receives the numbers of these
    words, which are below 256.
    """
    others, last = np.int64(0), first + count
    for k in range(count):  # without branches that are hard to predict
        flag = flags[U(k)]
        flags[U(others)] = k
        others += flag
    for other in range(others - 1, -1, -1):
        k = np.int64(flags[U(other)])
        i, stop = np.int64(edges[U(2 * k)]), np.int64(edges[U(2 * k + 1)])
        h, plain = _hash_long(text, i, stop, case, seed)
        column[U(first + k)] = np.int64(h & mask)
        if plain:
            continue
        words = 0
        while i < stop:
            i, letters, h = _careful_word(text, i, stop, narrow, wide, scratch, seed)
            if letters > 0:
                column[U(first + k if words == 0 else last)] = np.int64(h & mask)
                last += words > 0
                words += 1
        if words == 0:
            last -= 1
            column[U(first + k)] = column[U(last)]
    return last


@compiled()
def _note_edges(changes, at, edges, count):
    """Write the places of the bits of `changes`; return how many edges there are then.

    Eight at a time, because the number of bits is unpredictable; surplus ones are overwritten by the next.
    """
    after = count + np.int64(bit_count(changes))
    while changes != 0:
        for place in range(8):
            edges[U(count + place)] = at + lowest_bit(changes)
            changes &= changes - U(1)
        count += 8
    return after


@compiled()
def hash_words(
    text, start, end, narrow, wide, lowercase, seed, mask, column, pointer, scratch, letters, eight, edges, flags
):
    """Write the hash of each word of each span, and the mask, into `column`: as `split_words` and `hash_spans` do.

    The words of a span come in any order. AT_ONCE bytes are processed together, and so are the words of a batch, to
    avoid branches that are hard to predict. The first arrays are as in `split_words`. `column` has room for a word for
    each two bytes of the spans, one for each span, and one more; `pointer` receives the number of the first word of
    each span. Work space: `scratch` has twice the bytes of the longest span, and eight more; `letters` has its bytes,
    and AT_ONCE more; `eight`, `edges` and `flags` have WORK. Returns the number of words.
    """
    seed, mask, case = U(seed), U(mask), _all if lowercase else U(0)
    count = np.int64(0)
    for row in range(start.size):
        pointer[row] = count
        at, stop = np.int64(start[row]), np.int64(end[row])
        carry, known = U(0), np.int64(0)  # whether the byte before belongs to a word; edges of words so far
        _mark_letters(text, at, stop - at, letters)
        while at <= stop:
            bits = _bits(letters, at - np.int64(start[row]))
            known = _note_edges(bits ^ (bits << U(1) | carry), U(at), edges, known)
            carry = bits >> U(63)
            at += AT_ONCE
            if known < 2 * BATCH and at <= stop:
                continue
            words = known // 2
            if stop + 8 <= text.size:
                for k in range(words):
                    eight[U(k)] = _eight_bytes(text, np.int64(edges[U(2 * k)]))
            else:
                for k in range(words):
                    eight[U(k)] = _load(text, np.int64(edges[U(2 * k)]))
            _hash_short(eight, edges, words, case, seed, mask, column, count, flags)
            count = _hash_others(text, edges, words, flags, narrow, wide, case, seed, mask, column, count, scratch)
            edges[0] = edges[U(max(known - 1, 0))]  # if their number is odd, the last word continues
            known &= 1
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
def join_pairs(text, start, end, of_left, other_text, other_start, other_end, of_right, out, out_end):
    """Write the name of each pair: the span of its left entry, a star, and that of its right entry."""
    o = np.int64(0)
    for k in range(of_left.size):
        for i in range(start[of_left[k]], end[of_left[k]]):
            out[U(o)] = text[U(i)]
            o += 1
        out[U(o)] = STAR
        o += 1
        for i in range(other_start[of_right[k]], other_end[of_right[k]]):
            out[U(o)] = other_text[U(i)]
            o += 1
        out_end[k + 1] = o


@compiled()
def find_names(text, name_end, slots, names, known_end, state, column):
    """Find the number of each name in a dictionary, and add new names while there is space.

    Returns whether all names were looked up; if not, `names` is too short for another one.

    Parameters
    ----------
    text, name_end : arrays
        The names to look for, one after another: where each ends, after a zero.
    slots : int32 array
        A hash table of the numbers of names, -1 in free places; its size is a power of two, at least twice the number
        of names.
    names, known_end : arrays
        The known names, likewise.
    state : int64 array
        Number of names; maximum of names; the first name to look up, and afterwards the first that was not.
    column : int32 array
        Receives the numbers: -1 for an unknown name without space.
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
