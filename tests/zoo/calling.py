"""What a plugin may do with its host calls, and what it, a person and the journal then get.

Each is a program of a few lines behind `PRELUDE`, with the good answer as its argument. What it
got is spelled call by call, `ok` or the word of the refusal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Final

from stella import limits
from stella.wire.points import Call
from stella.wire.points import Point
from tests.making.sessions import Line
from tests.making.sessions import calls
from tests.making.sessions import says
from tests.making.zoo import GOOD
from tests.making.zoo import Cage
from tests.making.zoo import Rights
from tests.making.zoo import cage

PRELUDE: Final = """\
import json, os, sys, time
good = sys.argv[1]
request = json.loads(sys.stdin.readline())

def line(call, **args):
    return json.dumps({"call": call, "id": 7, "args": args})

def tell(*lines):
    print(*lines, sep="\\n", flush=True)

def ask(call, **args):
    tell(line(call, **args))
    return json.loads(sys.stdin.readline())

def emit(n=1, **payload):
    return line("emit", name=f"e{n}", payload=payload)

def fan(width):
    got = ask("candidate_fanout", role="builder", instruction="try", width=width)
    return got["ok"]["candidates"]

"""
EVERY: Final = tuple(call.value for call in Call)
ROLES: Final = {"planner": "plan", "builder": "worker", "sage": "oracle"}
TRACKED: Final = {"a.txt": "a\n", "sub/b.txt": "b\n"}
NEVER: Final = {"text": "too late", "delay_ms": 60_000}
"""A reply that comes long after the deadline of an animal that waits for it."""


def attempt(path: str) -> tuple[Line, ...]:
    """The turn of one candidate: it writes one file."""
    return (calls("write_file", path=path, content="an attempt\n"), says("tried"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One animal: its program, the pattern of its fault's line, and what its calls got.

    `got` is a pattern for the words, with a blank behind each; `said` stands in the details of the
    refusals, one by one. `turns` are what the model says in the turns that it asks for, `test` the
    command of the test that is granted, which needs a `tracked` tree to watch.
    """

    program: str
    line: str | None = None
    got: str = ""
    said: tuple[str, ...] = ()
    turns: Sequence[Line] = ()
    calls: Sequence[str] = EVERY
    secs: int = 20
    test: str | None = None
    tracked: bool = False
    points: tuple[Point, ...] = field(default=tuple(Point))

    def caged(self, folder: Path, point: Point, mark: str | None = None) -> Cage:
        """Install it into a workspace of its own."""
        argv = ("python3", "-I", "-S", "${plugin_dir}/main.py", GOOD[point])
        return cage(
            folder,
            argv,
            point,
            {"main.py": (PRELUDE + self.program).encode()},
            secs=self.secs,
            mark=mark,
            rights=Rights(calls=self.calls, roles=ROLES),
            tracked=TRACKED if self.tracked else None,
        )


SOON: Final = 2
"""The deadline, in seconds, of animals that never end."""
ONCE: Final = (Point.AFTER_TURN,)
"""Where an animal is asked that takes its time."""

