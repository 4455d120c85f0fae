"""The switches suit the CPU, and a machine that says nothing is no error."""

import os
import subprocess
import sys

import pytest
import sample_run

from ernie_pp.machine import count_cores, cpu, set_up_cpu, switch_math
from ernie_pp.machine.cpu import MATH_SWITCH, choose_math_switch, read_cpu_info

AVX2 = {"avx2", "fma", "sse4_2"}
AVX512 = AVX2 | {"avx512f", "avx512dq", "avx512bw", "avx512vl"}


@pytest.fixture
def fresh(monkeypatch):
    """No switch in the environment, no Paddle loaded, as in a new process."""
    for name in (MATH_SWITCH, "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "x")  # so that the old value comes back
        monkeypatch.delenv(name)
    for name in [name for name in sys.modules if name == "paddle" or name.endswith("libpaddle")]:
        monkeypatch.delitem(sys.modules, name)

    def with_cpu(maker, flags):
        monkeypatch.setattr(cpu, "read_cpu_info", lambda: (maker, "a CPU", flags))

    return with_cpu


@pytest.mark.parametrize(
    "maker, flags, switch",
    [
        ("AuthenticAMD", AVX512, "7"),
        ("AuthenticAMD", AVX2, "5"),
        ("AuthenticAMD", AVX512 - {"avx512vl"}, "5"),
        ("AuthenticAMD", {"sse4_2"}, None),
        ("HygonGenuine", AVX2, "5"),
        ("HygonGenuine", {"avx2"}, None),
        ("GenuineIntel", AVX512, None),
        ("CentaurHauls", AVX2, None),
        ("", set(), None),
    ],
)
def test_the_switch_fits_maker_and_vectors(maker, flags, switch):
    assert choose_math_switch(maker, flags) == switch


def test_cpu_info_is_that_of_the_first_cpu(tmp_path):
    path = tmp_path / "cpuinfo"
    path.write_text(
        "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC: 9\nflags\t\t: fpu avx2 fma\n\n"
        "processor\t: 1\nvendor_id\t: GenuineIntel\nflags\t: none\n",
        encoding="utf-8",
    )
    assert read_cpu_info(path) == ("AuthenticAMD", "AMD EPYC: 9", {"fpu", "avx2", "fma"})


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe garbage", b"CPU implementer : 0x41\nFeatures : fp asimd\n"])
def test_a_system_that_says_nothing_known_is_no_error(tmp_path, content):
    if content is not None:
        (tmp_path / "cpuinfo").write_bytes(content)
    assert read_cpu_info(tmp_path / "cpuinfo") == ("", "unknown", set())


def test_amd_gets_the_switch_and_the_user_may_keep_another(fresh, monkeypatch):
    fresh("AuthenticAMD", AVX512)
    setup = set_up_cpu(math="auto", keep_heap=False, threads=None)
    assert (setup.math_switch, os.environ[MATH_SWITCH], setup.problems) == ("7", "7", ())
    assert f"{MATH_SWITCH}=7" in str(setup)
    monkeypatch.setenv(MATH_SWITCH, "5")
    assert set_up_cpu(math="auto", keep_heap=False, threads=None).math_switch == "5"


def test_off_sets_nothing_and_says_what_it_costs(fresh):
    fresh("AuthenticAMD", AVX2)
    setup = set_up_cpu(math="off", keep_heap=False, threads=None)
    assert setup.math_switch is None and MATH_SWITCH not in os.environ
    assert "slow path" in setup.problems[0] and "cpu.math: off" in setup.problems[0]


def test_intel_is_left_alone(fresh):
    fresh("GenuineIntel", AVX512)
    for math in ("auto", "off"):
        setup = set_up_cpu(math=math, keep_heap=False, threads=None)
        assert (setup.math_switch, setup.problems) == (None, ())
    assert "own choice" in str(setup)


def test_threads_are_those_asked_for(fresh):
    fresh("GenuineIntel", AVX2)
    assert set_up_cpu(math="auto", keep_heap=False, threads=3).threads == 3
    assert (os.environ["OMP_NUM_THREADS"], os.environ["MKL_NUM_THREADS"]) == ("3", "3")


@pytest.mark.parametrize(
    "given, expected",
    [(None, count_cores()), ("5", 5), *((given, count_cores()) for given in ("0", "x", "²", "100000", "9" * 5000))],
)
def test_else_those_of_the_environment_else_one_a_core(fresh, monkeypatch, caplog, given, expected):
    fresh("GenuineIntel", AVX2)
    if given is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert set_up_cpu(math="auto", keep_heap=False, threads=None).threads == expected
    assert ("expected a whole number from 1 to 1024" in caplog.text) == (given not in (None, "5"))
    assert (os.environ["OMP_NUM_THREADS"], os.environ["MKL_NUM_THREADS"]) == (str(expected), str(expected))


def test_too_late_is_said(fresh, monkeypatch):
    fresh("GenuineIntel", AVX2)
    monkeypatch.setitem(sys.modules, "paddle", sys)
    assert "loaded before" in set_up_cpu(math="auto", keep_heap=False, threads=None).problems[0]


def test_the_math_switch_alone_sets_no_threads(fresh, monkeypatch):
    fresh("AuthenticAMD", AVX2)
    assert (
        switch_math("off", off="--math off")
        == "the math library takes its slow path on this AuthenticAMD CPU (--math off)"
    )
    assert MATH_SWITCH not in os.environ
    assert switch_math("auto", off="") is None and os.environ[MATH_SWITCH] == "5"
    assert "OMP_NUM_THREADS" not in os.environ
    monkeypatch.delenv(MATH_SWITCH)
    monkeypatch.setitem(sys.modules, "paddle", sys)
    assert "Paddle was loaded before" in switch_math("auto", off="")


@pytest.mark.parametrize("keep_heap", [True, False])
def test_keeping_the_heap_is_a_switch(keep_heap):
    # In a process of its own: the switch cannot be taken back.
    code = f"from ernie_pp.machine import set_up_cpu\nprint(set_up_cpu(math='off', keep_heap={keep_heap}, threads=1))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=sample_run.environment()
    )
    assert ("kept between steps" in done.stdout) == keep_heap


def test_without_glibc_the_heap_is_as_it_was(monkeypatch):
    def no_library(_):
        raise OSError("libc.so.6: not found")

    monkeypatch.setattr(cpu.ctypes, "CDLL", no_library)
    assert set_up_cpu(math="off", keep_heap=True, threads=None).keeps_heap is False
