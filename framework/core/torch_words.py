"""PyTorch's and NumPy's names for features that have other names here: tensors, layers, optimizers.

Reading such a name raises an AttributeError that says what to write instead, so `hasattr` is False.
A subclass or an object can define the name itself.
"""


class TorchWord:
    """A name of PyTorch; reading it raises an AttributeError that names the equivalent here."""

    library = "PyTorch"

    def __init__(self, instead):
        self.instead = instead

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        raise AttributeError(
            f"{owner.__name__!r} has no attribute {self.name!r}, which is {self.library}'s. "
            f"{self.instead}"
        )


class ArrayWord(TorchWord):
    """A method of NumPy's arrays; reading it raises an error that names the function to use."""

    library = "NumPy"

    def __init__(self, call):
        super().__init__("")
        self.call = call

    def __set_name__(self, owner, name):
        super().__set_name__(owner, name)
        self.instead = f"Use {self.call}, or x.numpy().{name} for an array."


_GRADIENT = (
    "Compute the loss inside `with tf.GradientTape() as tape:`, then call "
    "tape.gradient(loss, variables)."
)
_NO_MOVE = "The only device is the CPU: leave out the call."
_CAST = 'Use tf.cast(x, "{}").'
_FRESH = "Leave out the call: a tape returns new gradients and does not add them to earlier ones."


class TensorWords:
    """Base of tensors and variables, with errors for names of torch.Tensor and numpy.ndarray."""

    __slots__ = ()

    backward = TorchWord(_GRADIENT)
    grad = TorchWord(_GRADIENT)
    requires_grad = TorchWord("A tape watches trainable variables, and x after tape.watch(x).")
    requires_grad_ = TorchWord("Use tape.watch(x) inside the tape, or make it a tf.Variable.")
    retain_grad = TorchWord("Pass the tensor as a source: tape.gradient(loss, x).")
    detach = TorchWord("Use tf.stop_gradient(x).")
    clone = TorchWord("Tensors never change, so no copy is needed; tf.identity(x) returns one.")
    view = TorchWord("Use tf.reshape(x, shape).")
    permute = TorchWord("Use tf.transpose(x, perm=...).")
    unsqueeze = TorchWord("Use tf.expand_dims(x, axis).")
    dim = TorchWord("Use x.ndim.")
    numel = TorchWord("Use x.size, or tf.size(x).")
    masked_fill = TorchWord("Use tf.where(mask, value, x).")
    contiguous = TorchWord("Leave out the call: every op accepts tensors of any memory layout.")
    to = TorchWord(f'{_NO_MOVE} For another dtype use tf.cast(x, "float16").')
    cpu = TorchWord(_NO_MOVE)
    cuda = TorchWord(_NO_MOVE)
    float = TorchWord(_CAST.format("float32"))
    half = TorchWord(_CAST.format("float16"))
    double = TorchWord(_CAST.format("float64"))
    long = TorchWord(_CAST.format("int64"))

    # PyTorch's tensors have most of the following names of NumPy's arrays too.
    T = ArrayWord("tf.transpose(x)")
    all = ArrayWord("tf.reduce_all(x)")
    any = ArrayWord("tf.reduce_any(x)")
    argmax = ArrayWord("tf.argmax(x, axis)")
    argmin = ArrayWord("tf.argmin(x, axis)")
    argsort = ArrayWord("tf.argsort(x)")
    astype = ArrayWord("tf.cast(x, dtype)")
    clip = ArrayWord("tf.clip_by_value(x, low, high)")
    copy = ArrayWord("x itself, as tensors never change")
    cumsum = ArrayWord("tf.cumsum(x)")
    dot = ArrayWord("x @ y")
    flatten = ArrayWord("tf.reshape(x, [-1])")
    max = ArrayWord("tf.reduce_max(x)")
    mean = ArrayWord("tf.reduce_mean(x)")
    min = ArrayWord("tf.reduce_min(x)")
    prod = ArrayWord("tf.reduce_prod(x)")
    ravel = ArrayWord("tf.reshape(x, [-1])")
    repeat = ArrayWord("tf.repeat(x, times)")
    reshape = ArrayWord("tf.reshape(x, shape)")
    round = ArrayWord("tf.round(x)")
    squeeze = ArrayWord("tf.squeeze(x)")
    std = ArrayWord("tf.math.reduce_std(x)")
    sum = ArrayWord("tf.reduce_sum(x)")
    swapaxes = ArrayWord("tf.transpose(x, perm)")
    take = ArrayWord("tf.gather(x, indices)")
    transpose = ArrayWord("tf.transpose(x, perm)")
    var = ArrayWord("tf.math.reduce_variance(x)")


class LayerWords:
    """Base of layers and models, with errors for names of torch.nn.Module."""

    parameters = TorchWord("Use trainable_variables, or variables to include the others.")
    named_parameters = TorchWord("Use {v.path: v for v in model.variables}.")
    zero_grad = TorchWord(_FRESH)
    backward = TorchWord(_GRADIENT)
    state_dict = TorchWord('Use get_weights(), or save_weights("name.weights.h5").')
    load_state_dict = TorchWord('Use set_weights(weights), or load_weights("name.weights.h5").')
    train = TorchWord("Pass training=True in the call: model(x, training=True); fit does.")
    eval = TorchWord("Pass training=False in the call: model(x, training=False); predict does.")
    forward = TorchWord("The method is `call`; call the object itself: model(x).")
    modules = TorchWord("Use layers, the layers of a model.")
    children = TorchWord("Use layers, the layers of a model.")
    requires_grad_ = TorchWord("Set `trainable = False` or True.")
    register_buffer = TorchWord("Use self.add_weight(..., trainable=False).")
    register_parameter = TorchWord("Use self.add_weight(...).")
    to = TorchWord(_NO_MOVE)
    cpu = TorchWord(_NO_MOVE)
    cuda = TorchWord(_NO_MOVE)
    half = TorchWord('Set keras.config.set_dtype_policy("mixed_float16") first.')


class OptimizerWords:
    """Base of optimizers, with errors for names of torch.optim.Optimizer."""

    step = TorchWord(
        "Use optimizer.apply_gradients(zip(gradients, variables)), with the gradients of "
        "tape.gradient(loss, variables)."
    )
    zero_grad = TorchWord(_FRESH)
    param_groups = TorchWord('Use groups={"pattern of paths": {"learning_rate": ...}}.')
    state_dict = TorchWord("Use optimizer.variables, or training_step.state().")
    load_state_dict = TorchWord("Use training_step.restore(state), or fit(resume=folder).")
