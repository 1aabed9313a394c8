"""Compare random pipelines of tf.data with real TensorFlow: elements, order, specs, lengths.

Run by a Python that has TensorFlow: `python -m tests.fuzz.pipelines [--seed 7] [--count 250]`. If
TensorFlow crashes or does not end, go on with `--verbose --first N`. A pipeline is a text that runs
with either `tf`. Which error is raised may differ, not whether and after how many elements.
`DIFFERENCES` lists what differs by design.
"""

import argparse
import os
import random
import sys
import tempfile
import warnings

import numpy as np

UNKNOWN = -2  # tf.data's cardinality of datasets whose length is not known
SOURCES = {
    "D.range({n})": 5,
    "D.range({n}, {m}, 2)": 1,
    "D.from_tensor_slices(np.arange({n}))": 2,
    "D.from_tensor_slices((np.arange({n} * 3).reshape({n}, 3),"
    " np.arange({n}, dtype='float32')))": 3,
    "D.from_tensor_slices({{'a': np.arange({n}), 'b': np.ones(({n}, 2), 'float32')}})": 2,
    "D.from_tensors(np.arange({n}))": 1,
    "D.from_tensor_slices(['a', 'b', 'a', 'c'])": 1,
    "D.from_generator(lambda: ([i] * (i % 4) for i in range({n})),"
    " output_signature=tf.TensorSpec((None,), tf.int32))": 2,
    "D.from_generator(lambda: ((i, 2.0 * i) for i in range({n})), (tf.int64, tf.float32))": 1,
    "D.zip(D.range({n}), D.range({m}))": 2,
    "D.zip({{'x': D.range({n}), 'y': D.range({m}).batch(2)}})": 1,
    "D.counter({k}).take({n})": 1,
    "D.choose_from_datasets([D.range({n}), D.range({m})],"
    " D.range({n}).map(lambda i: i % 2), {flag})": 2,
    "D.sample_from_datasets([D.range({n}), D.range({m})], [1.0, 0.0], 1, {flag})": 1,
    "D.random(3).take({n}).map(lambda x: x * 0)": 1,
    "D.load(saved)": 1,
    "tf.data.TextLineDataset(lines)": 1,
    "tf.data.TextLineDataset([lines, lines], num_parallel_reads=2)": 1,
    "tf.data.FixedLengthRecordDataset(lines, 13, 1, 1)": 1,
    "tf.data.TFRecordDataset([records, records])": 1,
    "E.CsvDataset(table, [tf.int32, 1.5, tf.string], header=True)": 1,
    "E.CsvDataset(table, [[7], tf.float64], header=True, select_cols=[0, 1])": 1,
    "E.make_csv_dataset(table, {k}, num_epochs=1, shuffle=False, label_name='n')": 1,
    "D.list_files(folder + '/*.t*', shuffle=False).map(lambda p: tf.ones((), tf.int64))": 1,
    "E.from_list([(1, 2.0), (3, 4.0)])": 1,
}
STEPS = {
    "batch({k})": 4,
    "batch({k}, drop_remainder=True)": 3,
    "batch({k}, num_parallel_calls=2, drop_remainder={flag})": 1,
    "padded_batch({k})": 2,
    "padded_batch({k}, drop_remainder=True)": 1,
    "padded_batch({k}, padded_shapes=[{m}])": 1,
    "unbatch()": 3,
    "rebatch({k})": 2,
    "rebatch({k}, drop_remainder=True)": 1,
    "rebatch([{k}, 1, 2])": 1,
    "map(plus)": 4,
    "map(plus, num_parallel_calls=3)": 2,
    "map(plus, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)": 1,
    "map(lambda *e: (whole(e), lead(*e)))": 2,
    "map(lambda *e: {{'whole': whole(e), 'lead': lead(*e)}})": 1,
    "map(lambda *e: lead(*e))": 2,
    "map(lambda *e: tf.range(lead(*e) % 5))": 2,
    "filter(lambda *e: lead(*e) % 3 != 1)": 3,
    "take_while(lambda *e: lead(*e) < {m})": 2,
    "take({k})": 2,
    "take(-1)": 1,
    "skip({k})": 2,
    "shard({k}, 0)": 2,
    "repeat({k})": 2,
    "repeat().take(20)": 1,
    "enumerate({n})": 2,
    "cache()": 1,
    "cache(folder + '/cache{serial}')": 1,
    "snapshot(folder + '/snapshot{serial}')": 1,
    "prefetch({k})": 1,
    "shuffle(1)": 1,
    "concatenate(D.range({k}))": 1,
    "apply(lambda d: d.concatenate(d.take(2)))": 2,
    "apply(lambda d: D.zip((d, d.skip(1))))": 2,
    "window({k}).flat_map(flat)": 2,
    "window({k}, shift=1, stride=2, drop_remainder={flag}).flat_map(flat)": 2,
    "flat_map(lambda *e: D.from_tensors(whole(e)).repeat(2))": 2,
    "flat_map(lambda *e: D.range(lead(*e) % 4))": 1,
    "interleave(lambda *e: D.from_tensors(whole(e)).repeat(3), {k}, {j})": 3,
    "interleave(lambda *e: D.range(lead(*e) % 4), {k}, {j}, num_parallel_calls=-1)": 2,
    "interleave(lambda *e: D.range(lead(*e) % 4), {k}, {j})": 2,
    "scan(np.int64({n}), lambda s, *e: (s + lead(*one(e)), s * 2))": 2,
    "scan(np.int64(1), lambda s, *e: (s + 1, (s, whole(one(e)))))": 1,
    "map(lambda *e: lead(*e) % 4).unique()": 1,
    "unique()": 1,
    "group_by_window(lambda *e: lead(*e) % 3, lambda k, d: d.batch(4), window_size={k})": 2,
    "group_by_window(lambda *e: lead(*e) % 3, lambda k, d: d.take(2),"
    " window_size_func=lambda k: k + 1)": 1,
    "map(lambda *e: tf.range(lead(*e) % 7)).bucket_by_sequence_length("
    "lambda r: tf.size(r), [2, 4], [{k}, 2, 3], drop_remainder={flag})": 2,
    "map(lambda *e: tf.range(lead(*e) % 4)).bucket_by_sequence_length("
    "lambda r: tf.size(r), [2, 5], [{k}, 2, 3], pad_to_bucket_boundary=True)": 1,
    "map(lambda *e: tf.ones(lead(*e) % 2 + 1)).bucket_by_sequence_length("
    "lambda r: tf.size(r), [2], [{k}, {k}], no_padding=True)": 1,
    "map(lambda *e: tf.debugging.check_numerics(1.0 / tf.cast(lead(*e) % 3, tf.float32), 'x'))"
    ".ignore_errors()": 2,
    "apply(E.assert_cardinality({n}))": 1,
    "apply(E.dense_to_ragged_batch({k}))": 0,
    "with_options(tf.data.Options())": 1,
}
MOST = 60  # elements that are compared


