"""The two doors to a bank: make a new one, or open one by name or path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import wrong_argument
from deltamem_tui.memory.parameters import Parameters, preset, to_record


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
        domain: The kind of environment; picks prompts and the preset.
        description: What the bank is for.
        parameters: The method's numbers; the domain's preset if not given.
        provenance: Who builds it, from what.

    Raises:
        EmbedderUnavailableError: The embedding model cannot be loaded.
        BankExistsError: Something is there already.
        StorageError: The folder cannot be written.
    """
    if not isinstance(path, Path | str):
        raise wrong_argument("path", "the new bank's folder", path)
    loaded = load(embedder) if isinstance(embedder, str) else embedder
    return Bank.create(
        path,
        Manifest(
            name=Path(path).name,
            description=description,
            domain=domain,
            embedder=asdict(loaded.card),
            parameters=to_record(parameters or preset(domain)),
            provenance=provenance or {},
        ),
    )
