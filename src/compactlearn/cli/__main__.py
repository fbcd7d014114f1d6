"""So that `python -m compactlearn.cli` is the command `compactlearn`."""

import sys

from compactlearn.cli import main

sys.exit(main())
