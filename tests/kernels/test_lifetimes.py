"""Numba lets go of an array after its last mention, and a pointer to it is no mention."""

import ast
from pathlib import Path

import pytest

import tracelens

KERNELS = sorted((Path(tracelens.__file__).parent / "kernels").glob("*.py"))


def made(function):
    """Names of arrays that a function makes, and makes once."""
    names = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            pairs = zip(target.elts, value.elts, strict=True) if isinstance(value, ast.Tuple) else [(target, value)]
            names += [ast.unparse(name) for name, call in pairs if ast.unparse(call).startswith("np.")]
    return {name for name in names if names.count(name) == 1}


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_no_kernel_keeps_a_pointer_to_an_array_of_its_own(path):
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef) and function.decorator_list:
            arrays = made(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) == "pointer":
                    assert ast.unparse(node.args[0]) not in arrays, f"{function.name}, line {node.lineno}"
