"""So that `python -m compactlearn` is the command `compactlearn`."""

import sys

from compactlearn.cli import main

sys.exit(main())
