"""Where modules are tested that have no test file of their own name.

`framework/data/batches.py` is tested in `tests/data/test_batches.py`. The other modules stand here:
those that one test over a table covers, package by package, and parts that are tested together
with what uses them. `test_repository.py` checks that no module is forgotten.
"""

# Test file -> modules, without "framework/" and ".py"; "package/*" means all others of a package.
TESTED_IN = {
    "applications/test_networks.py": "applications/* keras/applications/*",
    "autodiff/debug/test_explain_gradient.py": """
        autodiff/debug/event_log autodiff/debug/explain_sources autodiff/debug/explain_traced
        autodiff/debug/explain_zeros autodiff/debug/explanation autodiff/debug/gradient_paths
        autodiff/debug/rebound_names""",
    "autodiff/debug/test_gradient_check.py": """
        autodiff/debug/finite_differences autodiff/debug/op_check
        autodiff/debug/repeatable_function""",
    "autodiff/debug/test_record_table.py": """
        autodiff/debug/graph_drawing autodiff/debug/recorded_ops""",
    "autodiff/test_batching.py": "autodiff/batch_rules",
    "autodiff/test_derivatives.py": "autodiff/vectorized_map",
    "autodiff/test_tape_engine.py": "autodiff/cotangents autodiff/notes",
    "compiler/test_audits.py": "compiler/audit_recorder compiler/graph_comparison",
    "compiler/test_codegen_cases.py": "compiler/numpy_codegen",
    "compiler/test_compiler_errors.py": "compiler/compiler_log",
    "compiler/test_function.py": """
        compiler/plan_cache compiler/input_signature compiler/symbolic_numbers
        compiler/symbolic_plans""",
    "compiler/test_fused_function.py": "compiler/fused_backends",
    "compiler/test_loop_kernels.py": """
        compiler/fusion compiler/loop_cache compiler/loop_codegen compiler/loop_ir
        compiler/numba_codegen kernels/scalar_code kernels/fast/elementwise
        kernels/fast/elementwise_double""",
    "compiler/test_numpy_regions.py": "compiler/numpy_tasks",
    "compiler/test_tape_plans.py": "compiler/partition",
    "commands/test_commands.py": "__main__ commands/*",
    "core/test_conversion.py": "core/stacking",
    "core/test_members.py": "core/errors functions/initializers",
    "core/test_downloads.py": "core/archive_extraction",
    "core/test_nest.py": "functions/nests",
    "core/test_op.py": "core/operand core/recorders core/symbolic",
    "core/test_plain_pickle.py": "core/pickled_arrays",
    "core/test_promotion.py": "core/cast core/operator_types",
    "core/test_random.py": "core/parallel_run keras/functions/drawing",
    "core/test_variable.py": "core/weight_values",
    "data/test_csv_blocks.py": "kernels/csv_fields kernels/fast/csv_fields",
    "data/test_dataset.py": """
        data/arguments data/batching_methods data/computing_methods data/grouping data/order
        data/ordering_methods data/row_gathering data/stage data/structure data/transform""",
    "data/test_directories.py": "data/image_resizing",
    "data/test_examples.py": "data/file_contents data/parsing",
    "data/test_files.py": """
        data/checksums data/csv_files data/file_readers data/records data/stored
        data/storing_methods""",
    "data/test_image_generator.py": """
        data/image_iterators data/image_tables data/image_transforms""",
    "data/test_methods.py": """
        data/shape_functions
        data/buckets data/experimental data/former_functions data/mixing data/options""",
    "data/test_positions.py": "data/iterator",
    "data/test_processes.py": "data/process_map",
    "data/test_row_files.py": "data/file_arrays",
    "data/test_tokenizer.py": "data/series_windows",
    "datasets/test_cifar.py": "datasets/cifar10 datasets/cifar100",
    "datasets/test_mnist.py": "datasets/archive",
    "datasets/test_packaged.py": """
        datasets/alice datasets/breast_cancer datasets/catalogue
        datasets/diabetes datasets/passengers datasets/wine""",
    "datasets/test_tables.py": "datasets/boston_housing datasets/california_housing",
    "datasets/test_word_sequences.py": "datasets/imdb datasets/reuters",
    "experimental/test_numpy.py": "experimental/numpy/* core/numpy_rule",
    "functions/test_audio.py": "audio",
    "functions/test_distribution.py": "distribute",
    "functions/test_arrays.py": "functions/creation functions/indexing functions/movement",
    "functions/test_control.py": "functions/array functions/python",
    "functions/test_debugging.py": "functions/finite",
    "functions/test_image.py": """
        functions/image_augmentation functions/image_colors functions/image_geometry
        functions/image_layout functions/image_measures functions/image_resizing""",
    "functions/test_image_boxes.py": "kernels/suppression",
    "functions/test_image_files.py": "data/image_files data/png_files",
    "functions/test_hash_tables.py": "lookup/experimental",
    "functions/test_candidates.py": "functions/embedding functions/moving_average",
    "functions/test_banded.py": "kernels/banded",
    "functions/test_linalg.py": "kernels/matrices",
    "functions/test_sampling.py": "functions/distributions functions/generator",
    "functions/test_ragged.py": "ops/ragged_tensor ops/ragged_constructors ragged",
    "functions/test_sparse.py": """
        core/composite data/sparse_rows functions/sparse_arithmetic functions/sparse_lookup
        ops/sparse_tensor sparse""",
    "functions/test_scattering.py": "functions/counting",
    "functions/test_segments.py": "kernels/segments",
    "functions/test_signal.py": """
        functions/cosine_transforms functions/fourier functions/framing
        functions/signal_windows""",
    "functions/test_strings.py": """
        functions/bits functions/joining functions/sets functions/unicode
        functions/unicode_scripts""",
    "functions/test_special.py": """
        functions/parts kernels/bessel kernels/gamma kernels/incomplete
        kernels/inverse_erf""",
    "functions/test_windows.py": "functions/convolution functions/pooling",
    "functions/test_wrappers.py": "core/argument_types core/axes functions/declared ops/public",
    "functions/test_summaries.py": """
        training/summaries/contents training/summaries/event_file training/summaries/graphs
        training/summaries/writers summary/experimental""",
    "functions/test_hparams.py": "summary/hparams",
    "keras/test_ops.py": "keras/ops/* keras/functions/*",
    "keras/ops/test_image_resizing.py": "kernels/resampling",
    "keras/test_trees.py": "keras/functions/trees",
    "kernels/fast/test_entry_point.py": "kernels/fast/tasks",
    "kernels/fast/test_micro.py": "kernels/fast/target kernels/fast/tiles",
    "kernels/test_attention.py": "kernels/fast/attention",
    "kernels/test_blocks.py": "compiler/blocked_codegen kernels/erf",
    "kernels/test_conv.py": """
        kernels/conv_pool kernels/pointwise kernels/windows kernels/fast/conv kernels/fast/im2col
        kernels/fast/layout
        kernels/fast/transforms kernels/fast/winograd kernels/fast/winograd_back""",
    "kernels/test_conv_numpy.py": "kernels/im2col kernels/share kernels/toom_cook kernels/winograd",
    "kernels/test_depthwise.py": "kernels/fast/depthwise kernels/fast/strips",
    "kernels/test_matmul.py": "kernels/fast/matmul kernels/fast/atomic kernels/fast/team",
    "kernels/test_norm.py": "kernels/fast/norm",
    "kernels/test_pool.py": "kernels/fast/pool",
    "kernels/test_products.py": "kernels/fast/products",
    "kernels/test_recurrent.py": "kernels/fast/recurrent",
    "kernels/test_row_chains.py": "kernels/deferred kernels/fast/row_chains",
    "kernels/test_rows.py": "kernels/gelu kernels/kernel_task kernels/fast/rows",
    "kernels/test_scatter.py": "kernels/fast/scatter",
    "kernels/test_tier.py": "kernels/fast/trial",
    "layers/test_operation.py": "core/stateless models/state_tree",
    "layers/test_attention.py": """
        layers/einsum_dense layers/embedding layers/grouped_query layers/heads
        layers/multi_head""",
    "layers/test_base.py": """
        core/auto_names core/configurable core/keras2_arguments core/shared_fields
        layers/arguments layers/autoconfig layers/building layers/call_signature layers/calls
        layers/input_spec layers/nested layers/symbolic_calls layers/tracking
        layers/weights""",
    "layers/test_convolution.py": """
        layers/convolution_base layers/depthwise layers/padding layers/transposed
        layers/upsampling""",
    "layers/test_core.py": "layers/merging layers/reshaping",
    "layers/test_every_layer.py": "layers/*",
    "layers/test_images.py": "layers/pipeline layers/images/* ops/fitting",
    "layers/test_lookup.py": "layers/categorical layers/hashing layers/text",
    "layers/test_spectrograms.py": "kernels/mel_scale",
    "layers/test_normalization.py": """
        layers/batch_normalization layers/preprocessing layers/spectral_normalization""",
    "layers/test_pooling.py": "layers/noise",
    "layers/test_recurrent.py": "layers/recurrent/*",
    "losses/test_every_loss.py": "losses/* core/formula core/registry",
    "metrics/test_every_metric.py": "metrics/*",
    "models/test_functional.py": """
        core/operations core/standins models/cloning models/functional_config models/graph
        models/graph_ops""",
    "models/test_plotting.py": "models/diagram models/diagram_drawing core/layered_layout",
    "models/test_sizes.py": "core/symbolic_sizes",
    "ops/test_every_op.py": "ops/*",
    "ops/test_image_copies.py": "kernels/pixel_copies kernels/fast/pixel_copies",
    "optimizers/test_every_optimizer.py": "optimizers/*",
    "optimizers/test_options.py": "optimizers/averaging optimizers/hooks optimizers/multi",
    "optimizers/test_schedules.py": "optimizers/rates",
    "saving/onnx/test_export.py": "saving/onnx/*",
    "saving/onnx/test_rules.py": "saving/onnx/rules/*",
    "saving/saved_model/test_program.py": """
        saving/saved_model/arrays saving/saved_model/literals saving/saved_model/size_nodes
        saving/saved_model/table_ops""",
    "saving/saved_model/test_saving.py": """
        compiler/seen_signatures saved_model saving/export saving/saved_model/*""",
    "saving/test_checkpoint.py": """
        core/deferred saving/background saving/checkpoint_manager saving/object_graph
        saving/states train""",
    "saving/test_checksum.py": "saving/crc32",
    "saving/test_configs.py": "core/configs",
    "saving/test_hostile.py": "saving/archive saving/hdf5 saving/limits saving/texts",
    "saving/test_legacy_h5.py": "saving/hdf5_texts saving/legacy_h5_writing",
    "saving/test_reading.py": "saving/sections core/stored",
    "saving/test_shards.py": "saving/model_folder",
    "saving/test_torch_files.py": "saving/torch_file saving/torch_weights",
    "saving/test_weights.py": "saving/named_arrays",
    "saving/test_writing.py": "saving/tree",
    "surface/test_values.py": "functions/*",
    "test_config.py": "functions/devices functions/settings",
    "test_debugging.py": "training/numerics_check autodiff/debug/nonfinite_values",
    "test_namespaces.py": """
        bitwise compat dtypes errors image io/gfile linalg math nest nn random sets signal strings
        keras/* keras/preprocessing/* keras/layers/experimental/* keras/utils/* core/lazy
        core/left_out""",
    "training/test_accumulation.py": "training/accumulated_plans",
    "training/test_callbacks.py": "training/callbacks/*",
    "training/test_epochs.py": "data/pydataset training/class_weights",
    "training/test_explicit_step.py": """
        training/gradients training/step_clipping training/step_state""",
    "training/test_fitting.py": """
        training/compilation training/compile_arguments training/output_matching
        training/validation""",
    "training/test_history_report.py": "core/html training/callbacks/history",
    "training/test_mistakes.py": "training/mistakes/*",
    "training/test_model_checkpoint.py": "saving/later",
    "training/test_overrides.py": "training/trainer",
    "training/test_profiling.py": "training/profile_report",
    "training/test_resuming.py": """
        training/callbacks/backup_and_restore training/callbacks/saved_state
        training/random_state""",
    "training/test_tensorboard.py": """
        training/callbacks/tensorboard training/summaries/board_settings
        training/summaries/embeddings training/summaries/weight_images""",
    "training/test_wishes.py": "training/usage_warnings",
    "wrappers/test_estimators.py": "wrappers/*",
}
