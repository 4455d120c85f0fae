"""Files of a PaddleNLP model name, fetched as PaddleNLP does and kept in its cache."""

from __future__ import annotations

from pathlib import Path

from ernie_pp.errors import ModelError
from ernie_pp.models.light_import import import_ernie
from ernie_pp.models.weights import PICKLE, SAFETENSORS
from ernie_pp.nearest import nearest_name


def download_weights(name: str) -> Path:
    """The folder in PaddleNLP's cache that holds the weights of a model name."""
    urls = import_ernie().modeling.ErnieModel.pretrained_resource_files_map["model_state"]
    return download_file(name, [urls[name]] if name in urls else [SAFETENSORS, PICKLE]).parent


def download_file(name: str, file_names: list[str]) -> Path:
    """A file of a model name in PaddleNLP's own cache, fetched where it is not there yet."""
    # The downloader pulls in hub clients that nothing else here needs.
    from paddlenlp.utils.download import resolve_file_path

    try:
        found = resolve_file_path(name, file_names)
    except Exception as error:
        # The clients raise errors of several libraries; each of them means: no file.
        raise _not_downloaded(name, f"cannot be downloaded: {_first_line(error)}") from error
    if found is None or not Path(found).is_file():
        raise _not_downloaded(name, "is no model PaddleNLP can find")
    return Path(found)


def _not_downloaded(name: str, what: str) -> ModelError:
    known = list(import_ernie().modeling.ErnieModel.pretrained_resource_files_map["model_state"])
    nearest = nearest_name(name, known)
    hint = f"The nearest name is {nearest}.\n" if nearest not in (None, name) else ""
    return ModelError(
        f"model.name {name}",
        what,
        f"{hint}Offline: on a machine with network run\n"
        f'  python -c "from paddlenlp.transformers import ErnieModel, ErnieTokenizer as T; '
        f"ErnieModel.from_pretrained('{name}').save_pretrained('DIR', safe_serialization=True); "
        f"T.from_pretrained('{name}').save_pretrained('DIR')\"\n"
        "then copy DIR here and set model.path to it; model.sizes starts from random weights instead.",
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
