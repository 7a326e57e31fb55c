"""What an evaluation is made of, from the words of its command line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui import paths
from deltamem_tui.cli.evaluation_options import EvaluateOptions
from deltamem_tui.cli.interruption import Interruption
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.logs import read_logs_once
from deltamem_tui.cli.models import (
    ModelOptions,
    checked_prompts,
    extractor_for,
    model_client,
    writer_key,
)
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.lab.agent import Agent
    from deltamem_tui.lab.contestants.entrant import Entrant
    from deltamem_tui.lab.environment import Environment, GameInfo
    from deltamem_tui.lab.game_pool import GamePool
    from deltamem_tui.lab.runs.plan import EvaluationPlan, Protocol
    from deltamem_tui.lab.runs.tools import EvaluationTools
    from deltamem_tui.memory.rules_extractor import RulesExtractor
    from deltamem_tui.memory.writers.model import ModelExtractor
    from deltamem_tui.trajectory.model import Trajectory

RULES = "rules"
EXPLORER = "explorer"


@dataclass(frozen=True, slots=True)
class Setup:
    """An evaluation that can begin.

    Attributes:
        log: The episodes that methods learn before the games.
        errors: What of the log cannot be read.
        writes_by_model: Whether a model puts experience into words.
    """

    plan: EvaluationPlan
    tools: EvaluationTools
    log: Sequence[Trajectory]
    errors: Sequence[DeltaMemError]
    writes_by_model: bool

    @property
    def default_folder(self) -> Path:
        """Where the run is kept if nothing else is said."""
        return paths.evaluations_folder() / self.plan.digest


def set_up(
    invocation: Invocation, wishes: EvaluateOptions, stop: Interruption, stack: ExitStack
) -> Setup:
    """Make ready what was asked for; processes that are started end with `stack`.

    Raises:
        DeltaMemError: Something that was named is not there, or does not go together.
    """
    from dataclasses import asdict

    from msgspec import json

    from deltamem_tui.lab.game_pool import GamePool
    from deltamem_tui.lab.runs.games import in_game_order, order_named
    from deltamem_tui.lab.runs.plan import (
        EvaluationPlan,
        check,
        digest_of_bank,
        digest_of_episodes,
    )
    from deltamem_tui.lab.runs.tools import EvaluationTools

    order = order_named(wishes.order)
    entrants, banks = _entrants(invocation, wishes)
    protocol = _protocol(wishes, entrants)
    pool = stack.enter_context(
        GamePool(wishes.environment, wishes.parallel, games=wishes.games_from)
    )
    environment = pool.environment
    split = wishes.split or environment.splits[0]
    games = _drawn(pool, split, wishes.games, wishes.seed)  # first of all: it may not be installed
    train = _drawn(pool, wishes.train, wishes.train_games, wishes.seed) if wishes.train else []
    models = wishes.for_models()
    agent = _agent(invocation, wishes, models, environment)
    writer, key = _writer(invocation, wishes.extractor, models, environment.domain, entrants, banks)
    log, errors = _log(invocation, wishes, environment.domain, stop)
    loaded = _embedder(invocation, wishes, entrants, banks)
    plan = EvaluationPlan(
        environment=environment.name,
        split=split,
        games=tuple(in_game_order(games, order, wishes.seed)),
        order=order,
        seed=wishes.seed,
        limit=environment.limit,
        tries=wishes.tries,
        agent=agent.name,
        protocol=protocol,
        entrants=tuple(entrants),
        domain=environment.domain,
        embedder=loaded.card.model,
        vectors=hashlib.sha256(json.encode(asdict(loaded.card))).hexdigest()[:16],
        writer=key,
        train=tuple(in_game_order(train, order, wishes.seed)),
        learnt_from=digest_of_episodes(log),
        banks=tuple(digest_of_bank(each) for each in banks),
        judge_error=wishes.judge_error,
        leave_one_out=wishes.leave_one_out,
        own=_own_file(wishes.environment),
    )
    check(plan)
    tools = EvaluationTools(
        playing=pool.playing,
        game_of=environment.game_of,
        agent=agent,
        embedder=loaded,
        writer=writer,
        parallel=wishes.parallel,
        give_up=getattr(agent, "cancel", lambda: None),
    )
    return Setup(plan, tools, log, errors, key != RULES)


def _entrants(
    invocation: Invocation, wishes: EvaluateOptions
) -> tuple[Sequence[Entrant], list[Bank]]:
    """Who competes, and the banks among them."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.lab.contestants.baselines import BASELINES
    from deltamem_tui.lab.contestants.entrant import banks_named, entrants, read_entrants
    from deltamem_tui.memory.methods import names

    if wishes.contestants is not None:
        if wishes.method or wishes.bank:
            raise UsageError("--contestants has all that compete: leave --method and --bank out")
        places = {name: invocation.bank(name) for name in banks_named(wishes.contestants)}
        found = read_entrants(wishes.contestants, places)
    else:
        methods: Sequence[str] | None = wishes.method
        if methods is None:
            alone = wishes.bank or wishes.protocol == "none"
            methods = ["nothing"] if alone else [*BASELINES, *names()]
        places = {name: invocation.bank(name) for name in wishes.bank or ()}
        found = entrants(methods, wishes.admit or ["strict"], wishes.forget or ["none"], places)
    return found, [Bank.open(each.bank) for each in found if each.bank]


