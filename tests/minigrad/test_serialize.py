"""Checkpoints: what is written comes back, and a damaged or foreign file is told apart."""

import json
import os
import sys
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor
from minigrad.errors import MissingExtraError
from minigrad.serialize import FORMAT, CheckpointError, digest, load_checkpoint, save_checkpoint
from tests.lazy import safetensors

ARRAYS: dict[str, Any] = {
    "w": np.arange(6, dtype=np.float32).reshape(2, 3).T,  # not contiguous
    "empty": np.zeros((0, 2)),
    "scalar": np.array(3, dtype=np.int64),
    "t": Tensor([1.0, 2.0], requires_grad=True),
}


def test_arrays_and_description_come_back(tmp_path):
    path = tmp_path / "folder" / "c.safetensors"
    about = {"config": {"d": 8, "name": "é 日本"}, "list": [1, None, True]}
    save_checkpoint(path, ARRAYS, about)
    arrays, read = load_checkpoint(path)
    assert read == about
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        expected = ARRAYS[name]
        expected = expected.numpy() if isinstance(expected, Tensor) else expected
        np.testing.assert_array_equal(array, expected)
        assert array.dtype == expected.dtype
    assert [p.name for p in path.parent.iterdir()] == ["c.safetensors"]  # nothing temporary is left


def test_other_programs_can_read_it(tmp_path):
    save_checkpoint(tmp_path / "c", ARRAYS, {})
    np.testing.assert_array_equal(safetensors.numpy.load_file(tmp_path / "c")["w"], ARRAYS["w"])


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "c"
    save_checkpoint(path, {"a": np.ones(2)}, {"n": 1})

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(path, {"a": np.zeros(2)}, {"n": 2})
    assert load_checkpoint(path)[1] == {"n": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_what_is_no_json_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(CheckpointError, match="JSON"):
        save_checkpoint(tmp_path / "c", {}, {"a": np.float32(1)})
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(CheckpointError, match=r"file' is a file, so nothing can be saved in it"):
        save_checkpoint(tmp_path / "file" / "deeper" / "c", {}, {})
    assert (tmp_path / "file").read_text() == "kept"


def test_a_folder_is_no_name_of_a_file(tmp_path):
    with pytest.raises(CheckpointError, match=r"is a folder: name a file in it, such as '.*model.safetensors'"):
        save_checkpoint(tmp_path, ARRAYS, {})
    assert not list(tmp_path.iterdir())


def test_missing_truncated_and_foreign_files(tmp_path):
    path = tmp_path / "c"
    with pytest.raises(CheckpointError, match="no checkpoint at"):
        load_checkpoint(path)
    save_checkpoint(path, ARRAYS, {"n": 1})
    whole = path.read_bytes()
    for part in (b"", whole[:4], whole[:100], whole[:-1], b"PK\x03\x04 not safetensors at all"):
        path.write_bytes(part)
        with pytest.raises(CheckpointError, match="not a safetensors file, or is truncated"):
            load_checkpoint(path)
    safetensors.numpy.save_file({"a": np.ones(1)}, path)
    with pytest.raises(CheckpointError, match="not a checkpoint of minigrad"):
        load_checkpoint(path)
    arrays = {"a": np.ones(1)}
    for format_ in ("minigrad-1", "minigrad-99"):
        text = json.dumps({})
        for checksum in ({}, {"checksum": digest(arrays, format_ + text)}):
            safetensors.numpy.save_file(arrays, path, {"format": format_, "about": text} | checksum)
            with pytest.raises(CheckpointError, match=rf"\(its format is '{format_}', not '{FORMAT}'\)"):
                load_checkpoint(path)
    safetensors.numpy.save_file(arrays, path, {"format": FORMAT, "about": json.dumps({})})
    with pytest.raises(CheckpointError, match="its checksum does not match"):
        load_checkpoint(path)
    for about in ({}, {"about": "not JSON"}, {"about": "[1]"}):
        checksum = {"checksum": digest(arrays, FORMAT + about.get("about", ""))}
        safetensors.numpy.save_file(arrays, path, {"format": FORMAT} | checksum | about)
        with pytest.raises(CheckpointError, match="does not describe its arrays"):
            load_checkpoint(path)


def test_without_safetensors_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(MissingExtraError, match=r"pip install safetensors$"):
        load_checkpoint(tmp_path / "c")