# What differs by design: a part of TensorFlow's error, and the reason.
DIFFERENCES = {
    "Unbatching a tensor is only": "the user's functions are not called to check ranks early",
    "Cannot unbatch an input with": "as above",
    "is not compatible with the shape": "as above",
    "`tf.data.Dataset.unique` does not": "unique accepts every dtype",
    "was expected to contain": "a shuffle reads ahead, so the error comes one element earlier",
    "Invalid `batch_sizes`": "as above",
    "Incompatible dataset elements": "as above, to check dtypes",
    "Cannot add tensor to the batch": "it stacks a last batch that it then drops",
    "You must provide `padded_shapes`": "generators without shapes can be padded, too",
}
# A batch stage on threads that drops a smaller last batch: TensorFlow stacks that batch, too, and
# raises an error if its elements have different shapes.
PARALLEL_DROP = "num_parallel_calls=2, drop_remainder=True"


def text(rng, serial):
    """Return a random pipeline."""
    numbers = {
        "n": rng.randrange(0, 9), "m": rng.randrange(3, 12), "k": rng.randrange(1, 5),
        "j": rng.randrange(1, 4), "flag": rng.random() < 0.5,
    }  # fmt: skip

    def one_of(table, place):
        (chosen,) = rng.choices(list(table), list(table.values()))
        return chosen.format(**numbers, serial=f"{serial}_{place}")

    steps = [one_of(STEPS, place) for place in range(rng.randrange(1, 5))]
    endless = ["repeat()"] if rng.random() < 0.05 else []
    return ".".join([one_of(SOURCES, "s"), *steps, *endless])


def names(tf, folder):
    """Return the names that a pipeline uses."""
    flatten = tf.nest.flatten

    def lead(*element):
        leaf = flatten(element)[0]
        if leaf.dtype == tf.string:
            leaf = tf.strings.length(leaf)
        return tf.reduce_sum(tf.cast(leaf, tf.int64))

    def plus(*element):
        made = tf.nest.map_structure(lambda t: t if t.dtype == tf.string else t + t, element)
        return whole(made)

    def whole(element):
        return element[0] if len(element) == 1 else element

    def one(element):
        return element[0] if len(element) == 1 and isinstance(element[0], tuple) else element

    def flat(*windows):
        parts = flatten(windows)
        made = tuple(part.batch(5) for part in parts)
        return made[0] if len(made) == 1 else tf.data.Dataset.zip(made)

    return {
        "tf": tf, "np": np, "D": tf.data.Dataset, "E": tf.data.experimental, "lead": lead,
        "plus": plus, "whole": whole, "one": one, "flat": flat, "folder": folder,
        "lines": f"{folder}/lines.txt", "records": f"{folder}/two.records",
        "table": f"{folder}/table.csv", "saved": f"{folder}/saved",
    }  # fmt: skip


