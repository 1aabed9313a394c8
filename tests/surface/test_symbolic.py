"""Every public function on KerasTensors: a model of it gives what the function gives.

The calls are those of the tables beside this file, for `keras.ops` of `keras_calls.py`; each with
0, 1 and 2 unknown sizes in its tensors, and with sizes that are known at run time, straight on
inputs and in the `call` of a layer.
"""

import functools
import types

import pytest

import framework as tf
from framework import keras
from tests.looped import looped
from tests.surface import keras_calls, nn, symbolic_calls
from tests.surface.symbolic_calls import words
from tests.surface.test_values import NAMES, held, row_of

NOT_OF_TENSORS = {
    **dict.fromkeys(words("""
        TYPE_CHECKING compat.v1 as_dtype dtypes.as_dtype executing_eagerly device random.set_seed
        random.get_global_generator random.set_global_generator init_scope
        debugging.enable_check_numerics debugging.disable_check_numerics control_dependencies
        group no_op version
        debugging.get_log_device_placement debugging.set_log_device_placement
        nest.assert_same_structure nest.flatten nest.is_nested nest.map_structure
        nest.pack_sequence_as
    """), "takes no tensors, or what is in a nest as it is"),
    **dict.fromkeys(words("""
        case cond switch_case while_loop custom_gradient function grad_pass_through recompute_grad
        gradients hessians numpy_function py_function jvp vectorize associative_scan fori_loop map
        scan switch
    """), "takes Python functions that it calls, or derivatives of what ran on a tape"),
    **dict.fromkeys(words("""
        is_tensor dtype debugging.is_numeric_tensor debugging.assert_same_float_dtype
        debugging.assert_scalar debugging.assert_shapes debugging.assert_type debugging.Assert
        debugging.assert_proper_iterable convert_to_numpy get_static_value
    """), "answers with Python's values, or not at all"),
    **dict.fromkeys(
        [f"random.Generator.{name}" for name in words("""
            from_key_counter from_non_deterministic_state from_seed from_state make_seeds reset
            reset_from_key_counter reset_from_seed skip split
        """)],
        "makes or sets a generator",
    ),
    **dict.fromkeys(words("""
        bartlett blackman hamming hanning kaiser signal.hamming_window signal.hann_window
        signal.inverse_stft_window_fn signal.kaiser_bessel_derived_window signal.kaiser_window
        signal.linear_to_mel_weight_matrix signal.vorbis_window
    """), "takes a length"),
    **dict.fromkeys(words("""
        image.decode_and_crop_jpeg image.decode_bmp image.decode_gif image.decode_image
        image.decode_jpeg image.decode_jxl image.decode_png image.decode_webp
        image.extract_jpeg_shape image.is_jpeg audio.decode_wav
    """), "takes the bytes of one file"),
    "random.fold_in": "takes seeds",
    **dict.fromkeys(
        words("image.encode_jpeg image.encode_png audio.encode_wav"), "returns the bytes of files"
    ),
    "stop_gradient": "the row's call is within a tape",
    **dict.fromkeys(words("""
        edit_distance nn.ctc_beam_search_decoder nn.ctc_greedy_decoder
        sets.difference sets.intersection sets.size sets.union strings.bytes_split strings.ngrams
        strings.split strings.unicode_decode strings.unicode_decode_with_offsets
        strings.unicode_encode strings.unicode_split strings.unicode_split_with_offsets
    """), "gives or takes rows of different lengths"),
    **dict.fromkeys(
        [n for n in NAMES if n.startswith(("sparse.", "ragged.")) or n.endswith("lookup_sparse")],
        "gives or takes sparse or ragged tensors",
    ),
}  # fmt: skip
"""Functions for which the question makes no sense; why."""

UNKNOWN = {
    "unstack": (0, "how many results there are follows from the size of the axis"),
    "scatter": (1, "how many axes of `values` have a position follows from the last size"),
    "gather_nd": (1, "how many axes the result has follows from the size of the last one"),
}
"""How many sizes may be unknown, where it is not 2; why."""

KNOWN_SIZES = {
    "dynamic_partition": "how many results there are follows from num_partitions",
    **dict.fromkeys(
        [n for n in NAMES if n.startswith("random.Generator.")],
        "the samples' generators go on from one call to the next",
    ),
}
"""Functions that are not tried with sizes known at run time; why."""

