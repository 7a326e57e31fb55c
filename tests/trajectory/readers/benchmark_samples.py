"""A small log of every benchmark's format, written for the tests, and what is in it."""

from __future__ import annotations

from tests.trajectory.readers.chat_samples import ANTHROPIC, OPENAI, SHAREGPT
from tests.trajectory.readers.question_samples import FIREACT, INTERCODE, REFLEXION
from tests.trajectory.readers.simulator_samples import (
    AGENTBOARD,
    SCIENCEWORLD_HISTORY,
    SCIENCEWORLD_RECORDING,
)
from tests.trajectory.readers.tool_samples import AGENTBENCH, TAU, TAU2, TOOLBENCH
from tests.trajectory.readers.web_samples import MIND2WEB, PROTOCOL, WEBSHOP, WEBSHOP_HUMAN

SAMPLES = {
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
