"""Run the command `compactlearn` by `python -m compactlearn.cli`."""

import sys

from compactlearn.cli import main

sys.exit(main())
