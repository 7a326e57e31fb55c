"""A small log of every benchmark's format, a file each, and what is in it."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.trajectory.readers.samples import (
    NO,
    YES,
    Sample,
    at,
    paid,
    sample_log,
)

OPENAI = Sample(
    sample_log("openai.json"),
    [
        Trajectory(
            "Find the atlas.\n[image]",
            "You keep the shelves of a library.",
            (
                Step("look(shelf=2)", "nothing [image]", "I look in two places."),
                Step("look(shelf=1)", "an atlas"),
                Step("It is on shelf 1.", "谢谢"),
            ),
            YES,
            at("line 1"),
            agent="model-a",
            metadata={"instance_id": "shelf-7"},
        )
    ],
)

ANTHROPIC = Sample(
    sample_log("anthropic.json"),
    [
        Trajectory(
            "How many files are there?",
            "A shell.",
            (
                Step("ls", "a b c\n[image]", "Count them.\nI list them."),
                Step('read(path="a.py")', "error: no such file"),
                Step("Three."),
            ),
            source=at("record 1"),
        )
    ],
)

SHAREGPT = Sample(
    sample_log("sharegpt.json"),
    [
        Trajectory(
            "a red mug",
            "Search and click, nothing else.",
            (Step("search[red mug]", "Page 1 [SEP] B01", "Where is it?"), Step("click[buy now]")),
            paid(0.5),
            at("record 1"),
            domain="webshop",
            metadata={"id": "webshop_9"},
        ),
        Trajectory(
            "put a mug on the desk.",
            "You see a desk 1.",
            (Step("go to shelf 1", "You see a mug 1.", "A mug first.\nOn shelf 1."),),
            source=at("record 2"),
            domain="alfworld",
            metadata={"id": "alfworld_3"},
        ),
        Trajectory(
            "Who was born first?",
            "You have tools.",
            (Step('born(of="Ada")', "1815"), Step("Ada, in 1815.")),
            source=at("record 3"),
        ),
    ],
)


_TAU_STEPS = (
    Step("Which one?", "To Rome."),
    Step('cancel(id="F1")', "cancelled"),
    Step("Done.", "###STOP###"),
)


TAU = Sample(
    sample_log("tau.json"),
    [
        Trajectory(
            "Cancel my flight.",
            "# Policy",
            _TAU_STEPS,
            paid(float(trial)),
            at(f"record {trial + 1}"),
            metadata={"task_id": "3", "trial": str(trial), "user_script": "You want to cancel."},
        )
        for trial in (0, 1)
    ],
)

TAU2 = Sample(
    sample_log("tau2.json"),
    [
        Trajectory(
            "Cancel my flight.",
            "# Policy",
            _TAU_STEPS,
            paid(1.0),
            at("record 1"),
            domain="airline",
            agent="model-b",
            metadata={
                "id": "s1",
                "task_id": "t0",
                "trial": "0",
                "user_script": "You want to cancel.",
            },
        )
    ],
)  # fmt: skip

AGENTBENCH = Sample(
    sample_log("agentbench.json"),
    [
        Trajectory(
            "How many files?",
            "Act like a shell user.",
            (
                Step("bash\n\n```bash\nls\n```", "The output of the OS:\na", "Count."),
                Step("answer(1)"),
            ),
            source=at("line 1"),
            metadata={"id": "7", "status": "completed"},
        )
    ],
)


TOOLBENCH = Sample(
    sample_log("toolbench.jsonl"),
    [
        Trajectory(
            "News?",
            "Tools: news, Finish",
            (Step('news(of="today")', "none", "I ask."), Step("Finish({broken)")),
            Outcome(True, source="stated", reason="`win`, which says whether an answer was given"),
            at("line 1"),
            domain="toolbench",
            metadata={"finish_type": "give_answer"},
        ),
        Trajectory(
            "News?",
            "Tools: news, Finish",
            (Step("news()", "error", "I try."),),
            Outcome(False, source="stated", reason="`win`, which says whether an answer was given"),
            at("line 2"),
            domain="toolbench",
        ),
    ],
)  # fmt: skip


WEBSHOP_TEXT = sample_log("webshop.txt").decode()

_WEBSHOP = [
    Trajectory(
        "i need a red mug, and price lower than 9.00 dollars",
        "",
        (
            Step("search[red mug]", "[B01] \n\nRed mug \n$7.5", "The mug must be red."),
            Step("click[Buy Now]", "Your score (min 0.0, max 1.0): 0.75"),
        ),
        paid(0.75),
        at("line 3"),
        domain="webshop",
        metadata={"id": "4"},
    ),
    Trajectory(
        "a blue bowl",
        "",
        (Step("search[bowl]", "Invalid action!"),),
        source=at("line 27"),
        domain="webshop",
        metadata={"id": "5"},
    ),
]

WEBSHOP = Sample(WEBSHOP_TEXT.encode(), _WEBSHOP)


WEBSHOP_HUMAN = Sample(
    sample_log("webshop_human.jsonl"),
    [
        Trajectory(
            "a grey sofa",
            "",
            (
                Step("search[grey sofa]", "search results\nresults: B1"),
                Step("click[Next >]", "search results"),
                Step("click[B1]", "item page\nitem: B1"),
                Step("click[Features]", "item sub page\nitem: B1"),
                Step("click[< Prev]", "item page\nitem: B1"),
                Step("click[grey]", "item page\nitem: B1\noptions: color: grey"),
                Step("click[Buy Now]", "done\nitem: B1\noptions: color: grey\nprice: 129.9"),
            ),
            paid(0.5),
            at("line 1"),
            domain="webshop",
            agent="human",
            metadata={"id": "20220427_1_12"},
        )
    ],
)  # fmt: skip

MIND2WEB = Sample(
    sample_log("mind2web.json"),
    [
        Trajectory(
            "Book a seat.",
            "website: rail\ndomain: Travel",
            (Step("[textbox] From -> TYPE: Rome"), Step("[button] Book -> CLICK")),
            Outcome(True, source="stated", reason="a person's demonstration"),
            at("record 1"),
            domain="web",
            agent="human",
            metadata={"id": "m-1"},
        )
    ],
)

PROTOCOL = Sample(
    sample_log("protocol.json"),
    [
        Trajectory(
            "How many seats?",
            "URL: http://rail\n[1] link 'Seats'\n[image]",
            (
                Step('click(on="Seats")', "40 seats", "The link."),
                Step("echo 40", "[image]\n40"),
                Step("python\nx = 1\nx"),
                Step("40", "", "Sure."),
            ),
            paid(1.0),
            at("record 1"),
            agent="model-c",
            metadata={"id": "p-1", "exit_status": "submitted"},
        )
    ],
)  # fmt: skip


REFLEXION = Sample(
    sample_log("reflexion.txt"),
    [
        Trajectory(
            "Who wrote the atlas?",
            "",
            (
                Step("Search[atlas]", "A book of maps.\nIt has no one author.", "I search."),
                Step("Finish[Mercator]", "Answer is INCORRECT", "Mercator, then."),
            ),
            NO,
            at("line 10"),
            metadata={"task_id": "question-d9489fd6", "trial": "1"},
        ),
        Trajectory(
            "Who wrote the atlas?",
            "",
            (Step("Finish[Ortelius]", "Answer is CORRECT", "Read on."),),
            YES,
            at("line 29"),
            metadata={"task_id": "question-d9489fd6", "trial": "2"},
        ),
        Trajectory(
            "Why?",
            "",
            (Step("Search[why]", "", "Hm."),),
            Outcome(False, source="stated", reason="halted without an answer"),
            at("line 38"),
            metadata={"task_id": "question-5d8a995a", "trial": "2"},
        ),
    ],
)

INTERCODE = Sample(
    sample_log("intercode.json"),
    [
        Trajectory(
            "Count the files.",
            "",
            (Step("ls | wc -l", "3\n", "ls counts none.", 0.0), Step("submit", "", "", 1.0)),
            paid(1.0),
            at("record 1, key 0"),
            domain="ic_bash",
            metadata={"id": "0", "task_id": "0"},
        ),
        Trajectory(
            "Name them.",
            "",
            (Step("ls", "a b", "", 0.67),),
            paid(0.67),
            at("record 1, key 1"),
            domain="ic_bash",
            metadata={"id": "1", "task_id": "1"},
        ),
    ],
)

FIREACT = Sample(
    sample_log("fireact.json"),
    [
        Trajectory(
            "Who drew it?",
            "",
            (
                Step("search[it]", "Ada drew it.", "I search."),
                Step("finish[Ada]", "Episode finished, reward = True", "Ada."),
            ),
            paid(1.0),
            at("line 1, key 62"),
            metadata={"id": "62"},
        ),
        Trajectory(
            "Who?",
            "",
            (Step("finish[me]", "done", "Me."),),
            paid(0.5),
            at("line 1, key 63"),
            metadata={"id": "63"},
        ),
    ],
)


def _boiled(name: str, outcome: Outcome) -> Trajectory:
    return Trajectory(
        "Your task is to boil water.",
        "A kitchen.",
        (Step("open door", "It is open."), Step("wait")),
        outcome,
        at(f"line 1, key {name}"),
        domain="scienceworld",
        metadata={"id": name, "task_type": "boil", "variation": "3"},
    )


SCIENCEWORLD_HISTORY = Sample(
    sample_log("scienceworld_history.json"),
    [_boiled("0", paid(1.0)), _boiled("1", paid(0.0))],
)


SCIENCEWORLD_RECORDING = Sample(
    sample_log("scienceworld_recording.json"),
    [
        Trajectory(
            "Find an animal.",
            "A hall.",
            (Step("go kitchen", "You move to the kitchen."), Step("take cat", "You have the cat.")),
            paid(1.0),
            at("record 1"),
            domain="scienceworld",
            metadata={"task_type": "find", "variation": "1"},
        )
    ],
)  # fmt: skip

AGENTBOARD = Sample(
    sample_log("agentboard.txt"),
    [
        Trajectory(
            "put a mug on the desk",
            "",
            (Step("go to desk 1", "You see a mug 1.", "", 0.5), Step("put mug 1", "", "", 1.0)),
            paid(1.0),
            at("record 1"),
            metadata={"id": "0", "task_name": "alfworld", "difficulty": "easy"},
        ),
        Trajectory(
            "open it",
            "A door.",
            (Step("open door", "It is stuck.", "", 0.25), Step("push")),
            paid(0.25),
            at("record 2"),
            metadata={"id": "1"},
        ),
    ],
)

DEBUG_GYM = Sample(
    sample_log("debug_gym.json"),
    [
        Trajectory(
            "shopping",
            "1 test fails.",
            (
                Step('view(path="cart.py")', "total = 0", "I look first."),
                Step("ls", "cart.py"),
            ),
            NO,
            at("record 1"),
            agent="model-a",
            metadata={"id": "shopping"},
        )
    ],
)

INTERCODE_HUMAN = Sample(
    sample_log("intercode_human.json"),
    [
        Trajectory(
            "How many cities are there?",
            "",
            (Step("show tables;", "('city',)"), Step("select count(*) from city;", "(3,)")),
            paid(1.0),
            at("record 1, key 7"),
            domain="ic_sql",
            agent="human",
            metadata={"id": "7"},
        )
    ],
)

CURSOR = Sample(
    sample_log("cursor.jsonl"),
    [
        Trajectory(
            "Fix the test.",
            "",
            (
                Step('Read(path="a.py")', "", "I look at it."),
                Step("pytest"),
                Step("It passes.", "Thanks!"),
            ),
            source=at("line 1"),
        )
    ],
)

CLAUDE_AGENT_EVENTS = Sample(
    sample_log("claude_agent_events.jsonl"),
    [
        Trajectory(
            "Count the files.",
            "",
            (
                Step("ls", "a.py b.py", "I list them."),
                Step('search(q="files")', "error: not found"),
                Step("report(count=2)", "noted"),
                Step("Two."),
            ),
            source=at("line 1"),
        )
    ],
)

SWE_AGENT_WEB = Sample(
    sample_log("swe_agent_web.json"),
    [
        Trajectory(
            "It fails.",
            "Repository: https://example.com/me/it/pull/7",
            (Step("python a.py", "TypeError", "Reproduce it."), Step("submit")),
            YES,
            at("record 1"),
            agent="model-a",
            metadata={"id": "me__it-7"},
        )
    ],
)

MOATLESS = Sample(
    sample_log("moatless.json"),
    [
        Trajectory(
            "It fails.",
            "Repository: https://example.com/me/it.git",
            (
                Step('SearchCode(query="fail")', "Found in a.py.", "Where is it?"),
                Step('EditCode(content="x = 2")', "finish"),
            ),
            source=at("record 1"),
            agent="model-a",
            metadata={"id": "me__it-7", "status": "finished"},
        )
    ],
)

TOOLEVAL = Sample(
    sample_log("tooleval.json"),
    [
        Trajectory(
            "Track my mail.",
            "",
            (
                Step("track(id=1)", "It left Rome.", "I track it."),
                Step('Finish(final_answer="It is in Rome.")'),
            ),
            source=at("record 1, key 12"),
            domain="toolbench",
            metadata={"id": "12", "method": "DFS"},
        )
    ],
)

MINIWOB = Sample(
    sample_log("miniwob.json"),
    [
        Trajectory(
            "Click Ok.",
            "",
            (Step('click(element="BUTTON", text="Ok")'),),
            paid(1.0),
            at("record 1"),
            domain="miniwob",
            agent="human",
            metadata={"task_type": "click-button"},
        )
    ],
)

GATEWAY = Sample(
    sample_log("gateway.jsonl"),
    [
        Trajectory(
            "Count the files.",
            "",
            (Step("ls", "a.py"), Step("One.")),
            source=at("line 2"),
            agent="model-a",
        )
    ],
)


SAMPLES = {
    "gateway": GATEWAY,
    "cursor": CURSOR,
    "claude-agent-events": CLAUDE_AGENT_EVENTS,
    "swe-agent-web": SWE_AGENT_WEB,
    "moatless": MOATLESS,
    "tooleval": TOOLEVAL,
    "miniwob": MINIWOB,
    "debug-gym": DEBUG_GYM,
    "intercode-human": INTERCODE_HUMAN,
    "openai-chat": OPENAI,
    "anthropic": ANTHROPIC,
    "sharegpt": SHAREGPT,
    "webshop": WEBSHOP,
    "webshop-human": WEBSHOP_HUMAN,
    "scienceworld-history": SCIENCEWORLD_HISTORY,
    "scienceworld-recording": SCIENCEWORLD_RECORDING,
    "reflexion": REFLEXION,
    "intercode": INTERCODE,
    "fireact": FIREACT,
    "tau-bench": TAU,
    "tau2-bench": TAU2,
    "agentbench": AGENTBENCH,
    "toolbench": TOOLBENCH,
    "mind2web": MIND2WEB,
    "agentboard": AGENTBOARD,
    "agent-data-protocol": PROTOCOL,
}
