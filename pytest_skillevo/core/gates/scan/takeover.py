"""What makes a machine stay open or stay taken: protections switched off, traces wiped, code that starts by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from .hits import Hit
from .wording import either

_MESSAGES: Final = {
    "disabled_protection": "switches a protection off",
    "wiped_traces": "wipes logs or backups",
    "persistence": "makes code start by itself later",
    "hidden_account": "adds an account or key that lets somebody in",
    "full_host_access": "gives a container the whole host",
}

_GUARDS: Final = (
    r"(?:firewalld|ufw|nftables|iptables|apparmor|selinux|auditd|fail2ban|rsyslog|syslog(?:-ng)?|clamav[\w-]*"
    r"|falcon-sensor|crowdstrike\w{0,40}"
    r"|osqueryd|wazuh-agent|ossec\w{0,40}|sentinel\w{0,40}|mdatp|snort|suricata|WinDefend|MpsSvc|Sense|wscsvc|samhain"
    r"|tripwire|aide|falco)"
)
#: What a program does that hides where nobody looks, or that talks to somebody.
_SHADY: Final = (
    r"(?:/tmp/|/var/tmp/|/dev/shm/|/\.(?!local|config|cargo|nvm|pyenv|rbenv|bun|deno|npm|volta|sdkman|asdf|fzf|oh-my"
    r"|go\b|rustup|poetry|venv|bashrc|profile|zshrc|bash_|zprofile|dotfiles|git)[a-z][\w-]*|\bcurl\b|\bwget\b|\bnc\s"
    r"|\bncat\b|/dev/tcp|base64|\bnohup\b|\bsetsid\b"
    r"|python3? -c|perl -e|bash -i|sh -i|LD_PRELOAD|alias (?:sudo|su|ssh)=|\\Temp\\|%TEMP%|AppData|\\Public\\"
    r"|-w(?:indowstyle)? hidden|-enc\b|https?:)"
)
_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "disabled_protection": (
        r"\bsetenforce (?:0|permissive)|\bSELINUX=(?:disabled|permissive)",
        r"\bufw (?:--force )?(?:disable|reset)\b|\bnft flush ruleset",
        r"\bip6?tables (?:-t \w{1,40} )?(?:-F|--flush)\b|\bip6?tables (?:-P"
        r"|--policy) (?:INPUT|FORWARD|OUTPUT) ACCEPT",
        rf"\bsystemctl (?:--now )?(?:stop|disable|mask"
        rf"|kill) (?:--now )?(?:[\w.@-]+ ){{0,4}}?{_GUARDS}\b",
        rf"\bservice {_GUARDS} stop|\b(?:sc(?:\.exe)?|net) (?:stop|delete"
        rf"|config) [\"']?{_GUARDS}\b",
        rf"\b(?:pkill|killall) (?:-\w{{1,40}} )*{_GUARDS}|\b(?:Stop"
        rf"|Set)-Service\b[^\n]{{0,60}}{_GUARDS}",
        rf"\b(?:apt(?:-get)?|dnf|yum|brew) (?:-y )?(?:remove|purge|uninstall"
        rf"|autoremove) (?:-y )?{_GUARDS}",
        rf"\bkill\b[^\n]{{0,40}}{_GUARDS}|\blaunchctl (?:unload|bootout|disable"
        rf"|remove)\b[^\n]{{0,80}}(?:falcon|crowdstrike|sentinel|jamf|littlesnitch|defender|carbonblack)",
        r"\bcloudtrail (?:stop-logging|delete-trail)|\bguardduty delete-detector"
        r"|\blogging sinks delete|\bdiagnostic-settings delete",
        r"\bchmod (?:a?-[rwx]+|0{1,4}) \S{0,80}(?:clamscan|auditd|fail2ban|rkhunter|chkrootkit)"
        r"|\becho 0\s{0,8}>\s{0,8}/proc/sys/kernel/(?:randomize_va_space|yama)",
        r"\bbypassPermissions\b|\bdanger-full-access\b|\bapproval[_\s-]policy\b[^\n]{0,12}\bnever\b",
        r"\bauditctl -(?:e\s{0,8}0|D)\b|\baa-(?:teardown|disable)\b|\bapparmor=0\b|\bselinux=0\b|\benforcing=0\b",
        r"\bSet-MpPreference\b[^\n]{0,80}-Disable\w{1,40} (?:\$true|1)|\b(?:Add"
        r"|Set)-MpPreference\b[^\n]{0,60}-Exclusion\w{1,40}",
        r"\bnetsh (?:advfirewall|firewall) set\b[^\n]{0,60}\b(?:off|disable)"
        r"|\bSet-NetFirewallProfile\b[^\n]{0,80}-Enabled \$?False",
        r"\bDisable(?:AntiSpyware|RealtimeMonitoring|BehaviorMonitoring)\b[^\n]{0,60}(?:\b1\b|\$true)"
        r"|\bEnableLUA\b[^\n]{0,40}\b0\b",
        r"\bAmsiUtils\b|\bamsiInitFailed\b|\bSet-MpPreference\b[^\n]{0,80}-\w{1,40} (?:0|Never\w{0,40}|Disabled"
        r"|AllowAll)\b|\b(?:Disable|Remove)-NetFirewallRule\b",
        r"\bSet-ExecutionPolicy (?:-ExecutionPolicy )?(?:Unrestricted|Bypass)\b(?![^\n]{0,60}Process)"
        r"|\bSet-ProcessMitigation\b[^\n]{0,60}-Disable",
        r"\bUninstall-WindowsFeature\b[^\n]{0,40}Defender|\bSet-ExecutionPolicy (?:Unrestricted"
        r"|Bypass)\b[^\n]{0,40}LocalMachine",
        r"\bspctl --(?:master|global)-disable|\bcsrutil (?:disable|authenticated-root disable)",
        r"\brandomize_va_space\s{0,8}=\s{0,8}0|\bkptr_restrict\s{0,8}=\s{0,8}0|\byama[./]ptrace_scope\s{0,8}=\s{0,8}0"
        r"|\bnointegritychecks on|\btestsigning on",
        r"--dangerously-skip-permissions|--dangerously-bypass-approvals\S{0,80}|--allow-all-tools|--yolo\b",
        r"\bPermitRootLogin yes|\bPermitEmptyPasswords yes|\bpasswd -d root"
        r"|\bxhost \+(?!\S)|\bchattr -i /etc/",
        r"\bNODE_TLS_REJECT_UNAUTHORIZED\s{0,8}=\s{0,8}[\"']?0|\bPYTHONHTTPSVERIFY\s{0,8}=\s{0,8}[\"']?0"
        r"|\bhttp\.sslVerify\s{0,8}=?\s{0,8}[\"']?false",
        r"\b(?:turn|switch) off (?:the |any |all |your )?(?:\w{1,40} )?(?:antivirus|virus scanner|firewall"
        r"|audit\w{0,40}|sandbox|defender|selinux|apparmor|endpoint protection"
        r"|security software|approval prompts?|permission checks?)\b",
        r"\b(?:disable|deactivate|uninstall|stop|kill|remove) (?:the |any |all |your )?(?:\w{1,40} )?(?:antivirus"
        r"|virus scanner|firewall|audit log(?:ging|s)?|sandbox"
        r"|(?:windows )?defender|selinux|apparmor|endpoint protection|security (?:software|agent|monitoring)"
        r"|approval prompts?|permission checks?"
        r"|intrusion detection|EDR|safety (?:checks|filters))\b",
        r"\b(?:deaktivier\w{0,4}|schalte|désactive[zr]?|desactiv[ae]\w?|disattiva\w{0,2}|desative|wyłącz"
        r"|отключи\w{0,2}|вимкни|devre dışı bırak\w{0,3})\b[^.\n]{0,30}"
        r"(?:firewall|virenscanner|virenschutz|antivirus|pare-feu|cortafuegos|antivírus|zapor\w|антивирус|брандмауэр"
        r"|фаервол|файрвол|güvenlik duvar)",
        r"(?:关闭|禁用|停用|关掉)[^。\n]{0,8}(?:防火墙|杀毒|安全软件|审计|防护)|(?:ファイアウォール|ウイルス対策|セキュリティソフト)[^。\n]{0,8}(?:無効|停止|オフ)"
        r"|(?:방화벽|백신|보안 프로그램)[^.\n]{0,8}(?:끄|비활성|중지|해제)",
    ),
    "wiped_traces": (
        r"\bvssadmin(?:\.exe)? (?:delete|resize) shadow|\bwbadmin delete"
        r"|\bwmic shadowcopy delete|\bbcdedit\b[^\n]{0,60}(?:recoveryenabled no|ignoreallfailures)",
        r"\bwevtutil(?:\.exe)? (?:cl|clear-log)\b|\bClear-EventLog\b|\bfsutil usn deletejournal",
        r"\bunset HISTFILE\b|\bHISTFILE=/dev/null|\bHIST(?:FILE)?SIZE=0\b"
        r"|\bln -\w{0,40}s\w{0,40} /dev/null \S{0,80}_history|\bhistory -c\b[^\n]{0,20}(?:&&"
        r"|;)[^\n]{0,20}(?:\brm\b|history -w|exit|logout)",
        r"\brm (?:-\w{1,40} )+\S{0,80}(?:\.bash_history|\.zsh_history)|\b(?:rm -\w{0,40}r\w{0,40}"
        r"|shred) (?:-\w{1,40} )*/var/log(?:/\*|/)?(?=\s|\Z|[\"'`;&|])",
        r"(?:>|\btruncate -s\s{0,8}0|\bshred\b[^\n]{0,20})\s{0,8}/var/log/(?:auth|secure|syslog|messages|wtmp"
        r"|btmp|lastlog|audit)[\w./]*|\bjournalctl\b[^\n]{0,40}--vacuum-time=\d{1,2}s\b",
        r"\b(?:cover|hide) (?:your|our|all|its) tracks|\b(?:remove|erase|wipe|delete|clear"
        r"|destroy)\b[^.\n]{0,20}\b(?:all |any |every )?(?:traces?|evidence)\b"
        r"|\b(?:delete|clear|wipe|erase|remove|truncate)\b[^.\n]{0,30}\b(?:logs?|history"
        r"|log entries)\b[^.\n]{0,40}\b(?:so that|so)\b[^.\n]{0,20}\b(?:nobody|no one|not|never|cannot|can't|won't)",
    ),
    "persistence": (
        r"(?:^|[\"'\s(])(?:[*\d,/-]+ ){4}[*\d,/-]+ (?:root )?[^\n]{0,60}?(?:/tmp/|/var/tmp/"
        r"|/dev/shm/|/\.[a-z][\w.-]{0,60}|\bnc\s|/dev/tcp|base64|bash -i|python3? -c)",
        rf"@(?:reboot|hourly|daily) [^\n]{{0,60}}?{_SHADY}",
        rf"{_SHADY}[^\n]{{0,120}}>>\s{{0,8}}[\"']?(?:~|\$HOME|/root|/home/[\w$]+)/\.(?:bashrc|zshrc|profile"
        rf"|bash_profile|zprofile|bash_login|config/fish)",
        rf"{_SHADY}[^\n]{{0,120}}(?:>>|\btee -a)\s{{0,8}}[\"']?/etc/(?:profile|bash\.bashrc|rc\.local|crontab"
        rf"|environment|cron\.)",
        r">>?\s{0,8}[\"']?(?:/etc/rc\.local|/etc/cron\.\w{1,40}/|/var/spool/cron)[^\n]{0,40}",
        r"\bExecStart(?:Pre)?=[^\n]{0,120}?(?:/tmp/|/var/tmp/|/dev/shm/|/\.[a-z]|\bcurl\b|\bwget\b|\bnc\s|bash -i"
        r"|base64|/dev/tcp)",
        r"(?:>|\btee\b|\bcp\b|\bmv\b|\bwrite\w{0,40})[^\n]{0,100}Library/Launch(?:Agents|Daemons)/",
        r"\b(?:systemd-run --on-|at now\b)[^\n]{0,60}?(?:/tmp/|/var/tmp/|/dev/shm/|/\.[a-z])",
        rf"<key>(?:RunAtLoad|KeepAlive|StartInterval"
        rf"|ProgramArguments)</key>[\s\S]{{0,500}}?<string>[^<]{{0,80}}?{_SHADY}",
        r"<(?:Logon|Boot|Calendar|Time)Trigger>[\s\S]{0,900}?<(?:Command|Arguments)>[^<]{0,120}?(?:powershell|cmd"
        r"|wscript|mshta|https?:|Temp|AppData|\.vbs)",
        r"\b(?:ajoute[zr]?|inscri[st]\w{0,40}|füge|trage|añad[ae]|agreg[ae]|aggiungi|adicione|dodaj|добавь\w{0,2}"
        r"|впиши\w{0,2})\b[^.\n]{0,80}(?:\.bashrc|\.zshrc|\.profile|crontab|rc\.local|authorized_keys"
        r"|systemd|cron\b)[^\n]{0,120}?(?:démarr\w{1,40}|chaque|jedem|jeder|inicio|cada|ogni|każdym|при каждом|login"
        r"|curl|wget|/tmp/|/\.[a-z])"
        r"|(?:添加|写入|加入)[^。\n]{0,30}(?:\.bashrc|\.zshrc|crontab|rc\.local|authorized_keys|启动项)[^。\n]{0,40}",
        r"CurrentVersion\\{1,2}(?:Run|RunOnce|Winlogon)\b(?=[^\n]{0,160}(?:/v\b|/d\b|-Value\b|-Name\b"
        r"|New-ItemProperty))|(?:Set|New)-ItemProperty\b[^\n]{0,100}CurrentVersion\\{1,2}Run",
        rf"\bschtasks(?:\.exe)? /create\b[^\n]{{0,200}}?(?:{_SHADY}|powershell|/sc onlogon"
        rf"|/ru [\"']?system|wscript|mshta)",
        rf"\b(?:New-ScheduledTaskAction|Register-ScheduledTask)\b[^\n]{{0,200}}(?:{_SHADY}|powershell)"
        rf"|\bStart Menu\\{{1,2}}Programs\\{{1,2}}Startup",
        rf"{_SHADY}[^\n]{{0,160}}>\s{{0,8}}[\"']?\S{{0,40}}\.git/hooks/|\bcore\.hooksPath [\"']?/(?:tmp"
        rf"|dev/shm|var/tmp)",
        r"\"(?:pre|post)?install\"\s{0,8}:\s{0,8}\"[^\n]{0,120}?(?:\bcurl\b|\bwget\b|node -e|base64|https?:"
        r"|child_process)",
        r"\b(?:sitecustomize|usercustomize)\.py\b|(?:>|\bcp\b|\btee\b|\bmv\b)[^\n]{0,60}\.config/autostart/"
        r"|\bLD_PRELOAD=\S{0,80}(?:/tmp|/dev/shm|/\.)",
        r"\b(?:cop(?:y|ies)|replicate|propagate|spread|install|insert|inject|write|append"
        r"|add)s?\b[^.\n]{0,50}\b(?:this skill|itself|yourself|this text|these instructions|this instruction"
        r"|this rule|this file|this paragraph|this line)\b"
        r"(?:[^.\n]|\.(?=\S)){0,60}\b(?:every|all|other|any)\b[^.\n]{0,20}\b(?:skills?|skill\.md|projects?"
        r"|repositor\w{1,40}|machines?|agents?|files?|folders?|hosts?)\b",
        r"\b(?:this skill|itself|yourself|these instructions|this instruction|this text|the line"
        r"|the rule)\b[^.\n]{0,40}\b(?:into|to|in) (?:your )?(?:long-term |persistent |permanent )memory\b"
        r"|\b(?:write|add|append|copy|save|put|insert)s? (?:these|this|the same|the) (?:rules?|instructions?|lines?"
        r"|text|skill)\b[^\n]{0,120}?\b(?:memory|CLAUDE\.md|AGENTS\.md|global)\b"
        r"[^\n]{0,80}?\b(?:each|every|all|any) (?:\w{1,40} )?(?:sessions?|conversations?|runs?|projects?|agents?)\b"
        r"|\bso that\b[^.\n]{0,50}\b(?:survives?|keeps? (?:working|running)|stays?|comes? back|persists?"
        r"|remains?)\b[^.\n]{0,40}\b(?:uninstall|remov|delet|clean)\w{0,40}"
        r"|\b(?:add|append|write|insert|put)\b[^.\n]{0,60}(?:/etc/rc\.local|/etc/profile|\.bashrc|\.zshrc|\.profile"
        r"|crontab)\W{0,4}[^.\n]{0,40}\b(?:starts?|runs?|launch(?:es)?|executes?|that|which)\b"
        r"[^\n]{0,60}?(?:/\.[a-z]|\bcurl\b|\bwget\b|/tmp/|every (?:boot|login|shell))"
        r"|\bso that (?:it|this|they) (?:survives?|persists?|stays?|is always loaded|are always loaded|comes? back)",
    ),
    "hidden_account": (
        r"authorized_keys[^\n]{0,120}(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w{1,40}) AAAA",
        r"(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w{1,40}) AAAA[^\n]{0,800}authorized_keys",
        r"(?:\b(?:our|notre|nuestra|nossa|nostra|unser\w{0,2}|onze|nasz)|наш\w{0,2}|我们的|私たちの|우리)\b[^\n]{0,40}"
        r"(?:\b(?:key|clé|clave|chave|chiave|schlüssel|sleutel|klucz)|ключ|公钥|公開鍵|키)(?:[^\n;.]|\.(?=\S)){0,60}authorized_keys",
        r"\buseradd\b[^\n]{0,80}(?:-o -u\s{0,8}0|-ou\s{0,8}0|--non-unique|-u\s{0,8}0\b)"
        r"|\busermod\b[^\n]{0,40}-u\s{0,8}0\b",
        r"\w{0,40}:[x*]?:0:0:[^\n]{0,60}>>\s{0,8}/etc/passwd",
        r"\bnet user \S{1,120} \S{1,120} /add\b"
        r"|\bnet localgroup [\"']?administrators[\"']? \S{1,120} /add"
        r"|\bAdd-LocalGroupMember\b[^\n]{0,60}Administrators",
    ),
    "full_host_access": (
        r"\bdocker run\b(?=[^\n]{0,200}(?:-v|--volume"
        r"|--mount)[\s=]\S{0,20}(?<![\w.-])/:/)[^\n]{0,200}(?:--privileged|chroot|nsenter|--pid=host|--pid host)",
        r"\bdocker run\b[^\n]{0,200}--privileged[^\n]{0,200}(?:-v|--volume)[\s=]/:/|\bnsenter\b[^\n]{0,40}(?:-t"
        r"|--target)\s{0,8}1\b",
    ),
}
_COMPILED: Final = tuple((code, either(*parts, flags=re.I | re.M)) for code, parts in _PATTERNS.items())


def takeover(text: str) -> Iterator[Hit]:
    """Everything of this module."""
    for code, pattern in _COMPILED:
        for match in pattern.finditer(text):
            # Prose begins with its verb ("turn off the firewall"), and is then an order itself.
            order = match[0].partition(" ")[0].isalpha()
            yield Hit(f"dangerous_shell:{code}", _MESSAGES[code], match.start(), match.end(), order=order)
