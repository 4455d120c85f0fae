"""One rank of a job: `python rank.py JOB.json`, started by job.py."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

# Paddle's C++ side, and what libraries say to their own developers.
os.environ.setdefault("GLOG_minloglevel", "2")
warnings.simplefilter("ignore")

from ernie_pp.machine import set_up_cpu  # noqa: E402
from ernie_pp.parallel.child import follow_launcher, leave, leave_word, traceback_of  # noqa: E402
from ernie_pp.parallel.place import find_place  # noqa: E402


def main() -> None:
    """Do the job and leave with its exit code."""
    place = find_place(os.environ)
    follow_launcher(place)
    path = Path(sys.argv[1])
    job = json.loads(path.read_text(encoding="utf-8"))
    set_up_cpu(math="auto", keep_heap=job["keeps_heap"], threads=int(os.environ["OMP_NUM_THREADS"]))
    from tools.grid_checks.work import Worker

    try:
        Worker(job, place, path.parent).run()
    except BaseException as error:
        code = getattr(error, "exit_code", 1)
        leave_word(place, code=code, text=traceback_of(error), error=error)
        leave(code)
    leave(0)


if __name__ == "__main__":
    main()
