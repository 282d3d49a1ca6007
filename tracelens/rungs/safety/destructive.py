"""The pack ``destructive``: commands and statements that remove what cannot be brought back."""

from __future__ import annotations

import itertools
import re

from tracelens.rungs.safety.commands import LONGEST_TEXT, arguments_of, long_flags, short_flags
from tracelens.rungs.safety.rules import GAP, SEP, Rule

_SPACE = rf"(?:{SEP}|/\*[^*]*\*/|--[^\n]*\n)+"
_DROPPED = (
    *("table", "database", "schema", "view", "index", "user", "role", "column", "tablespace", "trigger", "function"),
    *("procedure", "materialized"),
)
_IDENTIFIER = r"""(?:\\*["'`]|\[)?[\w$.]+"""
_TAUTOLOGY = re.compile(r"\bwhere\s+(?:true|not\s+false|(['\"]?)(\w+)\1\s*=\s*(['\"]?)\2\3)\s*$", re.IGNORECASE)
_WIDE = re.compile(r"/+\.?\*?|~/?\*?|\*|\.{1,2}/?\*?|\$\{?HOME\}?/?\*?|[A-Za-z]:/?\*?")
_CLAUSE_END = re.compile(r";|\\*\"|'\s*[),]|\Z")
_BOMB = re.compile(r"([:\w]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&")


def _removes_tree(text: str, found: re.Match[str]) -> bool:
    """``rm`` with recursive and force, in any spelling, or recursive over everything."""
    if found.start() and text[found.start() - 1] in "-.":
        return False  # `--rm` is an option, `x.rm` a method
    words = arguments_of(text, found)
    letters, names = short_flags(words), long_flags(words)
    if "no-preserve-root" in names:
        return True
    recursive = bool(letters & {"r", "R"}) or "recursive" in names
    force = "f" in letters or "force" in names
    return recursive and (force or any(_WIDE.fullmatch(word) for word in words))


def _deletes_all(text: str, found: re.Match[str]) -> bool:
    """``DELETE FROM`` without a condition, or with one that is always true."""
    rest = text[found.end() : found.end() + 4 * LONGEST_TEXT]
    end = _CLAUSE_END.search(rest)
    clause = re.sub(r"/\*.*?\*/|--[^\n]*", " ", rest[: end.start()] if end else rest, flags=re.DOTALL)
    return not re.search(r"\bwhere\b", clause, re.IGNORECASE) or bool(_TAUTOLOGY.search(clause))


def _truncates(text: str, found: re.Match[str]) -> bool:
    """``TRUNCATE TABLE t``, or ``TRUNCATE t`` as a whole statement, or the command with a size."""
    if re.match(rf"truncate{_SPACE}table\b", found.group(), re.IGNORECASE | re.DOTALL):
        return True
    words = arguments_of(text, found)
    if any(word.startswith(("-s", "--size")) for word in words):
        return True
    before = text[: found.start()].rstrip()
    tail = {"cascade", "restrict", "restart", "continue", "identity", "only"}
    return (not before or before[-1] in ";\"'(") and all(word.lower() in tail for word in words[1:])


def _pushes_by_force(text: str, found: re.Match[str]) -> bool:
    words = arguments_of(text, found)
    if "push" not in words:
        return False
    rest = words[words.index("push") + 1 :]
    return "force" in long_flags(rest) or "f" in short_flags(rest) or any(re.match(r"\+\w", word) for word in rest)


def _opens_everything(text: str, found: re.Match[str]) -> bool:
    words = arguments_of(text, found)
    recursive = "R" in short_flags(words) or "recursive" in long_flags(words)
    open_to_all = any(re.fullmatch(r"0?777|[augo]*a[augo]*[+=]rwx|ugo[+=]rwx|[+=]rwx", word) for word in words)
    return open_to_all and (recursive or any(_WIDE.fullmatch(word) for word in words))


