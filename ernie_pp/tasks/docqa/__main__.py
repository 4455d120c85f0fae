"""`python -m ernie_pp.tasks.docqa --config FILE [key=value ...]`: train, evaluate, keep the best, export."""

import sys

from ernie_pp.cli import main

if __name__ == "__main__":
    sys.exit(main(task="docqa"))
