"""Strings, sets and bits: calls of every function, and what TensorFlow gives for them.

A name with a number is another call of the same function.
"""

import numpy as np

import framework as tf


def plain(x):
    """What a function returns as Python's values."""
    if hasattr(x, "dense_shape"):
        return tuple(map(plain, (x.indices, x.values, x.dense_shape)))
    if hasattr(x, "to_list"):
        return x.to_list()
    return tuple(map(plain, x)) if isinstance(x, tuple) else np.asarray(x).tolist()


class Equal:
    """What a call must give exactly."""

    def __init__(self, value):
        self.value = value

    def check(self, found):
        assert plain(found) == self.value


CALLS = {
    "strings.as_string": (
        lambda f: f([1.5, -2.25, float("inf")], precision=2, width=8, fill="0"),
        [b"00001.50", b"-0002.25", b"     inf"],
    ),
    "strings.as_string 2": (
        lambda f: f([1e10, 1e-7], scientific=True),
        [b"1.000000e+10", b"1.000000e-07"],
    ),
    "strings.as_string 3": (
        lambda f: f([-5, 42], width=5, fill="-"),
        [b"-5   ", b"42   "],
    ),
    "strings.as_string 4": (
        lambda f: f([True, False]),
        [b"true", b"false"],
    ),
    "strings.as_string 5": (
        lambda f: f([0.1, 1e10], shortest=True),
        [b"0.1", b"1e+10"],
    ),
    "strings.bytes_split": (
        lambda f: f(["ab", "", "é"]),
        [[b"a", b"b"], [], [b"\xc3", b"\xa9"]],
    ),
    "strings.bytes_split 2": (
        lambda f: f("ab"),
        [b"a", b"b"],
    ),
    "strings.format": (
        lambda f: f("{} and {}", [tf.range(10), [1.5, 2.0]]),
        b"[0 1 2 ... 7 8 9] and [1.5 2]",
    ),
    "strings.format 2": (
        lambda f: f("<>", tf.range(40), placeholder="<>", summarize=-1),
        f"[{' '.join(map(str, range(40)))}]".encode(),
    ),
    "strings.join": (
        lambda f: f(["a", ["b", "c"], "d"], "-"),
        [b"a-b-d", b"a-c-d"],
    ),
    "strings.join 2": (
        lambda f: f([tf.ragged.constant([["a"], [], ["b", "c"]])] * 2 + ["d"], "-"),
        [[b"a-a-d"], [], [b"b-b-d", b"c-c-d"]],
    ),
    "strings.length": (
        lambda f: f(["né", ""], "UTF8_CHAR"),
        [2, 0],
    ),
    "strings.length 2": (
        lambda f: f(["né", ""]),
        [3, 0],
    ),
    "strings.lower": (
        lambda f: f(["ÀB", "Straße"], "utf-8"),
        [b"\xc3\xa0b", b"stra\xc3\x9fe"],
    ),
    "strings.lower 2": (
        lambda f: f(["ÀB", "Straße"]),
        [b"\xc3\x80b", b"stra\xc3\x9fe"],
    ),
    "strings.upper": (
        lambda f: f(["àb", "Straße"], "utf-8"),
        [b"\xc3\x80B", b"STRASSE"],
    ),
    "strings.upper 2": (
        lambda f: f(["àb", "x1"]),
        [b"\xc3\xa0B", b"X1"],
    ),
    "strings.ngrams": (
        lambda f: f(["a", "b", "c"], (1, 2), "|"),
        [b"a", b"b", b"c", b"a|b", b"b|c"],
    ),
    "strings.ngrams 2": (
        lambda f: f(["a", "b"], 3, pad_values=("L", "R")),
        [b"L L a", b"L a b", b"a b R", b"b R R"],
    ),
    "strings.ngrams 3": (
        lambda f: f(["a", "b"], 3, pad_values="P", padding_width=1),
        [b"P a b", b"a b P"],
    ),
    "strings.ngrams 4": (
        lambda f: f(tf.strings.split(["a b c", "d", ""]), 2, preserve_short_sequences=True),
        [[b"a b", b"b c"], [b"d"], []],
    ),
    "strings.ngrams 5": (
        lambda f: f([["a", "b", "c"], ["d", "e", "f"]], 2),
        [[b"a b", b"b c"], [b"d e", b"e f"]],
    ),
    "strings.reduce_join": (
        lambda f: f([["a", "b"], ["c", "d"]], separator="."),
        b"a.b.c.d",
    ),
    "strings.reduce_join 2": (
        lambda f: f([["a", "b"], ["c", "d"]], [0, 1], keepdims=True),
        [[b"acbd"]],
    ),
    "strings.reduce_join 3": (
        lambda f: f([["a", "b"], ["c", "d"]], -1),
        [b"ab", b"cd"],
    ),
    "strings.reduce_join 4": (
        lambda f: f([["a", "b"], ["c", "d"]], 0),
        [b"ac", b"bd"],
    ),
    "strings.regex_full_match": (
        lambda f: f(["TF lib", "lib TF"], ".*lib$"),
        [True, False],
    ),
    "strings.regex_replace": (
        lambda f: f(["a1b22", "éab"], "([0-9]+)|é", r"<\1>"),
        [b"a<1>b<22>", b"<>ab"],
    ),
    "strings.regex_replace 2": (
        lambda f: f("abxd", "x*", "-"),
        b"-a-b-d-",
    ),
    "strings.regex_replace 3": (
        lambda f: f("a1b22", "[0-9]+", "#", replace_global=False),
        b"a#b22",
    ),
    "strings.split": (
        lambda f: f(["Hello World", "  a\tb ", ""]),
        [[b"Hello", b"World"], [b"a", b"b"], []],
    ),
    "strings.split 2": (
        lambda f: f("x,y,,z", ",", maxsplit=2),
        [b"x", b"y", b",z"],
    ),
    "strings.split 3": (
        lambda f: f([["a b", "c"], ["", "d e f"]]),
        [[[b"a", b"b"], [b"c"]], [[], [b"d", b"e", b"f"]]],
    ),
    "strings.split 4": (
        lambda f: f(["a b", "c"], maxsplit=1),
        [[b"a", b"b"], [b"c", b""]],
    ),
    "strings.strip": (
        lambda f: f(["  a b\n", ""]),
        [b"a b", b""],
    ),
    "strings.substr": (
        lambda f: f(["hello", "world"], [1, -3], [2, 5]),
        [b"el", b"rld"],
    ),
    "strings.substr 2": (
        lambda f: f("héllo", 1, 3, "UTF8_CHAR"),
        b"\xc3\xa9ll",
    ),
    "strings.to_hash_bucket": (
        lambda f: f(["", "a", "hello", "12345678", "a string of some words"], 1000),
        [899, 868, 938, 287, 339],
    ),
    "strings.to_hash_bucket_fast": (
        lambda f: f(["", "a", "hello"], 1000),
        [263, 939, 296],
    ),
    "strings.to_hash_bucket_strong": (
        lambda f: f(["", "a", "hello"], 1000, [1, 2]),
        [435, 646, 622],
    ),
    "strings.to_number": (
        lambda f: f([" 1.5 ", "-2e3", ".5"]),
        [1.5, -2000.0, 0.5],
    ),
    "strings.to_number 2": (
        lambda f: f(["12", " -7"], tf.int64),
        [12, -7],
    ),
    "strings.unicode_decode": (
        lambda f: f(["né", ""], "UTF-8"),
        [[110, 233], []],
    ),
    "strings.unicode_decode 2": (
        lambda f: f(
            [b"a\xffb", b"\xe2\x82", b"\x01"],
            "UTF-8",
            replacement_char=63,
            replace_control_characters=True,
        ),
        [[97, 63, 98], [63], [63]],
    ),
    "strings.unicode_decode 3": (
        lambda f: f([b"a\xffb", b"\xe2\x82"], "UTF-8", errors="ignore"),
        [[97, 98], []],
    ),
    "strings.unicode_decode_with_offsets": (
        lambda f: f("a\U0001f600é", "UTF-8"),
        ([97, 128512, 233], [0, 1, 5]),
    ),
    "strings.unicode_decode_with_offsets 2": (
        lambda f: f([b"\xd8=\xde\x00\x00a"], "UTF-16-BE"),
        ([[128512, 97]], [[0, 4]]),
    ),
    "strings.unicode_encode": (
        lambda f: f([[97, 233], [0x1F600, 0x110000]], "UTF-8"),
        [b"a\xc3\xa9", b"\xf0\x9f\x98\x80\xef\xbf\xbd"],
    ),
    "strings.unicode_encode 2": (
        lambda f: f([0xD800, 66], "UTF-16-BE", errors="ignore"),
        b"\x00B",
    ),
    "strings.unicode_script": (
        lambda f: f([0x82B8, 0x411, ord("a"), ord(" "), 0x301, 0x378, -1, 0x10FFFF, 0x110000]),
        [17, 8, 25, 0, 1, 103, -1, 103, -1],
    ),
    "strings.unicode_script 2": (
        lambda f: f(tf.ragged.constant([[0x4E16, 0x3053], [], [0x1F600]])),
        [[17, 20], [], [0]],
    ),
    "strings.unicode_split": (
        lambda f: f(["né", ""], "UTF-8"),
        [[b"n", b"\xc3\xa9"], []],
    ),
    "strings.unicode_split_with_offsets": (
        lambda f: f("né!", "UTF-8"),
        ([b"n", b"\xc3\xa9", b"!"], [0, 1, 3]),
    ),
    "strings.unicode_transcode": (
        lambda f: f(["aé", b"\xff"], "UTF-8", "UTF-16-BE"),
        [b"\x00a\x00\xe9", b"\xff\xfd"],
    ),
    "strings.unicode_transcode 2": (
        lambda f: f(b"\xe9", "ISO-8859-1", "UTF-8"),
        b"\xc3\xa9",
    ),
    "strings.unsorted_segment_join": (
        lambda f: f(["a", "b", "c"], [2, 0, 2], 3, separator=":"),
        [b"b", b"", b"a:c"],
    ),
    "strings.unsorted_segment_join 2": (
        lambda f: f([["a", "b"], ["c", "d"], ["e", "f"]], [1, 1, 0], 2),
        [[b"e", b"f"], [b"ac", b"bd"]],
    ),
    "sets.difference": (
        lambda f: f([[1, 2, 2], [3, 4, 5]], [[2, 9], [5, 3]]),
        ([[0, 0], [1, 0]], [1, 4], [2, 1]),
    ),
    "sets.difference 2": (
        lambda f: f([[1, 2, 2], [3, 4, 5]], [[2, 9], [5, 3]], aminusb=False),
        ([[0, 0]], [9], [2, 1]),
    ),
    "sets.intersection": (
        lambda f: f([[1, 2, 2], [3, 4, 5]], [[2, 9], [5, 3]]),
        ([[0, 0], [1, 0], [1, 1]], [2, 3, 5], [2, 2]),
    ),
    "sets.union": (
        lambda f: f([["a", "b"]], [["b", "c"]]),
        ([[0, 0], [0, 1], [0, 2]], [b"a", b"b", b"c"], [1, 3]),
    ),
    "sets.size": (
        lambda f: f(tf.sets.union([[1, 2, 2], [7, 7, 7]], [[2, 9], [7, 7]])),
        [3, 1],
    ),
    "bitwise.bitwise_and": (
        lambda f: f([5, -7], [3, 2]),
        [1, 0],
    ),
    "bitwise.bitwise_or": (
        lambda f: f([5, -7], [3, 2]),
        [7, -5],
    ),
    "bitwise.bitwise_xor": (
        lambda f: f([5, -7], [3, 2]),
        [6, -5],
    ),
    "bitwise.invert": (
        lambda f: f([5, -7]),
        [-6, 6],
    ),
    "bitwise.left_shift": (
        lambda f: f(tf.constant([5, -7, 1], tf.int8), tf.constant([1, 2, 100], tf.int8)),
        [10, -28, -128],
    ),
    "bitwise.right_shift": (
        lambda f: f([5, -7, -1], [1, 2, 100]),
        [2, -2, -1],
    ),
}

VALUES = {name: (call, Equal(value)) for name, (call, value) in CALLS.items() if " " not in name}