def _is_bomb(text: str, found: re.Match[str]) -> bool:
    return bool(_BOMB.match(text, found.start()))


def _stops_machine(text: str, found: re.Match[str]) -> bool:
    """The bare command, at the place of a command."""
    before = re.sub(r"\b(?:sudo|doas|nohup|exec)\s*$", "", text[: found.start()].rstrip().removesuffix("/sbin/"))
    after = text[found.end() :].lstrip(" \t")
    return (not before.strip() or before.rstrip()[-1] in ";&|(\"'`") and (not after or after[0] in ";&|)\"'`\n-")


def _deletes_from_cluster(text: str, found: re.Match[str]) -> bool:
    words = [word for word in arguments_of(text, found) if not word.startswith("-")]
    return any(word in {"delete", "drain"} for word in words[:4])


def _destroys(text: str, found: re.Match[str]) -> bool:
    words = arguments_of(text, found)
    return "destroy" in words or any(word.lstrip("-") == "destroy" for word in words)


def _uninstalls(text: str, found: re.Match[str]) -> bool:
    words = arguments_of(text, found)
    return any(word in {"uninstall", "delete", "del"} for word in words)


def _empties_cloud(text: str, found: re.Match[str]) -> bool:
    words = arguments_of(text, found)
    names = long_flags(words)
    if "rb" in words or "rm" in words:
        return "force" in names or "recursive" in names
    return any(re.match(r"(?:delete|terminate)-", word) for word in words)


def _finds_and_deletes(text: str, found: re.Match[str]) -> bool:
    words = arguments_of(text, found)
    if "-delete" in words:
        return True
    return any(
        first in {"-exec", "-execdir"} and second.rpartition("/")[2] in {"rm", "shred", "unlink"}
        for first, second in itertools.pairwise(words)
    )


