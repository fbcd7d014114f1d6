"""Lets the tests of this folder import its `literal` module by its plain name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
