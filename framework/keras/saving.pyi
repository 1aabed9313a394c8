from framework.core.configs import (
    CustomObjectScope as CustomObjectScope, custom_object_scope as custom_object_scope, deserialize,
    get_custom_objects as get_custom_objects, get_registered_name as get_registered_name,
    get_registered_object as get_registered_object,
    register_keras_serializable as register_keras_serializable, serialize_value,
)  # fmt: skip
from framework.saving.limits import Limits as Limits
from framework.saving.model_file import load_model as load_model, save_model as save_model
from framework.saving.onnx.export import export_onnx as export_onnx
from framework.saving.torch_file import read_torch as read_torch
from framework.saving.torch_weights import (
    load_torch_weights as load_torch_weights, propose_torch_names as propose_torch_names,
)  # fmt: skip
from framework.saving.weights import load_weights as load_weights, save_weights as save_weights

deserialize_keras_object = deserialize
serialize_keras_object = serialize_value