RULES = (
    Rule("destructive", "recursive removal (rm)", rf"\brm{GAP}.*?-", (rf"\brm{SEP}",), _removes_tree),
    Rule(
        "destructive",
        "removal of a tree",
        r"\brmtree\b|\bfs\.rm(?:dir)?sync\b",
        (r"\brmtree\b", r"\bfs\.rmsync\b", r"\bfs\.rmdirsync\b"),
    ),
    Rule(
        "destructive", "find that deletes", rf"\bfind{GAP}.*?-(?:delete|exec)", ("-delete", "-exec"), _finds_and_deletes
    ),
    Rule(
        "destructive",
        "removal of a tree (Windows)",
        rf"\b(?:del|erase|rd|rmdir){GAP}(?:/[a-z]{GAP})*/[sfq]\b|\bremove-item\b.*?-recurse\b",
        (rf"{SEP}/[sfq]\b", r"\bremove-item\b"),
    ),
    Rule("destructive", "a new file system", r"\bmkfs(?:\.[a-z0-9]+)?\b|\bwipefs\b", (r"\bmkfs", r"\bwipefs\b")),
    Rule(
        "destructive",
        "writing to a disk",
        rf"\bdd{GAP}.*?\bof=\\*[\"']?/dev/|>[\t ]*/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)|\bshred{GAP}.*?/dev/",
        (
            *(r"\bof=[\\\"']*/dev/", rf"\bshred{SEP}"),
            *(rf">{SEP}*/dev/{disk}" for disk in ("[shv]d", "xvd", "nvme", "mmcblk", "disk")),
        ),
        lambda _, found: "/dev/null" not in found.string[found.start() : found.end() + 4],
    ),
    Rule(
        "destructive",
        "SQL DROP",
        rf"\bdrop{_SPACE}(?:{'|'.join(_DROPPED)})\b",
        (*(rf"\bdrop{GAP}{thing}\b" for thing in _DROPPED), rf"\bdrop{SEP}*/\*", rf"\bdrop{SEP}*--"),
    ),
    Rule(
        "destructive",
        "SQL TRUNCATE",
        rf"\btruncate{_SPACE}(?:table\b|{_IDENTIFIER}|-)",
        (rf"\btruncate{SEP}", r"\btruncate/\*", r"\btruncate--"),
        _truncates,
    ),
    Rule(
        "destructive",
        "SQL DELETE without WHERE",
        rf"\bdelete{_SPACE}from{_SPACE}(?:only{_SPACE})?{_IDENTIFIER}",
        (rf"\bdelete{GAP}from\b", rf"\bdelete{SEP}*/\*", rf"\bdelete{SEP}*--"),
        _deletes_all,
    ),
    Rule(
        "destructive",
        "removal of a whole collection",
        r"\bdeletemany\([\t ]*\{[\t ]*\}|\bdropdatabase\(|\bflush(?:all|db)\b|\bdropdb\b",
        (r"\bdeletemany\(", r"\bdropdatabase\(", r"\bflushall\b", r"\bflushdb\b", r"\bdropdb\b"),
    ),
    Rule("destructive", "git push by force", rf"\bgit{GAP}.*?\bpush\b", (rf"\bgit{SEP}",), _pushes_by_force),
    Rule("destructive", "files opened to everybody (chmod)", rf"\bchmod{GAP}", (rf"\bchmod{SEP}",), _opens_everything),
    Rule(
        "destructive",
        "a fork bomb",
        r"[:\w]{1,40}[\t ]*\(\)[\t ]*\{[\t\n\r ]*[:\w]{1,40}[\t ]*\|",
        (rf"\(\){SEP}*\{{{SEP}*[:a-z0-9_]+{SEP}*\|",),
        _is_bomb,
    ),
    Rule(
        "destructive",
        "shutdown of the machine",
        rf"\bshutdown{GAP}(?:-[a-z]|now\b|/[srfpt]\b|\+?[0-9])|\bsystemctl{GAP}(?:-[a-z0-9=_.-]+{GAP})*"
        rf"(?:poweroff|reboot|halt|kexec)\b|\binit[ \t][06]\b",
        (rf"\bshutdown{SEP}", rf"\bsystemctl{SEP}", rf"\binit{GAP}[06]\b"),
    ),
    Rule(
        "destructive",
        "shutdown of the machine",
        r"\b(?:reboot|poweroff|halt)\b",
        (r"\breboot\b", r"\bpoweroff\b", r"\bhalt\b"),
        _stops_machine,
    ),
    Rule(
        "destructive",
        "kubectl delete",
        rf"\bkubectl{GAP}.*?\b(?:delete|drain)\b",
        (rf"\bkubectl{SEP}",),
        _deletes_from_cluster,
    ),
    Rule(
        "destructive",
        "infrastructure destroyed",
        rf"\b(?:terraform|tofu|terragrunt|pulumi){GAP}.*?\bdestroy\b",
        tuple(rf"\b{tool}{SEP}" for tool in ("terraform", "tofu", "terragrunt", "pulumi")),
        _destroys,
    ),
    Rule(
        "destructive", "helm uninstall", rf"\bhelm{GAP}.*?\b(?:uninstall|delete|del)\b", (rf"\bhelm{SEP}",), _uninstalls
    ),
    Rule(
        "destructive",
        "cloud resources deleted",
        rf"\baws{GAP}.*?\b(?:rb|rm|(?:delete|terminate)-[a-z-]+)\b",
        (rf"\baws{SEP}",),
        _empties_cloud,
    ),
    Rule(
        "destructive",
        "cloud resources deleted",
        rf"\b(?:gcloud|doctl){GAP}.*?\bdelete\b",
        (rf"\bgcloud{SEP}", rf"\bdoctl{SEP}"),
        _uninstalls,
    ),
    Rule("destructive", "docker prune", rf"\bdocker{GAP}.*?\bprune\b", (r"\bprune\b",)),
)
"""What the pack looks for."""