def files(tf):
    """Return a folder with files to read."""
    folder = tempfile.mkdtemp()
    with open(f"{folder}/lines.txt", "w") as file:  # noqa: PTH123
        file.write("ab\ncdef\r\n\nghijk")
    with open(f"{folder}/table.csv", "w") as file:  # noqa: PTH123
        file.write('n,x,t\n1,2.5,"a, b"\n2,-1e3,\n3,0.5,c\n')
    with tf.io.TFRecordWriter(f"{folder}/two.records") as writer:
        writer.write(b"one")
        writer.write(b"" * 5)
    tf.data.Dataset.range(5).save(f"{folder}/saved")
    return folder


def outcome(program, tf, folder):
    """Return what a pipeline gives as comparable values."""
    found = {"spec": None, "length": None, "elements": [], "again": None, "error": None}
    try:
        data = eval(program, names(tf, folder))
        found["spec"] = _spec(tf, data.element_spec)
        found["length"] = int(data.cardinality())
        for element in data.take(MOST).as_numpy_iterator():
            found["elements"].append(_plain(element))
        again = [_plain(element) for element in data.take(MOST).as_numpy_iterator()]
        found["again"] = again == found["elements"]
    except Exception as error:
        found["error"] = f"{type(error).__name__}: {str(error)[:200]}"
    return found


def _spec(tf, spec):
    if isinstance(spec, dict):
        return {key: _spec(tf, spec[key]) for key in sorted(spec)}
    if isinstance(spec, (tuple, list)):
        return tuple(_spec(tf, part) for part in spec)
    shape = getattr(spec, "shape", None)
    known = shape is not None and getattr(shape, "rank", 0) is not None
    return str(spec.dtype.name), tuple(shape) if known else None


def _plain(element):
    if isinstance(element, dict):
        return {key: _plain(element[key]) for key in sorted(element)}
    if isinstance(element, (tuple, list)):
        return tuple(map(_plain, element))
    array = np.asarray(element)
    return str(array.dtype.kind) + str(array.dtype.itemsize), array.shape, array.tolist()


def difference(ours, theirs):
    """Return what differs, or None."""
    for key in ("elements", "length", "spec", "again"):
        a, b = ours[key], theirs[key]
        if key == "spec" and a is not None and b is not None and _refines(a, b):
            continue
        if key == "length" and b == UNKNOWN and a == len(ours["elements"]):
            continue  # ours is known
        if a != b and not (key != "elements" and (a is None or b is None)):
            return f"{key}\n    ours:   {ours[key]}\n    theirs: {theirs[key]}"
    if (ours["error"] is None) != (theirs["error"] is None):
        return f"error\n    ours:   {ours['error']}\n    theirs: {theirs['error']}"
    return None


def _refines(ours, theirs):
    """Return whether our spec is at least as specific.

    A function that needs values has a spec of its first elements here.
    """
    if isinstance(ours, dict):
        return set(ours) == set(theirs) and all(_refines(ours[key], theirs[key]) for key in ours)
    if len(ours) != len(theirs):
        return False
    if not isinstance(ours[0], str):
        return all(map(_refines, ours, theirs))
    (dtype, shape), (their_dtype, their_shape) = ours, theirs
    if dtype != their_dtype or their_shape is None:
        return dtype == their_dtype
    return shape is not None and len(shape) == len(their_shape) and all(
        n is None or m == n for m, n in zip(shape, their_shape)
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--count", type=int, default=250)
    told = "the first pipeline that runs: to go on after one that crashed TensorFlow"
    parser.add_argument("--first", type=int, default=0, help=told)
    parser.add_argument("--verbose", action="store_true", help="print every pipeline")
    args = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as theirs  # noqa: ICN001 (`tf` is either)

    import framework as ours

    theirs.get_logger().setLevel("ERROR")
    warnings.simplefilter("ignore")
    rng, folders = random.Random(args.seed), [files(ours), files(theirs)]
    found = errors = 0
    print(f"seed {args.seed}, {args.count} pipelines")
    for serial in range(args.count):
        program = text(rng, serial)
        if serial < args.first:
            continue
        if args.verbose:
            print(serial, program, flush=True)
        sides = [outcome(program, tf, folder) for tf, folder in zip((ours, theirs), folders)]
        errors += sides[1]["error"] is not None
        what = difference(*sides)
        error = sides[1]["error"] or ""
        # a window loses the error of a smaller last batch in TensorFlow, and its elements with it
        lost = not error and ".window(" in program and "batch: expected" in str(sides[0]["error"])
        lost |= "Cannot batch tensors" in error and PARALLEL_DROP in program
        if what and not lost and not any(part in error for part in DIFFERENCES):
            found += 1
            print(f"\n{program}\n  differs in {what}")
            print(f"    errors: {sides[0]['error']} | {sides[1]['error']}")
    print(f"\n{found} of {args.count} differ; TensorFlow refuses {errors}.")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
