"""Forests of scikit-learn in model files: the nodes of all trees as columns, one after the other.

Compiled code walks from a node to its children and looks at the feature that it names, without
asking whether these exist. So every column is checked before a tree is made of it. The trees are
copied when they are made: they are the one part of a model that loading reads in full.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.tree._tree import Tree

from compactlearn.core._tensor_file import ModelFileError
from compactlearn.io._codec import ADVICE, Codec, State, check_rule, require
from compactlearn.io._sklearn import check_parameters, with_defaults

_LEAF, _NO_FEATURE = -1, -2
_KEPT = ("n_features_in_", "n_outputs_", "feature_names_in_", "_n_samples", "_n_samples_bootstrap")
# What follows from these, and what only out-of-bag scores would need, once a fit is over.
_SPARE = ("estimator", "estimator_params", "class_weight", "estimator_", "estimators_")
_SPARE += ("_sample_weight",)
_COLUMNS = ("left_child", "right_child", "feature", "threshold", "impurity", "n_node_samples")
_COLUMNS += ("weighted_n_node_samples", "missing_go_to_left")
_RULE = {
    "n_features_in_": "size d",
    "n_outputs_": "size q",
    **dict.fromkeys(("sizes", "seeds", "max_features"), "k"),
    **dict.fromkeys(_COLUMNS, "n"),
    "values": "n q",
}


def _node_type() -> np.dtype[Any]:
    """Return what scikit-learn keeps of a node; it may differ between its versions."""
    return Tree(1, np.ones(1, dtype=np.intp), 1).__getstate__()["nodes"].dtype


def _encode(forest: Any) -> State:
    parameters = forest.get_params(deep=False)
    strange = ", ".join(sorted(set(vars(forest)) - {*parameters, *_KEPT, *_SPARE}))
    if strange:
        raise ModelFileError(
            f"its type, {type(forest).__name__}, has attributes ({strange}) that the file format "
            f"does not know of it; {ADVICE}"
        )
    check_parameters(type(forest), parameters)
    if not hasattr(forest, "estimators_"):
        return {"parameters": parameters}
    trees = [estimator.tree_ for estimator in forest.estimators_]
    states = [tree.__getstate__() for tree in trees]
    nodes = np.concatenate([state["nodes"] for state in states])
    if set(nodes.dtype.names or ()) != set(_COLUMNS):
        raise ModelFileError(
            f"its trees are of a version of scikit-learn with other nodes; {ADVICE}"
        )
    return {
        "parameters": parameters,
        "attributes": {name: vars(forest)[name] for name in _KEPT if name in vars(forest)},
        "seeds": np.array([tree.random_state for tree in forest.estimators_], dtype=np.int64),
        "max_features": np.array([tree.max_features_ for tree in forest.estimators_]),
        "sizes": np.array([tree.node_count for tree in trees], dtype=np.int64),
        "values": np.concatenate([state["values"] for state in states])[:, :, 0],
        **{name: np.ascontiguousarray(nodes[name]) for name in _COLUMNS},
    }


def depth_of(left: NDArray[Any], right: NDArray[Any]) -> int:
    """Return the depth of a tree whose nodes follow their parents; refuse anything else.

    >>> depth_of(np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1]))
    2
    """
    n_nodes = left.size
    inner = np.flatnonzero(left != _LEAF)
    require(((left == _LEAF) == (right == _LEAF)).all(), "a tree node has only one child")
    children = np.concatenate([left[inner], right[inner]])
    after = children > np.concatenate([inner, inner])
    require(after.all() and (children < n_nodes).all(), "a child of a tree node is out of range")
    met = np.bincount(children, minlength=n_nodes)
    require(met[0] == 0 and (met[1:] == 1).all(), "a tree node has no parent, or several")
    depth, level = 0, np.zeros(1, dtype=np.intp)
    while (level := level[left[level] != _LEAF]).size:
        level = np.concatenate([left[level], right[level]])
        depth += 1
    return depth


def _tree(nodes: NDArray[Any], values: NDArray[Any], n_features: int) -> Tree:
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    depth = depth_of(left, right)
    named = feature[left != _LEAF]
    require(
        ((named >= 0) & (named < n_features)).all(), "the feature of a tree node is out of range"
    )
    require((feature[left == _LEAF] == _NO_FEATURE).all(), "a leaf of a tree has a feature")
    n_outputs = values.shape[1]
    tree = Tree(n_features, np.ones(n_outputs, dtype=np.intp), n_outputs)
    tree.__setstate__(
        {
            "max_depth": depth,
            "node_count": nodes.size,
            "nodes": nodes,
            "values": np.ascontiguousarray(values[:, :, None], dtype=np.float64),
        }
    )
    return tree


def _nodes(state: State) -> NDArray[Any]:
    type_ = _node_type()
    require(
        set(type_.names or ()) == set(_COLUMNS),
        "this version of scikit-learn stores trees differently",
    )
    nodes = np.zeros(state["left_child"].size, dtype=type_)
    for name in _COLUMNS:
        same = state[name].dtype.kind == type_[name].kind
        require(same, f"{name} of trees has the wrong type")
        nodes[name] = state[name]
    return nodes


def _forest_codec(type_: Any) -> Codec:
    def decode(state: State) -> Any:
        parameters = with_defaults(type_, state.pop("parameters"))
        check_parameters(type_, parameters)
        forest = type_(**parameters)
        if not state:
            return forest  # one that is not fitted
        attributes = state.pop("attributes")
        require(set(attributes) <= set(_KEPT), "a forest has unknown attributes")
        vars(forest).update(attributes)
        check_rule(SimpleNamespace(**attributes, **state), _RULE)
        nodes, values, sizes = _nodes(state), state["values"], state["sizes"].tolist()
        require(
            sizes and min(sizes) > 0 and sum(sizes) == nodes.size,
            "the sizes of the trees do not add up",
        )
        shared = {name: getattr(forest, name) for name in forest.estimator_params}
        forest.estimator_ = forest.estimator
        forest.estimators_ = []
        end = 0
        of_trees = (sizes, state["seeds"].tolist(), state["max_features"].tolist())
        for count, seed, most in zip(*of_trees, strict=True):
            part = slice(end, end := end + count)
            tree = clone(forest.estimator).set_params(**{**shared, "random_state": seed})
            tree.n_features_in_, tree.n_outputs_ = forest.n_features_in_, forest.n_outputs_
            tree.max_features_ = most
            tree.tree_ = _tree(nodes[part], values[part], forest.n_features_in_)
            forest.estimators_.append(tree)
        return forest

    return Codec(_encode, decode)


CODECS = dict.fromkeys(("ExtraTreesRegressor", "RandomForestRegressor"), _forest_codec)
