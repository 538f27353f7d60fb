"""Real processes: exit codes, pipes, signals, terminals, and the time to start."""

from __future__ import annotations

import os
import pty
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from digram.cli import cli
from digram.cli._failures import failure
from digram.errors import CorruptFileError, InternalError, OptionError, PatternError, VocabError

Process = Callable[..., "subprocess.CompletedProcess[bytes]"]
DIGRAM = [sys.executable, "-m", "digram"]


def test_both_names_of_the_command(process: Process, tmp_path: Path) -> None:
    module = process("--version")
    script = Path(sys.executable).with_name("digram")
    if not script.exists():
        pytest.skip("digram is not installed beside this Python")
    direct = subprocess.run([script, "--version"], capture_output=True, check=True, cwd=tmp_path)
    assert module.stdout == direct.stdout
    assert re.fullmatch(rb"digram \d+\.\d+\.\d+\S*\n", module.stdout)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OptionError("x"), 2),
        (OptionError("x", path="f"), 2),
        (PatternError("x"), 2),
        (PatternError("x", path="f"), 3),
        (VocabError("x"), 3),
        (CorruptFileError("x", path="f", line=7), 3),
        (PermissionError(13, "Permission denied", "f"), 4),
        (OSError("odd"), 4),
        (MemoryError(), 4),
        (InternalError("x"), 70),
        (ZeroDivisionError("x"), 70),
        (BaseException("a panic"), 70),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
    ],
)
def test_exit_codes(error: BaseException, code: int) -> None:
    found = failure(error)
    assert found.exit_code == code
    if code == 70:
        assert "please report" in found.message
        assert str(error) in found.message


def test_messages_name_the_place() -> None:
    assert failure(CorruptFileError("is cut short.", path="f", line=7)).message == (
        "f, line 7: is cut short."
    )
    assert failure(PermissionError(13, "Permission denied", "f")).message == "f: Permission denied."


def test_an_internal_fault_shows_no_traceback(process: Process, tmp_path: Path) -> None:
    code = (
        "import sys, digram, digram.cli\n"
        "def load(*a, **k): raise ZeroDivisionError('oops')\n"
        "digram.load = load\n"
        "sys.argv[1:] = ['count', '-t', 'x']\n"
        "digram.cli.main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert result.returncode == 70
    assert b"ZeroDivisionError: oops" in result.stderr
    assert b"Traceback" not in result.stderr


def test_any_locale(process: Process, tok_path: str) -> None:
    latin = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    page = process("show", "--help", env=latin)
    assert (page.returncode, page.stderr) == (0, b"")
    assert rb"\u27e8U+200B\u27e9" in page.stdout
    shown = process("show", "-t", tok_path, "--text", "日", env=latin)
    assert shown.stdout.decode() == "[⟨E6…⟩][⟨…97…⟩][⟨…A5=日⟩]\n"  # data is UTF-8 in every locale
    odd = process("show", "-t", tok_path, "--text", b"a\xff")
    assert odd.stdout.decode() == "[a][⟨FF⟩]\n"


def test_wrong_usage(process: Process) -> None:
    for arguments in (["nonsense"], ["count"], ["--nonsense"], ["train"], []):
        result = process(*arguments, stdin=subprocess.DEVNULL)
        assert result.returncode == 2
        assert result.stdout == b""
        assert b"Usage: digram" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["trian"], "there is no verb 'trian'. Did you mean 'train'?"),
        (
            ["tokenize"],
            "there is no verb 'tokenize'. Verbs: train, train-fair, encode, decode, count",
        ),
        (["train", "--vocab-sise", "3"], "Did you mean '--vocab-size'?"),
        (["--vers"], "Did you mean '--version'?"),
        (["encode", "--text", "a"], "printf %s 'some text' | digram encode -t PATH [OPTIONS]\n"),
        (["count", "-t", "t.json", "--text=a"], "printf %s 'some text' | digram count -t PATH"),
        (["chunks", "--text", "a"], "digram chunks -t PATH -n N [OPTIONS]"),
        (["evaluate", "-t", "a", "--against", "b"], "repeat -t, as in -t old.json -t new.json"),
        (["count", "-t", "a", "--against", "b"], "Error: No such option '--against'."),
        (["decode", "--text", "a"], "Error: No such option '--text'."),
        (
            ["count", "--vocabsize", "5"],
            "No such option '--vocabsize'. digram train has '--vocab-size'.\n",
        ),
        (["counts", "make", "--min-freq=2"], "'--min-freq'. digram train has '--min-frequency'.\n"),
        (["count", "--vocabulary", "5"], "No such option '--vocabulary'.\n"),
        (["train", "--vocabsize", "3"], "'--vocabsize'. Did you mean '--vocab-size'?\n"),
    ],
)
def test_a_slip_of_the_finger(process: Process, arguments: list[str], remedy: str) -> None:
    result = process(*arguments)
    assert (result.returncode, result.stdout) == (2, b"")
    assert remedy in result.stderr.decode().replace('"', "'")