def _protocol(wishes: EvaluateOptions, entrants: Sequence[Entrant]) -> Protocol:
    from deltamem_tui.lab.runs.plan import PROTOCOLS

    if wishes.protocol is None:
        begun = wishes.learn_from or wishes.train or any(each.bank for each in entrants)
        return "frozen" if begun else "online"
    for each in PROTOCOLS:
        if each == wishes.protocol:
            return each
    raise UsageError(
        f"there is no protocol {one_line(wishes.protocol, 40)!r}",
        hint=f"one of {', '.join(PROTOCOLS)}",
    )


def _agent(
    invocation: Invocation,
    wishes: EvaluateOptions,
    models: ModelOptions,
    environment: Environment,
) -> Agent:
    """Who plays: a program, an agent without a model, or a model."""
    if wishes.agent_command is not None:
        from deltamem_tui.lab.agents.command import CommandAgent

        if wishes.agent != RULES:
            raise UsageError("--agent and --agent-command are two agents: leave one out")
        timeout = models.timeout
        if timeout is None:
            return CommandAgent(wishes.agent_command)
        return CommandAgent(wishes.agent_command, timeout=timeout)
    if wishes.agent == RULES:
        from deltamem_tui.lab.agents.rules import RulesAgent

        return RulesAgent(environment.domain)
    if wishes.agent == EXPLORER:
        from deltamem_tui.lab.agents.explorer import exploring_agent

        return exploring_agent(environment.domain)
    from deltamem_tui.lab.agents.react import ReActAgent

    folders = checked_prompts(invocation, models.prompts)
    client = model_client(invocation, replace(models, model=wishes.agent))
    return ReActAgent(client, environment.domain, folders)


def _writer(
    invocation: Invocation,
    extractor: str | None,
    models: ModelOptions,
    domain: str,
    entrants: Sequence[Entrant],
    banks: Sequence[Bank],
) -> tuple[RulesExtractor | ModelExtractor, str]:
    """What puts experience into words, and its key: the rules, unless a model is named for it."""
    methods = [each.method for each in entrants if each.sort == "method"]
    methods += [each.manifest.method for each in banks]
    named = models.model is not None
    extractor = extractor or (None if named else RULES)
    if extractor is not None and not named:
        from deltamem_tui.memory.rules_extractor import RulesExtractor

        if extractor != RULES:
            extractor_for(invocation, domain, methods, extractor, models)
        return RulesExtractor(), RULES
    made = extractor_for(invocation, domain, methods or ["deltamem"], extractor, models)
    return made, writer_key(invocation, models, extractor)


def _log(
    invocation: Invocation, wishes: EvaluateOptions, domain: str, stop: Interruption
) -> tuple[Sequence[Trajectory], Sequence[DeltaMemError]]:
    if not wishes.learn_from:
        return (), ()
    episodes, _, errors = read_logs_once(
        invocation, wishes.learn_from, wishes.format, domain, stop, "nothing was played yet"
    )
    return [each for each in episodes if each.outcome.known], errors


def _embedder(
    invocation: Invocation,
    wishes: EvaluateOptions,
    entrants: Sequence[Entrant],
    banks: Sequence[Bank],
) -> Embedder:
    from deltamem_tui.embedding.load import load

    fitting = str(banks[0].manifest.embedder.get("model") or "") if banks else ""
    if all(each.method == "nothing" for each in entrants):
        fitting = "hashing"  # it is not asked for any vector: no weights need be there
    return load(invocation.settings(embedder=wishes.embedder or fitting or None).embedder)


def _drawn(pool: GamePool, split: str, count: int | None, seed: int) -> Sequence[GameInfo]:
    from deltamem_tui.lab.environments.needs import no_such_split
    from deltamem_tui.lab.runs.games import drawn

    if split not in pool.environment.splits:  # a user's own need not look at the name
        raise no_such_split(split, pool.environment.splits)
    return drawn(pool.games(split), count, seed)


def _own_file(spec: str) -> str:
    """A digest of the file of the user's own that defines an environment; empty for ours."""
    file = Path(spec.rpartition(":")[0]).expanduser()
    if file.suffix != ".py" or not file.is_file():
        return ""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]
