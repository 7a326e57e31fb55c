"""Paths of files in what an agent did, relative to the folder that it worked in."""

from __future__ import annotations

import re
from collections import Counter

from deltamem_tui.trajectory.model import Trajectory

_PATH = re.compile(r"(?<![\w@:/.~$-])(?:~?/|\.{1,2}/)?(?:[\w.@+-]+/)*[\w.@+-]*\w(?![\w/(])")
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,5}$")
_HOST = re.compile(r"^(?:www\.|[\w-]+\.(?:com|org|net|io|dev|example|local))(?:/|$)")
_NAMED = re.compile(r"(?:Makefile|Dockerfile|Rakefile|Gemfile|Justfile|Procfile)$", re.IGNORECASE)
_PASSING = re.compile(
    r"(?:^|/)(?:tmp|temp|private|node_modules|site-packages|__pycache__|dist-packages"
    r"|\.(?!github\b|gitlab|circleci|golangci|eslint|pre-commit|gitignore|editorconfig)[a-z]\w*)(?:/|$)"
)
FOLDER = re.compile(r"(?:[Ww]orking directory|[Cc]wd|[Ww]orkspace)[^\w~/]{1,3}((?:/|~)[^\s\"'<>]+)")
_HOME = re.compile(r"^/(?:Users|home)/[\w.-]+/")
_LENGTH = 120


def paths_in(text: str, most: int = 100_000) -> list[str]:
    """Return what looks like the path of a file, in the order of the text, each once.

    Of a text of more than `most` characters only whole words of its beginning are read.
    """
    if len(text) > most:
        text = text[:most].rpartition(" ")[0]
    found = (path.strip("`'\"@") for path in _PATH.findall(text))
    return list(dict.fromkeys(path for path in found if is_file(path)))


def is_file(path: str) -> bool:
    """Return whether a word has the form of a file's path."""
    name = path.rpartition("/")[2]
    if _HOST.match(path) or len(path) > _LENGTH:
        return False
    if _NAMED.search(name):
        return True
    suffix = _SUFFIX.search(name)
    if suffix is None or suffix.start() == 0:
        return False
    return "/" in path or name.count(".") < 3


class Folder:
    """The folder that an episode was worked in; it makes paths relative.

    What the episode calls its working folder is one root. Another is found where a file is named
    once by its whole path and once by a relative one.
    """

    def __init__(self, episode: Trajectory) -> None:
        roots = Counter(root.rstrip("/.") for root in FOLDER.findall(episode.environment[:4000]))
        whole: dict[str, None] = {}  # in their order: equal texts must give equal facts
        relative: dict[str, None] = {}
        for step in episode.steps:
            for path in paths_in(step.action, 600) + paths_in(step.observation, 600):
                (whole if path.startswith("/") else relative)[path.removeprefix("./")] = None
        tails = {path for path in relative if not path.startswith(("..", "~"))}
        for path in whole:
            parts = path.split("/")
            for at in range(2, len(parts)):
                if "/".join(parts[at:]) in tails:
                    roots["/".join(parts[:at])] += 1
                    break
        some = [root for root, _ in roots.most_common(8) if "/" in root]
        # A reader of logs may have written the home folder as `~`, where steps spell it out.
        self.roots = [_HOME.sub("~/", root) for root in some]

    def relative(self, path: str) -> str:
        """Return a path below the folder; empty for one elsewhere, or of a file that is soon
        gone. Whose home folder it is in is nobody's business.
        """
        path = path.removeprefix("./")
        at_home = _HOME.sub("~/", path)
        root = next((each for each in self.roots if at_home.startswith(each + "/")), "")
        path = at_home[len(root) + 1 :] if root else _HOME.sub("", path)
        while path.startswith("../"):
            path = path[3:]
        if path.startswith("~") or _PASSING.search(path):
            return ""
        return path
