"""The pack ``shell``: a call that runs a shell, or hands text to one."""

from __future__ import annotations

from tracelens.rungs.safety.rules import GAP, SEP, Rule

_SHELLS = ("", "ba", "z", "k", "da", "a", "c", "tc", "fi")
_SHELL = r"(?:ba|z|k|da|a|c|tc|fi)?sh"

# Escaped quotes around key, value or both: the flag is found in code, JSON, JSON inside JSON, YAML and options.
TRUE_FLAG = r"""shell\\*["']?[\t\n\v\f\r ]*(?:=>|[:=])[\t\n\v\f\r ]*\(?[\t ]*\\*["']?(?:true|yes|1)\b"""
"""Regular expression: ``shell=True`` in any quoting and spacing."""

SHELL_KEYS = ("command", "cmd", "bash", "shell", "script", "terminal", "exec", "execute", "argv", "args", "cmdline")
"""Words that mark the key of a value a shell will read."""

SUBSTITUTION = r"`[^`]+`|\$\([^(]"
"""Regular expression: a command inside a command."""

RULES = (
    Rule("shell", "shell=True", TRUE_FLAG, (r"""shell[\s"',\\\[\]()\x1c-\x1f\x80-\xff]*[:=]""", f"shell{GAP}[:=]")),
    Rule(
        "shell",
        "a shell given a command (-c)",
        rf"\b{_SHELL}{GAP}(?:-[a-z0-9_=+/.:-]*{GAP})*?-[a-z]*c\b",
        tuple(rf"\b{name}sh{GAP}-" for name in _SHELLS),
    ),
    Rule("shell", "subprocess", r"\bsubprocess\b", (r"\bsubprocess\b",)),
    Rule(
        "shell",
        "a call of the system shell",
        r"\bos\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?)\b",
        (r"\bos\.system\b", r"\bos\.popen\b", r"\bos\.exec[lv]", r"\bos\.spawn[lv]"),
    ),
    Rule(
        "shell",
        "a call that starts a process",
        r"\b(?:child_process|execsync|spawnsync|shell_exec|passthru|proc_open|pcntl_exec)\b"
        r"|getruntime\(\)\.exec|\bpty\.spawn\b",
        (
            *(
                rf"\b{name}"
                for name in ("child_process", "execsync", "spawnsync", "shell_exec", "passthru", "proc_open")
            ),
            *(r"\bpcntl_exec", r"getruntime\(\)\.exec", r"\bpty\.spawn"),
        ),
    ),
    Rule(
        "shell",
        "PowerShell given a command",
        rf"\bpowershell(?:\.exe)?{GAP}.*?-(?:c|command|e|ec|enc|encodedcommand)\b",
        (rf"\bpowershell{SEP}", r"\bpowershell\.exe"),
    ),
    Rule(
        "shell",
        "cmd given a command (/c)",
        rf"\bcmd(?:\.exe)?{GAP}/[ck]\b",
        (rf"\bcmd{GAP}/[ck]\b", rf"\bcmd\.exe{GAP}/[ck]\b"),
    ),
    Rule(
        "shell",
        "text piped into a shell",
        rf"\|[\t ]*(?:sudo{SEP}+)?(?:[\w./]*/)?{_SHELL}\b",
        (rf"\|{SEP}*sudo{SEP}", rf"\|{SEP}*[abcdfhikstz]+\b", rf"\|{SEP}*[a-z0-9_.]*/"),
    ),
    Rule("shell", "command substitution", SUBSTITUTION, ("`", r"\$\("), keys=True),
)
"""What the pack looks for."""
