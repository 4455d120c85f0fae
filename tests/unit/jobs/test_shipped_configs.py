"""Each config in configs/cls trains a few steps: on rows of its shape, and on the public set it was made for."""

import itertools
import json
from pathlib import Path

import pytest
import sample_run
import yaml

CONFIGS = sorted((Path(__file__).resolve().parents[3] / "configs" / "cls").glob("*.yaml"))
SIZES = {"num_layers": 1, "hidden_size": 16, "num_heads": 2, "max_positions": 512}
# The public set a config was made for, by the config's name.
PUBLIC = {
    "iflytek": "fewclue_iflytek/dev_0.json",
    "tnews": "fewclue_tnews/train_few_all.json",
    "takeaway": "waimai_10k/waimai_10k.csv",
    "long_news": "inews_sentiment/dev.jsonl",
    "legal_elements": "cail2019_elements/labor/data_small_selected.json",
}


def _write_rows(folder, config, ending):
    """Twelve rows with the fields and labels a config expects."""
    data, multi_label = config.get("data", {}), config.get("cls", {}).get("multi_label", False)
    labels = list(map(str, config.get("labels", ["1", "2"])))
    rows = []
    for number, label in zip(range(12), itertools.cycle(labels), strict=False):
        row = {data.get("text", "text"): f"房间很干净，下次还来，真的{number}", data.get("label", "label"): label}
        if "text_pair" in data:
            row[data["text_pair"]] = f"早餐太差了{number}"
        if multi_label:
            row[data.get("label", "label")] = [label] * (number % 3 > 0)
        rows.append(row)
    path = folder / f"rows.{ending}"
    if ending == "csv":
        lines = [",".join(rows[0]), *(",".join(f'"{value}"' for value in row.values()) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif ending == "json":
        path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    else:
        sample_run.write_jsonl(path, rows)
    return path


def _train(folder, config, rows):
    vocabulary = sample_run.write_vocabulary(folder / "vocab.txt", ["房间很干净，下次还来，真的早餐太差了0123456789"])
    sizes = json.dumps({**SIZES, "vocab": str(vocabulary)})
    words = [f"data.train={rows}", f"data.dev={rows}", f"output_dir={folder / 'run'}", f"model.sizes={sizes}"]
    words += ["train.max_steps=2", "train.batch_size=4", "cls.baseline=false", "cpu.threads=1", "export.enabled=false"]
    return sample_run.train_here(config, *words)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_a_config_trains_on_rows_of_its_shape(tmp_path, config):
    ending = {"takeaway": "csv", "legal_elements": "json"}.get(config.stem, "jsonl")
    rows = _write_rows(tmp_path, yaml.safe_load(config.read_text(encoding="utf-8")), ending)
    assert "dev:" in _train(tmp_path, config, rows)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_config_trains_on_the_public_set_it_was_made_for(tmp_path, shared_data, name):
    source = shared_data / PUBLIC[name]
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    # The lines after the header, from all over the file: it may be sorted by label.
    rows = tmp_path / f"rows{source.suffix}"
    rows.write_text("".join([lines[0], *lines[1 :: max(1, len(lines) // 40)]]), encoding="utf-8")
    assert "dev:" in _train(tmp_path, CONFIGS[0].with_name(f"{name}.yaml"), rows)
