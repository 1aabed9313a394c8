"""keras.utils.Config: a dict with attributes, which can be frozen."""

import copy
import pickle

import pytest

from framework import keras

Config = keras.utils.Config


def test_a_dict_with_attributes():
    config = Config(b=1, a=2)
    config.c, config["d"] = 3, 4
    assert (config.b, config["c"], config.get("e", 5), "d" in config) == (1, 3, 5, True)
    assert list(config) == ["a", "b", "c", "d"]
    assert list(config.keys()) == ["b", "a", "c", "d"]
    assert list(config.values()) == [1, 2, 3, 4]
    assert dict(config.items()) == config.as_dict() == {"b": 1, "a": 2, "c": 3, "d": 4}
    assert config.as_dict() is not config.as_dict()
    assert config.to_json() == '{"b": 1, "a": 2, "c": 3, "d": 4}'
    assert repr(config) == "<Config {'b': 1, 'a': 2, 'c': 3, 'd': 4}>"
    assert config.pop("a") == 2
    assert config.pop("a", None) is None
    del config["b"]
    config.update({"c": 6}, f=7)
    assert len(config) == 3
    assert (config.c, config.f) == (6, 7)
    assert {**config} == config.as_dict()


def test_unknown_names():
    config = Config(learning_rate=1)
    with pytest.raises(AttributeError, match="did you mean 'learning_rate'"):
        config.learning_rat  # noqa: B018
    with pytest.raises(KeyError):
        config["a"]
    assert not hasattr(config, "a")


@pytest.mark.parametrize(
    "change",
    [
        lambda c: setattr(c, "a", 2),
        lambda c: c.__setitem__("a", 2),
        lambda c: c.__delitem__("a"),
        lambda c: c.update(a=2),
        lambda c: c.pop("a"),
    ],
)
def test_frozen_values(change):
    config = Config(a=1)
    config.freeze()
    assert config.frozen
    with pytest.raises(ValueError, match="frozen"):
        change(config)
    assert config.as_dict() == {"a": 1}
    config.unfreeze()
    change(config)
    assert config.as_dict() != {"a": 1}


def test_copies():
    config = Config(a=[1])
    for again in (copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert again.as_dict() == {"a": [1]}
        again.a.append(2)
        assert config.a == [1]