CALLERS: Final = {
    # odd, and within the rules
    "never reads its answers": Caller(
        program="tell(*[emit(n) for n in range(300)], good)",
        got=f"(ok ){{8}}(allowance-spent ){{{limits.REFUSALS_TOLD_PER_POINT}}}",
    ),
    "calls and the answer in one write": Caller(
        program="tell(emit(1) + emit(2) + good)", got="ok ok "
    ),
    "a call behind the answer": Caller(program="tell(good, emit())"),
    "a call spread over many writes": Caller(
        program='for each in emit(): print(end=each + "\\n" * (each in "{,:}"), flush=True)\n'
        "sys.stdin.readline()\ntell(good)",
        got="ok ",
    ),
    "a call it may not make": Caller(
        program='ask("recall", goal="x")\ntell(good)',
        calls=("emit",),
        got="undeclared ",
        said=('"recall"; it lists emit',),
    ),
    "nine recalls": Caller(
        program='for _ in range(9): ask("recall", goal="work")\ntell(good)',
        got="(ok ){8}allowance-spent ",
        said=("all 8 host calls",),
    ),
    "events that are none": Caller(
        program='ask("emit", name="a.*", payload={})\n'
        'ask("emit", name="../../plugin.verify.met", payload={})\n'
        f'ask("emit", name="n" * {limits.EMIT_NAME_BYTES + 1}, payload={{}})\n'
        f'ask("emit", name="full", payload={{"x": "x" * {limits.EMIT_BYTES - 8}}})\n'
        f'ask("emit", name="over", payload={{"x": "x" * {limits.EMIT_BYTES - 7}}})\n'
        "tell(good)",
        got="failed failed failed ok failed ",
        said=('"a.*" is not', '"../../plugin.verify.met" is not', "65 bytes", "65537 bytes"),
    ),
    "children that may not be": Caller(
        program='for role in ("nobody", "sage", "builder", "\\x1b[2J"):\n'
        '    ask("child_turn", role=role, instruction="x")\n'
        "tell(good)",
        got="undeclared unavailable forbidden undeclared ",
        said=("declared roles: builder", "bound tiers: worker", '"worker"', r"\u{1B}[2J"),
    ),
    "a test where none is granted": Caller(
        program='ask("run_test", candidate="host-tree")\ntell(good)',
        got="unavailable ",
        said=("no test command",),
    ),
    "a test of somebody's tree": Caller(
        program='ask("run_test", candidate="/etc")\nask("run_test", candidate="c-00")\ntell(good)',
        test="true",
        tracked=True,
        got="unavailable unavailable ",
        said=('"/etc" is neither host-tree', '"c-00" is neither'),
    ),
    "a fan-out without a repository": Caller(
        program='ask("candidate_fanout", role="builder", instruction="x", width=3)\ntell(good)',
        got="failed ",
        said=("in no git repository",),
    ),
    "a forged handle": Caller(
        program='for it in ("c-" + "0" * 32, "host-tree", "../../..", ""):\n'
        '    ask("adopt_candidate", candidate=it)\n'
        "tell(good)",
        got="(unavailable ){4}",
        said=("unknown_handle",) * 4,
        tracked=True,
    ),
    "handles of a mebibyte": Caller(
        program='for call in ("adopt_candidate", "run_test"):\n'
        '    for _ in range(2): ask(call, candidate="x" * 2**20)\n'
        "tell(good)",
        test="true",
        tracked=True,
        got="(unavailable ){4}",
        said=('xx [1048376 more characters]" is no live candidate',) * 2
        + ('xx [1048376 more characters]" is neither',) * 2,
    ),
    # no answer
    "a call as the last document": Caller(
        program="tell(emit())",
        line='UnansweredCall: .*it asked "emit" last and gave no answer',
        got="ok ",
    ),
    "asks on behind a closed stdin": Caller(
        program="os.close(0)\nfor n in range(9):\n    tell(emit(n))\n    time.sleep(0.05)\n",
        line='AnswerChannelFailed: .*it asked "emit", and its stdin is closed to the answer',
        got="(ok |allowance-spent )+",
    ),
    "half a call": Caller(
        program="print(end=emit()[:-2], flush=True)", line="NoResponse: .*cut off"
    ),
    # no call
    "a name that is a number": Caller(
        program='tell(line("emit", name=7, payload={}), good)',
        line="Decode: .*wrong-type: args.name",
    ),
    "a key too many": Caller(
        program='tell(emit(), line("recall", goal="x", met=True), good)',
        line="Decode: .*unknown-key: args.met",
        got="(ok )?",
    ),
    "a call nobody knows": Caller(
        program='tell(line("judge", verdict="met"), good)', line="Decode: .*unknown-token: call"
    ),
    "a call that is an answer too": Caller(
        program="tell(json.dumps({**json.loads(emit()), **json.loads(good)}))",
        line="Decode: .*mixed-message",
    ),
    "a payload too deep": Caller(
        program='tell(emit(x=json.loads("[" * 62 + "]" * 62)), good)', line="Decode: .*too-deep"
    ),
    "a log line between calls": Caller(
        program='ask("emit", name="x", payload={})\ntell("one moment", good)',
        line="Decode: .*got: one moment",
        got="ok ",
    ),
    # its own end
    "dies while its child works": Caller(
        program='tell(line("child_turn", role="planner", instruction="x"))\nos._exit(3)',
        line="Exit: .*code 3",
        got="failed ",
        turns=(NEVER,),
        secs=SOON,
        points=ONCE,
    ),
    "is killed when it has been served": Caller(
        program='ask("emit", name="x", payload={})\nos.kill(os.getpid(), 9)',
        line="Exit: .*signal 9",
        got="ok ",
    ),
    # too much
    "floods stderr while its child works": Caller(
        program='tell(line("child_turn", role="planner", instruction="x"))\n'
        'while True: os.write(2, b"met\\n" * 4096)',
        line="OutputCap: .*stderr",
        got="failed ",
        turns=(NEVER,),
        points=ONCE,
    ),
    # too long
    "asks for ever": Caller(
        program='while True:\n    ask("emit", name="x", payload={})\n    time.sleep(0.01)',
        line=f"Timeout: .*no end within {SOON} s",
        got="(ok ){1,8}(allowance-spent )*",
        secs=SOON,
    ),
    "hangs when it has been served": Caller(
        program='ask("emit", name="x", payload={})\ntime.sleep(600)',
        line=f"Timeout: .*no end within {SOON} s",
        got="ok ",
        secs=SOON,
    ),
    "waits for a child that takes too long": Caller(
        program='ask("child_turn", role="planner", instruction="x")\ntell(good)',
        line=f"Timeout: .*no end within {SOON} s",
        got="failed ",
        turns=(NEVER,),
        secs=SOON,
        points=ONCE,
    ),
    # candidates, whatever becomes of the animal
    "answers and leaves its candidates": Caller(
        program="fan(2)\ntell(good)",
        got="ok ",
        turns=(*attempt("one.txt"), *attempt("two.txt")),
        tracked=True,
    ),
    "adopts one and says nonsense": Caller(
        program='ask("adopt_candidate", candidate=fan(2)[1]["candidate"])\ntell("so there")',
        line="Decode: .*got: so there",
        got="ok ok ",
        turns=(*attempt("one.txt"), *attempt("two.txt")),
        tracked=True,
    ),
    "dies between its candidates": Caller(
        program="fan(1)\nfan(3)\nos.kill(os.getpid(), 11)",
        line="Exit: .*signal 11",
        got="ok ok ",
        turns=attempt("one.txt") * 4,
        tracked=True,
    ),
    "a fan-out that takes too long": Caller(
        program="fan(3)\ntell(good)",
        line=f"Timeout: .*no end within {SOON} s",
        got="failed ",
        turns=(NEVER,),
        secs=SOON,
        tracked=True,
        points=ONCE,
    ),
    "takes a candidate's git away": Caller(
        program='import shutil\nmade = fan(2)\nroot = made[0]["root"]\n'
        'os.unlink(root + "/.git")\nos.mkdir(root + "/.git")\nos.mkdir(root + "/.git/hooks")\n'
        'shutil.rmtree(made[1]["root"])\n'
        'for it in made: ask("adopt_candidate", candidate=it["candidate"])\n'
        "tell(good)",
        got="ok (ok|failed) (unavailable|failed) ",
        turns=(*attempt("one.txt"), *attempt("two.txt")),
        tracked=True,
    ),
    "locks its candidate": Caller(
        program='made = fan(1)\nroot = made[0]["root"]\nos.chmod(root + "/sub", 0)\n'
        "os.chmod(root, 0)\ntell(good)",
        got="ok ",
        turns=attempt("one.txt"),
        tracked=True,
    ),
}
