"""What Keras 3.15.1 has under which name, and subclasses that use all other names for junk."""

# `dir` and `vars` of an instance, without underscores: what is Keras's own.
PUBLIC = {
    "Callback": """
        model on_batch_begin on_batch_end on_epoch_begin on_epoch_end on_predict_batch_begin
        on_predict_batch_end on_predict_begin on_predict_end on_test_batch_begin on_test_batch_end
        on_test_begin on_test_end on_train_batch_begin on_train_batch_end on_train_begin
        on_train_end params set_model set_params
    """,
    "Optimizer": """
        add_optimizer_variables add_variable add_variable_from_reference apply apply_gradients
        assign assign_add assign_sub build built clipnorm clipvalue ema_momentum
        ema_overwrite_frequency exclude_from_weight_decay finalize_variable_values from_config
        get_config global_clipnorm gradient_accumulation_steps iterations learning_rate
        load_own_variables loss_scale_factor name save_own_variables scale_loss set_weights
        stateless_apply update_step use_ema variables weight_decay
    """,
    "Loss": "call dtype from_config get_config name reduction",
    "Metric": """
        add_variable add_weight dtype from_config get_config name reset_state result
        stateless_reset_state stateless_result stateless_update_state update_state variables
    """,
    "Layer": """
        activity_regularizer add_loss add_metric add_variable add_weight autocast build
        build_from_config built call call_signature_parameters compute_dtype compute_mask
        compute_output_shape compute_output_spec count_params dtype dtype_policy from_config
        get_build_config get_config get_weights input input_dtype input_spec load_own_variables
        losses metrics metrics_variables name non_trainable_variables non_trainable_weights output
        path quantization_mode quantize quantized_build quantized_call rematerialized_call
        save_own_variables set_weights stateless_call supports_jit supports_masking symbolic_call
        trainable trainable_variables trainable_weights variable_dtype variables weights
    """,
    "Model": """
        compile compile_from_config compiled compiled_loss compiled_metrics compute_loss
        compute_metrics distribute_reduction_method distribute_strategy evaluate export fit
        get_compile_config get_layer get_metrics_result get_quantization_layer_structure
        get_state_tree history jit_compile layers load_weights loss make_predict_function
        make_test_function make_train_function metrics_names optimizer output_names predict
        predict_function
        predict_on_batch predict_step reset_metrics run_eagerly save save_weights set_state_tree
        stateless_compute_loss steps_per_execution stop_evaluating stop_predicting stop_training
        summary test_function test_on_batch test_step to_json train_function train_on_batch
        train_step unrolled_steps_per_execution
    """,
    "Functional": "input_names input_shape inputs operations output_names output_shape outputs",
    "Sequential": "add input_shape inputs output_shape outputs pop",
    "PyDataset": """
        max_queue_size num_batches on_epoch_begin on_epoch_end use_multiprocessing workers
    """,
    "Dataset": """
        apply as_numpy_iterator batch bucket_by_sequence_length cache cardinality
        choose_from_datasets concatenate counter element_spec enumerate filter fingerprint
        flat_map from_generator from_tensor_slices from_tensors get_single_element
        group_by_window ignore_errors interleave list_files load map options padded_batch
        prefetch ragged_batch random range rebatch reduce rejection_resample repeat
        sample_from_datasets save scan shard shuffle skip snapshot sparse_batch take take_while
        unbatch unique window with_options zip
    """,
    "Module": """
        name name_scope non_trainable_variables submodules trainable_variables variables
        with_name_scope
    """,
    "Initializer": "clone from_config get_config",
    "Configured": "from_config get_config",
}

# Names with an underscore that public code reads or overrides in Keras.
PRACTICE = """
    _allow_non_tensor_positional_args _convert_input_args _direction _flatten_layers _fn _fn_kwargs
    _get_variable_index _model _seed_generators
"""

# Words that a user takes freely.
WORDS = """
    step steps slots slot groups group graph stack plan plans layer state schedule rate cache config
    history_ count_ total_ values data loss_fn kernel_size_ fields modules track own inner update
    initial shared advance compiles bind needs record known program direct facts locked training
    _step _slots _groups _schedule _rate_now _rate _stack _graph _modules _fields _track _own _plan
    _plans _state _cache _call _build _update _apply _lock _direct _facts _training _program _known
    axis fn ignore_class activation use_cudnn output_size output_names operations inputs outputs
    input_shape sequence optimizers inner_optimizer metrics get_scaled_loss reset_dropout_mask
    data_format units kernel bias rank seed_generator cell cells layers optimizer loss embeddings
    _losses _layers _metrics _variables _path _trainable _record _swapped _display _file _takes_rate
"""


def documented(*kinds, more=""):
    """The names that Keras has for these kinds of objects, and `more`."""
    return {name for kind in kinds for name in PUBLIC[kind].split()} | {
        *PRACTICE.split(),
        *more.split(),
    }


class Junk:
    """Raises whatever is done with it, but for being held and compared by identity."""

    def __getattribute__(self, name):
        if name in ("__class__", "__reduce_ex__", "__deepcopy__"):
            return object.__getattribute__(self, name)
        if name == "__wrapped__":  # doctest looks at what a module holds
            raise AttributeError(name)
        raise AssertionError(f"junk was asked for {name!r}")

    def __deepcopy__(self, memo):
        return self

    __hash__ = object.__hash__


def _refuse(name):
    def refused(self, *args, **kwargs):
        raise AssertionError(f"junk was used: {name}")

    return refused


_USES = """
    call bool iter len getitem contains eq ne lt le gt ge add radd sub rsub mul rmul truediv
    rtruediv neg float int index array str format enter exit
"""
for _name in _USES.split():
    setattr(Junk, f"__{_name}__", _refuse(_name))

JUNK = Junk()


def free_names(thing, taken):
    """The names that an object has and Keras does not, and some that users like."""
    names = {*dir(thing), *getattr(thing, "__dict__", ()), *WORDS.split()}
    return sorted(n for n in names - set(taken) if not n.startswith("__") and n != "_framework")


def litter(thing, taken):
    """Set junk under every free name."""
    for name in free_names(thing, taken):
        setattr(thing, name, JUNK)
    return thing


def littered(base, taken):
    """A subclass whose instances hold junk under every free name before and after `__init__`."""

    def init(self, *args, **kwargs):
        litter(self, taken)
        base.__init__(self, *args, **kwargs)
        litter(self, taken)

    return type(base.__name__, (base,), {"__init__": init})


def shadowed(base, taken, example):
    """A subclass that defines every free name, `example` being an instance of the base."""
    return type(base.__name__, (base,), {n: _refuse(n) for n in free_names(example, taken)})


def with_properties(base, taken, example):
    """A subclass with a property that raises under every free name."""
    names = free_names(example, taken)
    return type(base.__name__, (base,), {n: property(_refuse(n)) for n in names})
