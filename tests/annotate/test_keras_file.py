"""Layers of Keras files, run by NumPy."""

import numpy as np

from reelbench.annotate.common import keras_file


def test_layers_do_what_keras_says_they_do() -> None:
    # TensorFlow's "same": of an odd lack, the larger half goes behind.
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    pool = {"pool_size": [3, 3], "strides": [2, 2], "padding": "same"}
    assert keras_file._pooled([x], pool, {})[0, :, :, 0].tolist() == [[10, 11], [14, 15]]
    kernel = np.zeros((3, 3, 1, 1), np.float32)
    kernel[0, 1] = 1  # what is above
    same = {"strides": [1, 1], "padding": "same"}
    above = keras_file._convolution([x], same, {"kernel": kernel})
    assert above[0, 1].ravel().tolist() == [0, 1, 2, 3]
    valid = keras_file._convolution([x], same | {"padding": "valid"}, {"kernel": kernel})
    assert valid.shape == (1, 2, 2, 1)


def test_a_network_without_branches_hands_on_from_layer_to_layer() -> None:
    config = {"config": [{"class_name": "Flatten", "config": {"name": "a"}},
                         {"class_name": "Dense", "config": {"name": "b"}}]}  # fmt: skip
    assert [layer["sources"] for layer in keras_file._layers(config)] == [[""], ["a"]]


def test_a_network_with_branches_names_its_sources() -> None:
    config = {
        "config": {
            "layers": [
                {"class_name": "InputLayer", "name": "in", "inbound_nodes": []},
                {"class_name": "Add", "name": "sum", "inbound_nodes": [[["in", 0], ["in", 0]]]},
            ]
        }
    }
    assert [layer["sources"] for layer in keras_file._layers(config)] == [[""], ["in", "in"]]
