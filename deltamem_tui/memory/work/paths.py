"""Paths of files in what an agent did, relative to the folder that it worked in."""

from __future__ import annotations

import re
from collections import Counter

from deltamem_tui.trajectory.model import Trajectory

_PATH = re.compile(r"(?<![\w@:/.~$%-])(?:~?/|\.{1,2}/)?(?:[\w.@+-]+/)*[\w.@+-]*\w(?![\w/(])")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/][^\n:*?\"<>|;]{1,250}")  # as a whole, for it may have blanks
_SUFFIX = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,11})$")
# Endings of files; any other dotted word without a folder may be a name of code.
_ENDINGS = """
R Rmd adoc asm astro avi avif bak bash bat bazel bmp bz2 bzl c cc cfg cjs clj cljs cmake cmd conf
config cpp cr cs cshtml csproj css csv cts dart db diff dll doc docx dockerfile ejs elm env erb
erl ex exe exs fish fs fsproj fsx gif glsl go gohtml gotmpl gql gradle graphql groovy gz h haml
hbs hcl hh hpp hs htm html ico iml ini ino ipynb j2 jar java jl jpeg jpg js json json5 jsonc jsonl
jsp jsx kt kts less lock log lua m markdown md mdc mdx mjs mk ml mli mm mov mp3 mp4 mts mustache
nim nix org otf parquet patch pb pbxproj pdb pdf pem php pl plist pm png po pony pot pptx prisma
properties proto ps1 psd psm1 py pyc pyi pyx rb resx rs rst s sass sbt scala scss sh sln slnx snap
so sol sql sqlite sqlite3 storyboard styl svelte svg swift tar tcl tex tf tfvars tgz tif tiff tmpl
toml ts tsv tsx ttf txt v vb vbproj vim vue wasm wav webm webmanifest webp whl woff woff2 xcconfig
xib xls xlsx xml xsd xsl xslt yaml yml zig zip zsh f90 lisp rkt scm sv vhd coffee
"""
_KNOWN = frozenset(_ENDINGS.split())
_CODE = re.compile(
    r"(?:[ap]\.m|console\.log|(?:self|this)\.\w+|(?:import\.)?(?:process|meta)\.env)$"
)
_HOST = re.compile(r"^(?:www\.|[\w-]+\.(?:com|org|net|io|dev|example|local))(?:/|$)")
_NAMED = re.compile(
    r"(?:^go\.(?:mod|sum|work)|Makefile|Dockerfile|Rakefile|Gemfile|Justfile|Procfile)$",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"(?:^|/)(?:tmp|temp|private|node_modules|site-packages|__pycache__|dist-packages"
    r"|\.(?!github\b|gitlab|circleci|golangci|eslint|pre-commit|gitignore|editorconfig)[a-z]\w*)(?:/|$)"
)
FOLDER = re.compile(r"(?:[Ww]orking directory|[Cc]wd|[Ww]orkspace)[^\w~/]{1,3}((?:/|~)[^\s\"'<>]+)")
_HOME = re.compile(r"^(?:[A-Za-z]:)?/(?:Users|home)/[\w.-]+/")
_LENGTH = 120


def paths_in(text: str, most: int = 100_000) -> list[str]:
    """Return what looks like the path of a file, in the order of the text, each once.

    Of a text of more than `most` characters only whole words of its beginning are read.
    """
    if _WINDOWS.fullmatch(text) and is_file(path := text.replace("\\", "/")):
        return [path]
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
    if suffix is None or suffix.start() == 0 or _CODE.match(path):
        return False
    ending = suffix[1].lower() if suffix[1].isupper() and len(suffix[1]) > 1 else suffix[1]
    return ending in _KNOWN or ("/" in path and len(ending) < 7)


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
