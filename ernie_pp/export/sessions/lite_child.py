"""`python lite_child.py MODEL.nb INPUT INPUT`, in an environment that has paddlelite and numpy and nothing else.

Reads a line with the shape as JSON and then both arrays (int64) from standard input, and writes a line with the shape
of the logits and the logits (float32), again and again. It imports nothing of ernie_pp, and runs on Python 3.8 too.
"""

import json
import os
import sys

import numpy as np
from paddlelite.lite import MobileConfig, create_paddle_predictor  # type: ignore[import-not-found]


def main(program, names):
    """Answer until standard input is closed."""
    # The library prints to standard output, which is ours to answer on.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    config = MobileConfig()
    config.set_model_from_file(program)
    predictor = create_paddle_predictor(config)
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        shape = json.loads(line)
        for name in names:
            content = sys.stdin.buffer.read(8 * int(np.prod(shape)))
            array = np.frombuffer(content, np.int64).reshape(shape).copy()
            predictor.get_input_by_name(name).from_numpy(array)
        predictor.run()
        logits = np.ascontiguousarray(predictor.get_output(0).numpy(), dtype=np.float32)
        answers.write(json.dumps(logits.shape).encode() + b"\n" + logits.tobytes())
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
