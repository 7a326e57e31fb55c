"""The definitions of the flat methods: collections, how they are shown, settings and prompts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from deltamem_tui.bank.node import Collection
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method, late
from deltamem_tui.memory.prompts.use import OF_AN_EPISODE, PromptUse
from deltamem_tui.memory.settings import FromOne, Settings


def _functions(module: str, names: str) -> dict[str, Any]:
    return {name: late(f"deltamem_tui.memory.flat.{module}:{name}") for name in names.split()}


_Count = Annotated[int, Meta(ge=1, le=100)]
NEAREST = "nearest"
"""The rule of a recall by similarity."""

# MemP: a record is a root, found by its task; its facts are its children, found by their values.

PROCEDURES = "procedures"
KEY = "key"
RECORD_DEPTH, FACT_DEPTH = 1, 2
SCRIPT, FACTS, ADJUST = "memp_script", "memp_facts", "memp_adjust"


class MempNumbers(Settings, frozen=True):
    """All numbers. A new bank forgets as the released code: what of three uses solved under half.

    Attributes:
        build: What a record keeps: the steps of its episode, a script made of them, or both.
        key: What a record is found by: chance, the similarity of tasks, or the mean similarity of
            the facts that both tasks have (AveFact).
        k: How many records are recalled. The released code takes 10.
        tau: The least similarity of a record that is recalled; none takes any. With `query`, the
            released code's is 0.75. Chance has none.
        update: `vanilla` keeps every episode, `validation` the successes; `adjustment` also
            rewrites the record that a failed episode was shown first.
    """

    recalling = dict.fromkeys(("key", "k", "tau"), PROCEDURES)

    build: Literal["trajectory", "script", "both"] = "both"
    key: Literal["random", "query", "avefact"] = "avefact"
    k: _Count = 3
    tau: Annotated[float, Meta(ge=-1, le=1)] | None = None
    update: Literal["vanilla", "validation", "adjustment"] = "adjustment"

    @classmethod
    def preset(cls, domain: str, embedder: str = "") -> MempNumbers:  # noqa: ARG003 - the same for all
        """Return the usual numbers, with the deletion of the released code."""
        return cls(forgetting="history", forget_judged=3, forget_utility=0.49, forget_every=1)


MEMP = Method(
    name="memp",
    title="procedures of whole episodes, repaired where they fail",
    good_when="tasks are long and come again nearly as they were",
    collections={
        PROCEDURES: Collection((KEY, "fact", "script", "trajectory"), key=KEY, depth=FACT_DEPTH)
    },
    display={
        PROCEDURES: Display(
            title="procedures",
            noun="procedure",
            labels={KEY: "Found by", "fact": "As the fact"},
            optional=("fact", "script", "trajectory"),
            levels=("procedure", "fact"),
            name="fact",
            instruction="script",
        )
    },
    key_depths={PROCEDURES: FACT_DEPTH},
    ranking="the k best procedures are recalled, from tau up",
    rules={
        "random": "drawn by chance; scores say nothing",
        "query": "a score is the similarity of the tasks",
        "avefact": "a score is the mean similarity of the facts that both tasks have",
    },
    prompts={
        SCRIPT: PromptUse(PROCEDURES, OF_AN_EPISODE - {"memory"}, ("script",)),
        FACTS: PromptUse(
            PROCEDURES, frozenset({"task", "names", "words"}), ("name", "value"), items=12
        ),
        ADJUST: PromptUse(PROCEDURES, OF_AN_EPISODE, ("diagnosis", "script"), label="failure"),
    },
    settings=MempNumbers,
    **_functions("memp", "recall plan write_by_rules"),
)

# AWM: all nodes of a kind of task have the kind as their key.

WORKFLOWS, SOLVED = "workflows", "solved"
INDUCE = "awm_workflows"
KIND, TASKS = "kind", "solved"
"""Inputs of an induction: the kind, and a text for each solved task."""
MOST_WORKFLOWS = 8

AWM = Method(
    name="awm",
    title="workflows for each kind of task",
    good_when="many tasks share the same few routines",
    collections={
        WORKFLOWS: Collection(("title", "group", "steps"), key="group"),
        SOLVED: Collection(("task", "group", "actions"), key="group"),
    },
    display={
        WORKFLOWS: Display(
            title="workflows",
            noun="workflow",
            labels={"title": "Workflow", "group": "For"},
            levels=("workflow",),
            instruction="steps",
        ),
        SOLVED: Display(
            title="solved tasks",
            noun="solved task",
            labels={"group": "Of the kind", "actions": "Done"},
            levels=("solved task",),
            asked=False,
        ),
    },
    ranking="all workflows of the kind of task are recalled",
    rules={
        KIND: "all workflows of the task's kind, without any ranking",
        NEAREST: "the kind whose name is nearest; a score is that similarity",
    },
    prompts={
        INDUCE: PromptUse(
            WORKFLOWS,
            frozenset({KIND, TASKS, "memory", "words"}),
            ("title", "steps"),
            items=MOST_WORKFLOWS,
            call="induce",
        )
    },
    settings=Settings,
    **_functions("awm", "recall plan write_by_rules"),
)

# ReasoningBank: an episode becomes an entry, found by its task, of up to three lessons.

LESSONS = "lessons"
ENTRY_DEPTH, LESSON_DEPTH = 1, 2
FIELDS = ("description", "title", "content")
"""Of an entry only the first, which is its task. Of a lesson: when it helps and when not, what it
is called, what it says."""
SUCCESS, FAILURE = "reasoningbank_success", "reasoningbank_failure"
CONTRAST = "reasoningbank_contrast"
TRIALS = "trials"
"""Earlier trials of the task, the newest first: how each ended, and its steps."""


class ReasoningBankSettings(Settings, frozen=True):
    """Recall's settings, and whether trials are compared.

    Attributes:
        k: How many entries are recalled, each with all its lessons.
        trials: How many trials of one task in one scene are compared at most; at 1 each episode is
            learnt from by itself, else they share one entry.
    """

    k: _Count = 1
    trials: Annotated[int, Meta(ge=1, le=20)] = 1


REASONINGBANK = Method(
    name="reasoningbank",
    title="lessons from successes and failures",
    good_when="what is to be learnt can be said in a sentence, across tasks",
    collections={LESSONS: Collection(FIELDS, key="description", depth=LESSON_DEPTH)},
    display={
        LESSONS: Display(
            title="lessons",
            noun="lesson",
            labels={"description": "When", "title": "Lesson", "content": "Do"},
            optional=("title", "content"),
            warning="learnt from a failure",
            levels=("entry", "lesson"),
            name="title",
            instruction="content",
        )
    },
    ranking="the lessons of the k nearest entries are recalled",
    rules={NEAREST: "an entry's lessons come with it; a score is the similarity of its task"},
    prompts={
        SUCCESS: PromptUse(LESSONS, fields=FIELDS, items=3, label="success"),
        FAILURE: PromptUse(LESSONS, fields=FIELDS, items=3, label="failure"),
        CONTRAST: PromptUse(LESSONS, OF_AN_EPISODE | {TRIALS}, FIELDS, items=5),
    },
    settings=ReasoningBankSettings,
    **_functions("reasoningbank", "recall plan write_by_rules"),
)

# Synapse: a success is kept as the dialogue that solved its task.

EXEMPLARS = "exemplars"


class SynapseNumbers(Settings, frozen=True):
    """The numbers of the one collection.

    Attributes:
        k: How many exemplars are recalled at most. 1 is the baseline that papers compare with; 3
            in the paper's own runs.
        budget: The most tokens of all that are recalled. What goes beyond it is dropped whole, the
            least similar first.
    """

    k: _Count = 1
    budget: FromOne | None = 8000


SYNAPSE = Method(
    name="synapse",
    title="the nearest successes as demonstrations",
    good_when="rooms and pages stay as they are, and no model is wanted for learning",
    collections={EXEMPLARS: Collection(("task", "dialogue"), key="task")},
    display={
        EXEMPLARS: Display(
            title="exemplars",
            noun="exemplar",
            levels=("exemplar",),
            instruction="dialogue",
        )
    },
    ranking="the k nearest exemplars are recalled, as many as the budget holds",
    rules={NEAREST: "a score is the similarity of the tasks"},
    settings=SynapseNumbers,
    **_functions("synapse", "recall plan"),
)
