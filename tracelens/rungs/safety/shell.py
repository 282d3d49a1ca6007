"""The pack ``shell``: a call that runs a shell, or hands text to one."""

from __future__ import annotations

from tracelens.rungs.safety.rules import GAP, SEP, Rule

_SHELL = r"(?:ba|z|k|da|a|c|tc|fi)?sh"

# Escaped quotes around key, value or both: the flag is found in code, JSON, JSON inside JSON, YAML and options.
TRUE_FLAG = r"""shell\\*["']?[\t\n\v\f\r ]*(?:=>|[:=])[\t\n\v\f\r ]*\(?[\t ]*\\*["']?(?:true|yes|1)\b"""
"""Regular expression: ``shell=True`` in any quoting and spacing."""

SHELL_KEYS = ("command", "cmd", "bash", "shell", "script", "terminal", "exec", "execute", "argv", "args", "cmdline")
"""Words that mark the key of a value a shell will read."""

SUBSTITUTION = r"`[^`]+`|\$\([^(]"
"""Regular expression: a command inside a command."""

_KEYED = r'"[^"]*(?:' + "|".join(SHELL_KEYS) + r')[^"]*"[\t\n\r ]*:.*?(?:`|\$\()'

RULES = (
    Rule("shell", "shell=True", TRUE_FLAG, ("shel",)),
    Rule(
        "shell",
        "a shell given a command (-c)",
        rf"\b{_SHELL}{GAP}(?:-[a-z0-9_=+/.:-]*{GAP})*?-[a-z]*c\b",
        (r"sh[\s\"',\\\[\]()][\s\"',\\\[\]()\-]",),
    ),
    Rule("shell", "subprocess", r"\bsubprocess\b", ("subp",)),
    Rule(
        "shell", "a call of the system shell", r"\bos\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?)\b", (r"os\.[spe]",)
    ),
    Rule(
        "shell",
        "a call that starts a process",
        r"\b(?:child_process|execsync|spawnsync|shell_exec|passthru|proc_open|pcntl_exec)\b"
        r"|getruntime\(\)\.exec|\bpty\.spawn\b",
        ("ild_", "ecsy", "wnsy", "ll_e", "sthr", "oc_o", "tl_e", r"\)\.ex", r"y\.sp"),
    ),
    Rule(
        "shell",
        "PowerShell given a command",
        rf"\bpowershell(?:\.exe)?{GAP}.*?-(?:c|command|e|ec|enc|encodedcommand)\b",
        ("rshe",),
    ),
    Rule(
        "shell",
        "cmd given a command (/c)",
        rf"\bcmd(?:\.exe)?{GAP}/[ck]\b",
        (r"[\s\"',\\\[\]()]/[ck][^a-z0-9_]",),
    ),
    Rule(
        "shell",
        "text piped into a shell",
        rf"\|[\t ]*(?:sudo{SEP}+)?(?:[\w./]*/)?{_SHELL}\b",
        (r"\|[\sbzkdactfs/.a-z0-9_][\s/a-z0-9_.]",),
    ),
    Rule("shell", "command substitution", _KEYED, ("`", r"\$\("), keys=True),
)
"""What the pack looks for."""
