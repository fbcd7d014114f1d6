"""An absent package is named with what brings it; a broken one keeps its own error."""

import re

import pytest

from compactlearn.core._optional import require


def test_an_absent_module_says_what_to_install_and_for_what():
    sentence = (
        "The command line needs the package 'surely_absent', which is not installed; "
        "install it with: pip install 'compactlearn[cli]'"
    )
    with pytest.raises(ImportError, match=re.escape(sentence)) as caught:
        require("surely_absent.part", extra="cli", purpose="the command line")
    assert caught.value.name == "surely_absent"


def test_a_package_broken_inside_keeps_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import surely_absent\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="surely_absent") as caught:
        require("half_installed", extra="cli", purpose="a test")
    assert "pip install" not in str(caught.value)
