"""Write the weights of `Embedding` layers as files for TensorBoard's projector."""

from pathlib import Path

import numpy as np

from framework.core.errors import InvalidArgumentError, MissingFileError, suggest
from framework.layers import Embedding
from framework.saving.writing import replacing
from framework.training.summaries.event_file import messages

CONFIG = "projector_config.pbtxt"


def label_files(model, folder, metadata):
    """Return {name of an Embedding layer: path of a file of labels}, checked.

    Args:
        model: a model.
        folder: the folder that relative paths begin at.
        metadata: as `embeddings_metadata` of `TensorBoard`.

    Raises:
        InvalidArgumentError: there is no such layer.
        FileNotFoundError: there is no such file.
    """
    names = [layer.name for layer in _embeddings(model)]
    if metadata is None:
        return {}
    found = metadata if isinstance(metadata, dict) else dict.fromkeys(names, metadata)
    for name, path in found.items():
        if name not in names:
            raise InvalidArgumentError(
                f"TensorBoard: embeddings_metadata: no Embedding layer is named {name!r}"
                f"{suggest(name, names)}"
            )
        if not Path(folder, path).is_file():
            raise MissingFileError(
                f"TensorBoard: embeddings_metadata: there is no file {str(Path(folder, path))!r}."
            )
    return {name: Path(folder, path) for name, path in found.items()}


def write_embeddings(model, folder, labels):
    """Write the weights of each `Embedding` layer as a table, and the projector's config.

    The projector reads only files in the folder of its config, so labels are copied.

    Args:
        model: a built model.
        folder: the folder of an event file.
        labels: a result of `label_files`.
    """
    config = messages("plugins.projector.projector_config_pb2").ProjectorConfig()
    Path(folder, "embeddings").mkdir(parents=True, exist_ok=True)
    for layer in _embeddings(model):
        if not layer.built:
            continue
        name = f"embeddings/{layer.path.replace('/', '_')}"
        with replacing(Path(folder, f"{name}.tsv")) as file:
            np.savetxt(file, np.asarray(layer.embeddings), fmt="%.9g", delimiter="\t")
        row = config.embeddings.add(tensor_name=layer.name, tensor_path=f"{name}.tsv")
        row.tensor_shape.extend(layer.embeddings.shape)
        if layer.name in labels:
            row.metadata_path = f"{name}.labels.tsv"
            with replacing(Path(folder, row.metadata_path)) as file:
                file.write(labels[layer.name].read_bytes())
    with replacing(Path(folder, CONFIG)) as file:
        file.write(str(config).encode())  # str() of a protocol buffer is its text format


def _embeddings(model):
    return [layer for layer in model._flatten_layers() if isinstance(layer, Embedding)]
