"""python -m iktsne convert TABLE.parquet DATA.h5"""

import sys

from ._convert import main

sys.exit(main())