def test_bad_files(process: Process, tmp_path: Path) -> None:
    (tmp_path / "junk.json").write_bytes(b'{"model": ')
    bad = process("count", "-t", "junk.json", input=b"")
    assert bad.returncode == 3
    assert b"junk.json" in bad.stderr
    assert process("count", "-t", "none.json", input=b"").returncode == 4
    (tmp_path / "\udcff.json").write_bytes(b"junk")
    assert process("count", "-t", "\udcff.json", input=b"").returncode == 3


def test_a_reader_that_has_enough(tok_path: str, tmp_path: Path) -> None:
    text = tmp_path / "long.txt"
    text.write_bytes(b"the cat sat there\n" * 200_000)
    for verb in ("show", "encode"):
        writer = subprocess.Popen(
            [*DIGRAM, verb, "-t", tok_path, str(text)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert writer.stdout is not None
        assert writer.stderr is not None
        assert len(writer.stdout.read(10)) == 10
        writer.stdout.close()
        errors = writer.stderr.read()
        writer.stderr.close()
        assert (writer.wait(60), errors) == (0, b"")


def test_a_reader_of_a_tokenizer_that_goes_away(tok_path: str, tmp_path: Path) -> None:
    """A part of a tokenizer is useless, so this is an error. For a part of a text it is not."""
    text = tmp_path / "text.txt"
    text.write_bytes(b"the cat sat there\n" * 2_000)
    train = ["train", str(text), "--max-merges", "9", "-q", "-o", "-"]
    for arguments in (train, ["convert", "-t", tok_path, "-o", "-"]):
        reading, writing = os.pipe()
        os.close(reading)
        result = subprocess.run(
            [*DIGRAM, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False
        )
        os.close(writing)
        assert result.stderr == (
            b"Error: stdout: the reader stopped before the tokenizer was written.\n"
        )
        assert result.returncode == 4


def test_a_missing_file_is_told_in_one_way(process: Process, tok_path: str) -> None:
    for arguments in (
        ("count", "-t", "none.json"),
        ("convert", "-t", "none.json", "-o", "out.json"),
        ("count", "-t", tok_path, "none.json"),
        ("train", "none.json", "--max-merges", "1", "-o", "out.json"),
    ):
        result = process(*arguments, input=b"")
        assert result.stderr.endswith(b"none.json: there is no such file or folder.\n")
        assert result.returncode == 4


def test_output_that_cannot_be_written(process: Process, tok_path: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    for size in (1, 1_000_000):  # written when the command ends, and before
        with open("/dev/full", "wb") as full:
            result = process("encode", "-t", tok_path, input=b"a " * size, stdout=full)
        assert result.returncode == 4
        assert b"No space left on device" in result.stderr
        assert b"Traceback" not in result.stderr
        assert b"Exception ignored" not in result.stderr


def test_unbuffered_output_is_whole(process: Process, tok_path: str) -> None:
    data = b"the cat " * 300_000
    ids = process("encode", "-t", tok_path, input=data, env={"PYTHONUNBUFFERED": "1"})
    text = process("decode", "-t", tok_path, input=ids.stdout, env={"PYTHONUNBUFFERED": "1"})
    assert text.stdout == data


def test_closed_stdin_and_stdout(tok_path: str) -> None:
    command = " ".join(DIGRAM) + f" encode -t '{tok_path}'"
    for redirection in ("<&-", "</dev/null >&-"):
        result = subprocess.run(
            ["sh", "-c", f"{command} {redirection}"], capture_output=True, check=False
        )
        assert result.returncode == 4
        assert b"is closed" in result.stderr
        assert b"Traceback" not in result.stderr


def test_a_pipe_gets_each_text_when_it_is_decoded(tok_path: str) -> None:
    with subprocess.Popen(
        [*DIGRAM, "decode", "-t", tok_path, "--lines"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as decoding:
        assert decoding.stdin is not None
        assert decoding.stdout is not None
        decoding.stdin.write(b"65 66\n")
        decoding.stdin.flush()
        assert decoding.stdout.readline() == b"AB\n"
        decoding.stdin.close()
        assert decoding.wait(60) == 0


def wait_for(process: subprocess.Popen[bytes], phase: str) -> None:
    """Wait until the process waits for input, or has used enough CPU time to be merging."""
    idle = 0
    for _ in range(600):
        time.sleep(0.1)
        assert process.poll() is None
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        idle = idle + 1 if fields[0] == "S" else 0
        if (phase == "reading" and idle == 5) or (phase == "training" and seconds > 1.2):
            return
    raise AssertionError(f"it did not come to {phase}")


@pytest.mark.alone
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize("phase", ["reading", "training"])
def test_ctrl_c(tmp_path: Path, phase: str) -> None:
    out = tmp_path / "tok.json"
    out.write_bytes(b"old")
    if phase == "reading":
        source = ["-"]
    else:
        # Random text that is not split has many distinct pairs: merging takes minutes.
        (tmp_path / "noise").write_bytes(b64encode(random.Random(7).randbytes(6_000_000)))
        source = [str(tmp_path / "noise"), "--pretokenizer", "none"]
    training = subprocess.Popen(
        [*DIGRAM, "train", *source, "--max-merges", "1000000", "-o", str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # In a background job of a shell SIGINT is ignored, and child processes inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (no threads here)
    )
    wait_for(training, phase)
    sent = time.perf_counter()
    training.send_signal(signal.SIGINT)
    stdout, stderr = training.communicate(timeout=60)
    seconds = time.perf_counter() - sent
    print(f"\nCtrl-C while {phase}: over after {seconds * 1000:.0f} ms")
    assert (training.returncode, stdout, stderr) == (130, b"", b"Error: interrupted.\n")
    assert out.read_bytes() == b"old"
    assert seconds < 10  # the whole training would take minutes


def on_terminal(*arguments: str, **env: str) -> bytes:
    """What a verb prints when stdout is a terminal."""
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment |= {"TERM": "xterm", **env}
    subprocess.run([*DIGRAM, *arguments], stdout=theirs, check=True, env=environment)
    os.close(theirs)
    shown = os.read(ours, 100_000)
    os.close(ours)
    return shown


def test_colours_on_a_terminal(tok_path: str) -> None:
    show = ["show", "-t", tok_path, "--text", "the cat"]
    assert b"\x1b[48;5;" in on_terminal(*show)
    assert on_terminal(*show, NO_COLOR="1") == "[the][·cat]\r\n".encode()
    assert on_terminal(*show, "--no-color") == "[the][·cat]\r\n".encode()
    assert b"\x1b[1m" in on_terminal("inspect", "-t", tok_path)
    assert b"\x1b" not in on_terminal("inspect", "-t", tok_path, NO_COLOR="1")
    titles = on_terminal("count", "-t", tok_path, __file__).splitlines()[0]
    assert titles.split() == [b"tokens", b"bytes", b"characters", b"file"]


@pytest.mark.alone
def test_it_starts_quickly() -> None:
    def seconds(*command: str) -> list[float]:
        times = []
        for _ in range(5):
            started = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            times.append(time.perf_counter() - started)
        return times

    for command in (["-c", "pass"], ["-c", "import click"], ["-m", "digram", "--version"]):
        print(f"\npython {' '.join(command)}: {statistics.median(seconds(*command)):.3f} s", end="")
    shown = seconds("-m", "digram", "--help")
    print(f"\npython -m digram --help: {statistics.median(shown):.3f} s")
    assert min(shown) < 2  # the minimum, so that the test passes on a busy machine


def test_the_start_imports_click_alone() -> None:
    code = (
        "import sys; from digram.cli import cli\n"
        "from click.testing import CliRunner; CliRunner().invoke(cli, ['--help'])\n"
        "print(*[name for name in ('numpy', 'rich') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert result.stdout == b"\n"


def test_every_verb_is_a_command() -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert command.name == name
