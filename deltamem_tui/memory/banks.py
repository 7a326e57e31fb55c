"""The two doors to a bank: make a new one, or open one by name or path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import orjson

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import UsageError, wrong_argument
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.settings import (
    Parameters,
    TreeParameters,
    from_record,
    preset,
    to_record,
)


def open_bank(bank: Path | str, banks: Path | str | None = None) -> Bank:
    """Open a bank as the command line does. Nothing of its nodes is read yet.

    Args:
        bank: A path, or a name: looked up in the banks folder, then among the banks that
            come with the package.
        banks: The banks folder; found as `paths.banks_folder` says if not given.

    Raises:
        BankNotFoundError: There is no such bank.
        UsageError: It is neither a possible name nor a path.
        BankCorruptError: It breaks the rules of the format.
    """
    if isinstance(bank, Path):
        return Bank.open(bank)
    if not isinstance(bank, str):
        raise wrong_argument("bank", "the name or the path of a bank", bank)
    return Bank.open(paths.find_bank(bank, paths.banks_folder(banks)))


def create_bank(
    path: Path | str,
    *,
    embedder: Embedder | str = DEFAULT_EMBEDDER,
    domain: str = "generic",
    description: str = "",
    parameters: Parameters | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Bank:
    """Make an empty bank.

    Args:
        path: The new bank's folder; its last part is the bank's name.
        embedder: An embedder, or the name of one.
        domain: The kind of environment, a plain name; picks prompts and the preset.
        description: What the bank is for.
        parameters: The method's numbers for both trees; the domain's preset if not given.
        provenance: Who builds it, from what: anything that JSON can hold.

    Raises:
        UsageError: An argument is of the wrong kind, or a name cannot be one. Nothing is written.
        ConfigurationError: A number is outside its range.
        EmbedderUnavailableError: The embedding model cannot be loaded.
        BankExistsError: Something is there already.
        StorageError: The folder cannot be written.
    """
    if not isinstance(path, Path | str):
        raise wrong_argument("path", "the new bank's folder", path)
    if not isinstance(embedder, Embedder | str):
        raise wrong_argument("embedder", "an Embedder or the name of one", embedder)
    for name, text in (("domain", domain), ("description", description)):
        if not isinstance(text, str):
            raise wrong_argument(name, "text", text)
    unembedded = Manifest(
        name=paths.check_bank_name(Path(path).name),
        description=description,
        domain=paths.check_domain(domain),
        settings=_numbers(preset(domain) if parameters is None else parameters),
        provenance=_facts({} if provenance is None else provenance),
    )
    loaded = load(embedder) if isinstance(embedder, str) else embedder
    return Bank.create(path, replace(unembedded, embedder=asdict(loaded.card)))


def _numbers(parameters: object) -> dict[str, dict[str, Any]]:
    """The parameters as the manifest keeps them, if they can be a bank's."""
    sound = (
        isinstance(parameters, Mapping)
        and set(parameters) == set(COLLECTIONS)
        and all(isinstance(numbers, TreeParameters) for numbers in parameters.values())
    )
    if not sound:
        raise wrong_argument("parameters", "TreeParameters for task and env", parameters)
    record = to_record(cast("Parameters", parameters))
    from_record(record)
    return record


def _facts(provenance: object) -> Mapping[str, Any]:
    """The provenance, if the manifest can keep it."""
    if not isinstance(provenance, Mapping):
        raise wrong_argument("provenance", "a mapping", provenance)
    try:
        orjson.dumps(dict(provenance))
    except TypeError as error:
        raise UsageError(f"provenance must be what JSON can hold: {error}") from error
    return provenance
