"""What makes a machine stay open or stay taken: protections switched off, traces wiped, code that starts by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from .hits import Hit

_MESSAGES: Final = {
    "disabled_protection": "switches a protection off",
    "wiped_traces": "wipes logs or backups",
    "persistence": "makes code start by itself later",
    "hidden_account": "adds an account or key that lets somebody in",
    "full_host_access": "gives a container the whole host",
}

_GUARDS: Final = (
    r"(?:firewalld|ufw|nftables|iptables|apparmor|selinux|auditd|fail2ban|rsyslog|syslog(?:-ng)?|clamav[\w-]*|falcon-sensor|crowdstrike\w*"
    r"|osqueryd|wazuh-agent|ossec\w*|sentinel\w*|mdatp|snort|suricata|WinDefend|MpsSvc|Sense|wscsvc|samhain|tripwire|aide|falco)"
)
#: What a program does that hides where nobody looks, or that talks to somebody.
_SHADY: Final = (
    r"(?:/tmp/|/var/tmp/|/dev/shm/|/\.(?!local|config|cargo|nvm|pyenv|rbenv|bun|deno|npm|volta|sdkman|asdf|fzf|oh-my|go\b|rustup|poetry|venv|bashrc|profile|zshrc|bash_|zprofile|dotfiles|git)[a-z][\w-]*|\bcurl\b|\bwget\b|\bnc\s|\bncat\b|/dev/tcp|base64|\bnohup\b|\bsetsid\b"
    r"|python3? -c|perl -e|bash -i|sh -i|LD_PRELOAD|alias (?:sudo|su|ssh)=|\\Temp\\|%TEMP%|AppData|\\Public\\|-w(?:indowstyle)? hidden|-enc\b|https?:)"
)
_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "disabled_protection": (
        r"\bsetenforce\s+(?:0|permissive)|\bSELINUX=(?:disabled|permissive)",
        r"\bufw\s+(?:--force\s+)?(?:disable|reset)\b|\bnft\s+flush\s+ruleset",
        r"\bip6?tables\s+(?:-t\s+\w+\s+)?(?:-F|--flush)\b|\bip6?tables\s+(?:-P|--policy)\s+(?:INPUT|FORWARD|OUTPUT)\s+ACCEPT",
        rf"\bsystemctl\s+(?:--now\s+)?(?:stop|disable|mask|kill)\s+(?:--now\s+)?(?:[\w.@-]+\s+){{0,4}}?{_GUARDS}\b",
        rf"\bservice\s+{_GUARDS}\s+stop|\b(?:sc(?:\.exe)?|net)\s+(?:stop|delete|config)\s+[\"']?{_GUARDS}\b",
        rf"\b(?:pkill|killall)\s+(?:-\w+\s+)*{_GUARDS}|\b(?:Stop|Set)-Service\b[^\n]{{0,60}}{_GUARDS}",
        rf"\b(?:apt(?:-get)?|dnf|yum|brew)\s+(?:-y\s+)?(?:remove|purge|uninstall|autoremove)\s+(?:-y\s+)?{_GUARDS}",
        rf"\bkill\b[^\n]{{0,40}}{_GUARDS}|\blaunchctl\s+(?:unload|bootout|disable|remove)\b[^\n]{{0,80}}(?:falcon|crowdstrike|sentinel|jamf|littlesnitch|defender|carbonblack)",
        r"\bcloudtrail\s+(?:stop-logging|delete-trail)|\bguardduty\s+delete-detector|\blogging\s+sinks\s+delete|\bdiagnostic-settings\s+delete",
        r"\bchmod\s+(?:a?-[rwx]+|0{1,4})\s+\S*(?:clamscan|auditd|fail2ban|rkhunter|chkrootkit)|\becho\s+0\s*>\s*/proc/sys/kernel/(?:randomize_va_space|yama)",
        r"\bbypassPermissions\b|\bdanger-full-access\b|\bapproval[_ -]policy\b[^\n]{0,12}\bnever\b",
        r"\bauditctl\s+-(?:e\s*0|D)\b|\baa-(?:teardown|disable)\b|\bapparmor=0\b|\bselinux=0\b|\benforcing=0\b",
        r"\bSet-MpPreference\b[^\n]{0,80}-Disable\w+\s+(?:\$true|1)|\b(?:Add|Set)-MpPreference\b[^\n]{0,60}-Exclusion\w+",
        r"\bnetsh\s+(?:advfirewall|firewall)\s+set\b[^\n]{0,60}\b(?:off|disable)|\bSet-NetFirewallProfile\b[^\n]{0,80}-Enabled\s+\$?False",
        r"\bDisable(?:AntiSpyware|RealtimeMonitoring|BehaviorMonitoring)\b[^\n]{0,60}(?:\b1\b|\$true)|\bEnableLUA\b[^\n]{0,40}\b0\b",
        r"\bUninstall-WindowsFeature\b[^\n]{0,40}Defender|\bSet-ExecutionPolicy\s+(?:Unrestricted|Bypass)\b[^\n]{0,40}LocalMachine",
        r"\bspctl\s+--(?:master|global)-disable|\bcsrutil\s+(?:disable|authenticated-root disable)",
        r"\brandomize_va_space\s*=\s*0|\bkptr_restrict\s*=\s*0|\byama[./]ptrace_scope\s*=\s*0|\bnointegritychecks\s+on|\btestsigning\s+on",
        r"--dangerously-skip-permissions|--dangerously-bypass-approvals\S*|--allow-all-tools|--yolo\b",
        r"\bPermitRootLogin\s+yes|\bPermitEmptyPasswords\s+yes|\bpasswd\s+-d\s+root|\bxhost\s+\+(?!\S)|\bchattr\s+-i\s+/etc/",
        r"\bNODE_TLS_REJECT_UNAUTHORIZED\s*=\s*[\"']?0|\bPYTHONHTTPSVERIFY\s*=\s*[\"']?0|\bhttp\.sslVerify\s*=?\s*[\"']?false",
        r"\b(?:turn|switch) off (?:the |any |all |your )?(?:\w+ )?(?:antivirus|virus scanner|firewall|audit\w*|sandbox|defender|selinux|apparmor|endpoint protection"
        r"|security software|approval prompts?|permission checks?)\b",
        r"\b(?:disable|deactivate|uninstall|stop|kill|remove) (?:the |any |all |your )?(?:\w+ )?(?:antivirus|virus scanner|firewall|audit log(?:ging|s)?|sandbox"
        r"|(?:windows )?defender|selinux|apparmor|endpoint protection|security (?:software|agent|monitoring)|approval prompts?|permission checks?"
        r"|intrusion detection|EDR|safety (?:checks|filters))\b",
        r"\b(?:deaktivier\w{0,4}|schalte|désactive[zr]?|desactiv[ae]\w?|disattiva\w{0,2}|desative|wyłącz|отключи\w{0,2}|вимкни|devre dışı bırak\w{0,3})\b[^.\n]{0,30}"
        r"(?:firewall|virenscanner|virenschutz|antivirus|pare-feu|cortafuegos|antivírus|zapor\w|антивирус|брандмауэр|фаервол|файрвол|güvenlik duvar)",
        r"(?:关闭|禁用|停用|关掉)[^。\n]{0,8}(?:防火墙|杀毒|安全软件|审计|防护)|(?:ファイアウォール|ウイルス対策|セキュリティソフト)[^。\n]{0,8}(?:無効|停止|オフ)"
        r"|(?:방화벽|백신|보안 프로그램)[^.\n]{0,8}(?:끄|비활성|중지|해제)",
    ),
    "wiped_traces": (
        r"\bvssadmin(?:\.exe)?\s+(?:delete|resize)\s+shadow|\bwbadmin\s+delete|\bwmic\s+shadowcopy\s+delete|\bbcdedit\b[^\n]{0,60}(?:recoveryenabled\s+no|ignoreallfailures)",
        r"\bwevtutil(?:\.exe)?\s+(?:cl|clear-log)\b|\bClear-EventLog\b|\bfsutil\s+usn\s+deletejournal",
        r"\bunset\s+HISTFILE\b|\bHISTFILE=/dev/null|\bHIST(?:FILE)?SIZE=0\b|\bln\s+-\w*s\w*\s+/dev/null\s+\S*_history|\bhistory\s+-c\b[^\n]{0,20}(?:&&|;)[^\n]{0,20}(?:\brm\b|history -w|exit|logout)",
        r"\brm\s+(?:-\w+\s+)+\S*(?:\.bash_history|\.zsh_history)|\b(?:rm\s+-\w*r\w*|shred)\s+(?:-\w+\s+)*/var/log(?:/\*|/)?(?=\s|\Z|[\"'`;&|])",
        r"(?:>|\btruncate\s+-s\s*0|\bshred\b[^\n]{0,20})\s*/var/log/(?:auth|secure|syslog|messages|wtmp|btmp|lastlog|audit)[\w./]*|\bjournalctl\b[^\n]{0,40}--vacuum-time=\d{1,2}s\b",
        r"\b(?:cover|hide) (?:your|our|all|its) tracks|\b(?:remove|erase|wipe|delete|clear|destroy)\b[^.\n]{0,20}\b(?:all |any |every )?(?:traces?|evidence)\b"
        r"|\b(?:delete|clear|wipe|erase|remove|truncate)\b[^.\n]{0,30}\b(?:logs?|history|log entries)\b[^.\n]{0,40}\b(?:so that|so)\b[^.\n]{0,20}\b(?:nobody|no one|not|never|cannot|can't|won't)",
    ),
    "persistence": (
        r"(?:^|[\"'\s(])(?:[*\d,/-]+\s+){4}[*\d,/-]+\s+(?:root\s+)?[^\n]{0,60}?(?:/tmp/|/var/tmp/|/dev/shm/|/\.[a-z][\w.-]*|\bnc\s|/dev/tcp|base64|bash -i|python3? -c)",
        rf"@(?:reboot|hourly|daily)\s+[^\n]{{0,60}}?{_SHADY}",
        rf"{_SHADY}[^\n]{{0,120}}>>\s*[\"']?(?:~|\$HOME|/root|/home/[\w$]+)/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|bash_login|config/fish)",
        rf"{_SHADY}[^\n]{{0,120}}(?:>>|\btee\s+-a)\s*[\"']?/etc/(?:profile|bash\.bashrc|rc\.local|crontab|environment|cron\.)",
        r">>?\s*[\"']?(?:/etc/rc\.local|/etc/cron\.\w+/|/var/spool/cron)[^\n]{0,40}",
        r"\bExecStart(?:Pre)?=[^\n]{0,120}?(?:/tmp/|/var/tmp/|/dev/shm/|/\.[a-z]|\bcurl\b|\bwget\b|\bnc\s|bash -i|base64|/dev/tcp)",
        r"(?:>|\btee\b|\bcp\b|\bmv\b|\bwrite\w*)[^\n]{0,100}Library/Launch(?:Agents|Daemons)/",
        r"\b(?:systemd-run\s+--on-|at\s+now\b)[^\n]{0,60}?(?:/tmp/|/var/tmp/|/dev/shm/|/\.[a-z])",
        r"CurrentVersion\\{1,2}(?:Run|RunOnce|Winlogon)\b(?=[^\n]{0,160}(?:/v\b|/d\b|-Value\b|-Name\b|New-ItemProperty))|(?:Set|New)-ItemProperty\b[^\n]{0,100}CurrentVersion\\{1,2}Run",
        rf"\bschtasks(?:\.exe)?\s+/create\b[^\n]{{0,200}}?(?:{_SHADY}|powershell|/sc\s+onlogon|/ru\s+[\"']?system|wscript|mshta)",
        rf"\b(?:New-ScheduledTaskAction|Register-ScheduledTask)\b[^\n]{{0,200}}(?:{_SHADY}|powershell)|\bStart Menu\\{{1,2}}Programs\\{{1,2}}Startup",
        rf"{_SHADY}[^\n]{{0,160}}>\s*[\"']?\S{{0,40}}\.git/hooks/|\bcore\.hooksPath\s+[\"']?/(?:tmp|dev/shm|var/tmp)",
        r"\"(?:pre|post)?install\"\s*:\s*\"[^\n]{0,120}?(?:\bcurl\b|\bwget\b|node -e|base64|https?:|child_process)",
        r"\b(?:sitecustomize|usercustomize)\.py\b|(?:>|\bcp\b|\btee\b|\bmv\b)[^\n]{0,60}\.config/autostart/|\bLD_PRELOAD=\S*(?:/tmp|/dev/shm|/\.)",
        r"\b(?:cop(?:y|ies)|replicate|propagate|spread|install|insert|inject|write|append|add)s?\b[^.\n]{0,50}\b(?:this skill|itself|yourself|this text|these instructions|this instruction|this rule|this file|this paragraph|this line)\b"
        r"[^.\n]{0,40}\b(?:every|all|other|any)\b[^.\n]{0,20}\b(?:skills?|skill\.md|projects?|repositor\w+|machines?|agents?|files?|folders?|hosts?)\b",
        r"\b(?:this skill|itself|yourself|these instructions|this instruction|this text|the line|the rule)\b[^.\n]{0,40}\b(?:into|to|in) (?:your )?(?:long-term |persistent |permanent )memory\b"
        r"|\b(?:write|add|append|copy|save|put|insert)s? (?:these|this|the same|the) (?:rules?|instructions?|lines?|text|skill)\b[^\n]{0,120}?\b(?:memory|CLAUDE\.md|AGENTS\.md|global)\b"
        r"[^\n]{0,80}?\b(?:each|every|all|any) (?:\w+ )?(?:sessions?|conversations?|runs?|projects?|agents?)\b"
        r"|\bso that\b[^.\n]{0,50}\b(?:survives?|keeps? (?:working|running)|stays?|comes? back|persists?|remains?)\b[^.\n]{0,40}\b(?:uninstall|remov|delet|clean)\w*"
        r"|\b(?:add|append|write|insert|put)\b[^.\n]{0,60}(?:/etc/rc\.local|/etc/profile|\.bashrc|\.zshrc|\.profile|crontab)\W{0,4}[^.\n]{0,40}\b(?:starts?|runs?|launch(?:es)?|executes?|that|which)\b"
        r"[^\n]{0,60}?(?:/\.[a-z]|\bcurl\b|\bwget\b|/tmp/|every (?:boot|login|shell))"
        r"|\bso that (?:it|this|they) (?:survives?|persists?|stays?|is always loaded|are always loaded|comes? back)",
    ),
    "hidden_account": (
        r"authorized_keys[^\n]{0,120}(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w+)\s+AAAA",
        r"(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w+)\s+AAAA[^\n]{0,800}authorized_keys",
        r"\buseradd\b[^\n]{0,80}(?:-o\s+-u\s*0|-ou\s*0|--non-unique|-u\s*0\b)|\busermod\b[^\n]{0,40}-u\s*0\b",
        r"\w*:[x*]?:0:0:[^\n]{0,60}>>\s*/etc/passwd",
        r"\bnet\s+user\s+\S+\s+\S+\s+/add\b|\bnet\s+localgroup\s+[\"']?administrators[\"']?\s+\S+\s+/add|\bAdd-LocalGroupMember\b[^\n]{0,60}Administrators",
    ),
    "full_host_access": (
        r"\bdocker\s+run\b(?=[^\n]{0,200}(?:-v|--volume|--mount)[ =]\S{0,20}(?<![\w.-])/:/)[^\n]{0,200}(?:--privileged|chroot|nsenter|--pid=host|--pid host)",
        r"\bdocker\s+run\b[^\n]{0,200}--privileged[^\n]{0,200}(?:-v|--volume)[ =]/:/|\bnsenter\b[^\n]{0,40}(?:-t|--target)\s*1\b",
    ),
}  # fmt: skip
_COMPILED: Final = tuple((code, re.compile("|".join(parts), re.I | re.M)) for code, parts in _PATTERNS.items())


def takeover(text: str) -> Iterator[Hit]:
    """Everything of this module."""
    for code, pattern in _COMPILED:
        for match in pattern.finditer(text):
            order = match[0][:1].isalpha() and " " in match[0] and match[0].split()[0].isalpha()
            yield Hit(f"dangerous_shell:{code}", _MESSAGES[code], match.start(), match.end(), order=order)
