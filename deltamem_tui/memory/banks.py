"""The two doors to a bank: make a new one, or open one by name or path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import UsageError, wrong_argument
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.method import DEFAULT, Method, method_named
from deltamem_tui.memory.settings import Settings, checked, from_record, stored_record


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
    return Bank.open(paths.find_bank(bank, paths.banks_folder(banks)))


def create_bank(
    path: Path | str,
    *,
    embedder: Embedder | str = DEFAULT_EMBEDDER,
    domain: str = "generic",
    description: str = "",
    parameters: Settings | Mapping[str, Any] | None = None,
    provenance: Mapping[str, Any] | None = None,
    method: str = DEFAULT,
    episodes_from: Bank | None = None,
) -> Bank:
    """Make a bank without nodes.

    Args:
        path: The new bank's folder; its last part is the bank's name.
        embedder: An embedder, or the name of one.
        domain: The kind of environment, a plain name; picks prompts and the preset.
        description: What the bank is for.
        parameters: The method's numbers; the domain's preset if not given.
        provenance: Who builds it, from what: anything that JSON can hold.
        method: The memory method that the bank is made for.
        episodes_from: A bank whose episodes it gets, waiting to be learnt; none if not given.

    Raises:
        UsageError: A name cannot be one, or there are no episodes to be had. Nothing is written.
        ConfigurationError: A number is outside its range.
        EmbedderUnavailableError: The embedding model cannot be loaded.
        BankExistsError: Something is there already.
        StorageError: The folder cannot be written.
    """
    for name, text in (("domain", domain), ("description", description)):
        if not isinstance(text, str):
            raise wrong_argument(name, "text", text)
    kind = method_named(method)
    loaded = load(embedder) if isinstance(embedder, str) else embedder
    manifest = Manifest(
        name=paths.check_name(Path(path).name),
        description=description,
        domain=paths.check_name(domain, "a domain"),
        method=kind.name,
        collections=kind.collections,
        embedder=asdict(loaded.card),
        settings=_settings(kind, domain, loaded.card.model, parameters),
        provenance=dict(provenance or {}),
    )
    if episodes_from is None:
        return Bank.create(path, manifest)
    with files.new_folder(Path(path)) as draft:
        made, found = Bank.create(draft, manifest), episodes(episodes_from)
        taken = take_in(made, found, redaction="off", listed=False)
        if taken.refused or not taken.episodes:
            gone = f", or {taken.refused:,} can no longer be taken" if taken.refused else ""
            raise UsageError(
                f"the bank keeps no episodes{gone}",
                source=episodes_from.name,
                hint="import the logs, or take the bank that learnt from them",
            )
    return Bank.open(path)


def _settings(method: Method, domain: str, embedder: str, given: object) -> dict[str, Any]:
    """Return the settings as the manifest keeps them, if they can be a bank's."""
    kind = method.settings
    if given is None:
        given = kind.preset(domain, embedder)
    elif isinstance(given, Mapping):
        given = from_record(kind, given)
    if not isinstance(given, kind):
        raise wrong_argument("parameters", f"{kind.__name__}, or these by name", given)
    return stored_record(checked(given))