OWN = {  # where the row's call is one of a list, or of an array as it is
    "constant": ((2.0,), {"shape": [2, 3]}),
    "convert_to_tensor": ((keras_calls.X,), {}),
    # of class 0, which there is however many classes there are
    **dict.fromkeys(
        ["nn.nce_loss", "nn.sampled_softmax_loss"],
        (
            (nn.ROWS, nn.BIASES, [[0], [0]], nn.LOGITS, 2, 3),
            {"sampled_values": ([0, 0], *nn.SAMPLE[1:])},
        ),
    ),
    "strings.unicode_transcode": ((["a", "b"], "UTF-8", "UTF-16-BE"), {}),
}


class CalledError(Exception):
    """What a spied call was made with."""


def of_tensorflow():
    """{name: call} of TensorFlow's functions: what the row of the name calls it with."""
    for name in NAMES:
        f = held(name)
        if name.startswith(("autodiff.", "Tensor.", "Variable.", "Gradient", "Module.", "name_")):
            continue
        if callable(f) and not isinstance(f, (type, types.ModuleType)):
            yield "tf." + name, f, name


def of_keras():
    homes = {"keras.ops.": "", "keras.ops.image.": "image.", "keras.random.": "random."}
    for home, prefix in homes.items():
        for name in dir(held(home[:-1])):
            f = held(home + name)
            if callable(f) and not name.startswith("_") and not isinstance(f, type):
                yield home + name, f, prefix + name


FUNCTIONS = [
    f for f in [*of_tensorflow(), *of_keras()] if f[2] not in NOT_OF_TENSORS
]  # (id, function, name)


@functools.lru_cache(maxsize=1)  # for all cases of one test
def call_of(full, f, name):
    if full.startswith("keras."):
        assert name in keras_calls.CALLS, f"{full} needs a call in tests/surface/keras_calls.py"
        args, kwargs = keras_calls.CALLS[name]
    elif name in OWN:
        args, kwargs = OWN[name]
    else:
        args, kwargs = _spied(f, name)
    return symbolic_calls.Call(f, name, args, kwargs)


def _spied(f, name):
    """The first arguments with which the function's row calls it."""

    def spy(*args, **kwargs):
        raise CalledError(args, kwargs)

    tf.random.set_seed(1)
    with pytest.raises(CalledError) as called:
        row_of(name)[0](spy)
    return called.value.args


@looped("within", [False, True])
@looped("unknown", [0, 1, 2])
@pytest.mark.parametrize(("full", "f", "name"), FUNCTIONS, ids=[f[0] for f in FUNCTIONS])
def test_of_tensors(full, f, name, unknown, within):
    call = call_of(full, f, name)
    if call.arrays and unknown <= UNKNOWN.get(name, (2,))[0]:
        symbolic_calls.check(call, unknown, within=within)


def of_python(inputs):
    return keras.ops.shape(inputs[0])


def of_tensors(inputs):
    return tf.unstack(tf.shape(inputs[0]))


def has_sizes(full, f, name):
    known = full.startswith("tf.") or name in keras_calls.CALLS
    return known and name not in KNOWN_SIZES and call_of(full, f, name).sizes


SIZED = [f for f in FUNCTIONS if has_sizes(*f)]


@looped("within", [False, True])
@looped("sizes_of", [of_python, of_tensors])
@pytest.mark.parametrize(("full", "f", "name"), SIZED, ids=[f[0] for f in SIZED])
def test_of_sizes(full, f, name, sizes_of, within):
    symbolic_calls.check(call_of(full, f, name), 1, sizes_of, within)


def test_nothing_is_left_out():
    assert len(FUNCTIONS) > 540
    assert len(SIZED) > 50
    assert all(call_of(*f).arrays or call_of(*f).sizes for f in FUNCTIONS)


@pytest.mark.parametrize("name", [n for n in UNKNOWN if n != "scatter"])
def test_explain_reports_what_it_cannot_determine(name):
    """But for `scatter`, whose error names the sizes that do not fit."""
    call = call_of(*next(f for f in FUNCTIONS if f[2] == name))
    with pytest.raises(ValueError, match=r"depends on (an )?unknown size"):
        symbolic_calls.check(call, UNKNOWN[name][0] + 2)
