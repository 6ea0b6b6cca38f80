"""Files that hold credentials: reading them aloud, copying them, sending them away. Naming one is no danger."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .hits import Hit

_SEP: Final = r"[\\/]{1,2}"
_HOME: Final = r"(?:~|\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE|/root|/(?:home|Users)/[\w.$<>-]{1,40})"
#: Kind of file -> its shape.
_SHAPES: Final = {
    "ssh_private_key": rf"\.ssh{_SEP}(?:id_(?:\*|(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?![\w.-]{{0,60}}\.pub)\b)|\*"
    rf"|identity\b)",
    "shadow": r"/etc/g?shadow\b-?",
    "aws_credentials": rf"\.aws{_SEP}credentials\b",
    "cloud_credentials": (
        r"application_default_credentials\.json\b"
        rf"|gcloud{_SEP}(?:credentials|access_tokens)\.db\b"
        rf"|\.azure{_SEP}(?:accessTokens|msal_token_cache)[\w.]{{0,20}}"
    ),
    "login_file": (
        r"(?<![\w-])[._]netrc\b|\.git-credentials\b|\.pgpass\b|\.pypirc\b|\.vault-token\b|credentials\.tfrc\.json\b"
        r"|\.config/gh/hosts\.yml"
    ),
    "gpg_keys": rf"\.gnupg{_SEP}(?:private-keys|secring|\*)[\w.-]{{0,20}}",
    "password_store": (
        r"\.password-store\b|\.kdbx\b|\bwallet\.dat\b|\bLogin Data\b|\bcookies\.sqlite\b|\blogins\.json\b|\bkey4\.db\b"
        r"|\blogin\.keychain(?:-db)?\b"
    ),
    "process_environment": r"/proc/(?:self|\d{1,8}|\*|\$\w{1,20})/environ\b",
    "service_token": r"serviceaccount/token\b|169\.254\.169\.254/[\w./-]{0,80}(?:credentials|token)",
    "windows_accounts": r"\\config\\SAM\b|\bntds\.dit\b|HKLM\\SAM\b",
    "key_folder": rf"{_HOME}{_SEP}\.(?:ssh|gnupg|aws)(?:{_SEP})?(?![\w\\/.*-])",
    "server_key": r"/etc/ssh/ssh_host_\w{1,20}_key(?!\.pub)\b|\bprivkey\.pem\b|/etc/ssl/private/|\.keytab\b"
    r"|/pki/[\w/-]{0,40}\.key\b",
    "passwd": r"/etc/passwd\b(?!-)",
    "sudoers": r"/etc/sudoers\b(?!\.)",
    "kube_config": rf"\.kube{_SEP}config\b|/etc/kubernetes/admin\.conf\b",
    "docker_config": rf"\.docker{_SEP}config\.json\b",
    "npm_config": r"\.npmrc\b",
    "history": r"\.(?:bash|zsh|psql|mysql|python)_history\b",
    "environment_file": r"(?<![\w.$)\]-])\.env(?:\.(?:local|prod|production|staging))?(?![\w.(*-])",
}
_FILE: Final = re.compile("|".join(f"(?P<{name}>{shape})" for name, shape in _SHAPES.items()))
#: Of these a plain look is too much; of the others only what goes on show; of the weak ones only what leaves.
_STRICT: Final = frozenset(list(_SHAPES)[: list(_SHAPES).index("key_folder")])
_WEAK: Final = frozenset({"environment_file", "npm_config"})

#: Commands that put a file on the screen or take a copy, and calls that open one.
_SHOWS: Final = r"\b(?:cat|less|more|head|tail|strings|xxd|hexdump|od|base64|tac|nl|bat|type|Get-Content|gc)\b(?!=)"
_TAKES: Final = (
    r"\b(?:cp|mv|scp|rsync|tar|zip|7z|gzip|sort|cut|grep|sed|awk|dd|source|unshadow|john|hashcat|xcopy|copy|pbcopy"
    r"|xclip|clip|sqlite3|read_file|get_file|view_file|readFile(?:Sync)?|file_get_contents|createReadStream"
    r"|ReadAll\w{1,9}"
    r"|glob|rglob|iglob|open|Path|File\.read|ReadFile)\b"
)
_READS: Final = (
    r"\b(?:read(?:s|ing)?|open(?:s|ing)?|load(?:s|ing)?|fetch(?:es|ing)?|retriev(?:es?|ing)|attach(?:es|ing)?"
    r"|includ(?:es?|ing)|append(?:s|ing)?|embed(?:s|ding)?|cop(?:y|ies|ying)"
    r"|display(?:s|ing)?|show(?:s|ing)?|print(?:s|ing)?|dump(?:s|ing)?|extract(?:s|ing)?|collect(?:s|ing)?"
    r"|gather(?:s|ing)?|grab(?:s|bing)?|harvest(?:s|ing)?|return(?:s|ing)?|outputs?|quotes?|look (?:in|inside|into|at)"
    r"|access(?:es|ing)?|encod(?:es?|ing)|contents? of|(?:tarball|archive|zip file|backup|copy) of|pars(?:es?|ing)"
    r"|scrap(?:es?|ing)|archives?|backs? up|take)\b"
    r"|\b(?:lies(?=\s{1,8}(?:die|den|das|dem|zuerst|bitte|alle|[~/.$`])|\s{0,8}\Z)|lese|lesen|öffne|öffnen"
    r"|kopier\w{1,4}|zeig\w{0,3}|gib|lis|lire|lisez|ouvr\w{1,4}|affich\w{1,4}"
    r"|copi\w{1,4}|lee|leer|lea|abre|abra|muestra|imprime|leia|ler|mostre|leggi|leggere|apri|mostra|lees|toon"
    r"|odczytaj|wyświetl|skopiuj|kopyala)\b"
    r"|прочита\w{1,4}|прочти|покажи|скопиру\w{1,4}|открой|откройте|выведи|считай|读取|打开|复制|查看|拷贝|讀取"
    r"|اقرأ|انسخ"
)
_SENDS: Final = (
    r"\b(?:send(?:s|ing)?|ship(?:s|ping)?|upload(?:s|ing)?|transmit(?:s|ting)?|e-?mail(?:s|ing)?|post(?:s|ing)?"
    r"|exfiltrat\w{1,4}|leak(?:s|ing)?|steal(?:s|ing)?|forward(?:s|ing)?|past(?:es?|ing)|smuggl(?:es?|ing)"
    r"|(?:attach|includ|shar|append|add)\w{0,3}\b[^\n.]{0,40}\bcontents? of)\b"
    r"|\b(?:sende|sendet|senden|schick\w{0,3}|übertrag\w{0,3}|übermittl\w{0,3}|envo(?:ie|yez|yer)|transmet\w{0,3}"
    r"|téléverse\w{0,2}|env[ií][ae]\w{0,3}|enviar|manda\w{0,2}|sube|invia\w{0,2}|carica|stuur|verstuur|wyślij"
    r"|prześlij)\b"
    r"|отправ\w{1,4}|перешли\w{0,2}|загрузи\w{0,2}|надішл\w{1,3}|відправ\w{1,3}|发送|上传|发到|傳送|أرسل"
)
#: The same where the verb comes last.
_AFTER: Final = re.compile(
    r"[^\n.。]{0,60}(?:読み取|読み込|読んで|コピー|表示|送信|送って|アップロード|읽|복사|출력|보내|전송|업로드|gönder|oku(?:yup|yun|yarak|\b)"
    r"|kopyala|पढ़|भेज"
    r"|(?:(?:and|then)\s{1,8})?(?:read|copy|print|send|show|open|upload|remember|include|paste|attach"
    r"|post)\s{1,8}(?:it|them|its contents?"
    r"|the (?:file|key|contents?))\b|auslesen|lesen|hochladen|senden|schicken|kopieren|发送|上传|发给)"
)
_NETWORK: Final = re.compile(
    r"\b(?:curl|wget|nc|ncat|netcat|xh|s?ftp|tftp|socat|telnet|requests\.(?:post|put)|fetch\(|axios|urlopen|sendmail"
    r"|Invoke-(?:WebRequest|RestMethod)|iwr|irm|mailx|mail|nslookup|dig|gist create|aws s3 (?:cp|sync|mv)"
    r"|rclone (?:copy|sync|move)|gsutil (?:cp|rsync))\b"
)
_AWAY: Final = re.compile(
    r"[^\n.。]{0,80}(?:\|[^\n]{0,60}\b(?:curl|wget|nc|ncat|netcat|mail|ssh|socat)\b|\bto (?:https?:|\S{1,120}@|an? "
    r"|the |our )"
    r"|https?://|@[\w-]{1,40}\.\w|\b(?:server|endpoint|webhook|pastebin|remote|external|collector|slack|discord"
    r"|telegram)\b"
    r"|/dev/tcp/)",
    re.I,
)
#: A use of a key as it is meant, right before its path.
_PROPER: Final = re.compile(
    r"(?:(?:^|\s)-[iIfF]|\bIdentityFile|--(?:key|identity|private-key|netrc|key|identity)(?:-file)?"
    r"|\bssh-add(?:\s-\S{1,120})*"
    r"|\bssh-keygen\b[^\n]{0,60}|\bchmod\s\S{1,12}|\bchown\s\S{1,30}|\bls(?:\s-\S{1,8})?|\bstat\b[^\n]{0,20}"
    r"|\btest\s-\S"
    r"|\[\s-\S|\bKUBECONFIG=|--kubeconfig|--env-file|\bgit (?:add|rm)(?:\s-\S{1,120})*|\btouch"
    r"|\bumask\s\d{1,8};)[ =\"'`]{0,3}\Z"
)
#: How a hardening guide looks through accounts; the hashes have not been in this file for decades.
_AUDIT: Final = re.compile(r"\b(?:awk|cut|getent|grep|sed|wc|sort)\b[^\n]{0,80}\Z")
_ALOUD: Final = re.compile(r"[^\n]{0,80}\b(?:include|paste|send|post|report|return|share|repeat|tell)\b", re.I)

#: What stands between the verb and the file may be some words, but no other sentence.
_GAP: Final = r"(?:[^\n.;!?。；]|\.(?=\S)){0,60}\Z"
_SHOWN: Final = re.compile(rf"(?:{_SHOWS}){_GAP}")
_TAKEN: Final = re.compile(rf"(?:{_TAKES}){_GAP}")
_READ: Final = re.compile(rf"(?:{_READS}){_GAP}", re.I)
_SENT: Final = re.compile(rf"(?:{_SENDS}){_GAP}", re.I)
_FETCHED: Final = re.compile(rf"(?:{_NETWORK.pattern}){_GAP}")
_TOLD: Final = re.compile(
    rf"\b(?:print|dump|output|show|past|display|return|repeat|quot|echo|reveal|includ|attach|append)\w{{0,3}}\b"
    rf"[^\n.]{{0,40}}\bcontents? of\b{_GAP}",
    re.I,
)
_SEARCHED: Final = re.compile(rf"\bgrep\b[^\n]{{0,60}}(?:pass|secret|token|key){_GAP}", re.I)
_OPENED: Final = re.compile(
    rf"\b(?:open|read_text|read_bytes|readFile(?:Sync)?|file_get_contents|File\.read|ReadAll\w{{1,9}}"
    rf"|ReadFile)\s?\({_GAP}"
)
#: The folders before the part of the path that tells the kind.
_HEAD: Final = re.compile(rf"(?:{_HOME}{_SEP}|\.{{0,2}}{_SEP}|[\w.-]{{1,30}}{_SEP}){{0,4}}[\"'`@<=(]{{0,4}}\Z")
_WINDOW: Final = 120
_DUMPED: Final = re.compile(
    r"\b(?:find|locate|fd|mdfind)\b[^\n]{0,120}(?:id_rsa|id_ed25519|\.pem|\.key\b|\.kdbx|credentials|\.env|wallet"
    r"|\.ovpn)[^\n]{0,80}(?:-exec\s{1,8}(?:cat|cp|tar|base64|zip)"
    r"|\|\s{0,8}(?:xargs\s{1,8}(?:\S{1,120}\s{1,8})?)?(?:cat|cp|tar|base64|zip|curl|nc)\b)"
    r"|\bgrep\s{1,8}-\w{0,40}[rR]\w{0,40}[^\n]{0,60}(?:password|passwd|secret|token|api_?key|AKIA"
    r"|PRIVATE KEY)[^\n]{0,40}\s(?:/|~|\$HOME|/home|/etc|/root|/Users)(?:/\S{0,20})?(?=\s|\Z|[\"'`;|])"
    r"|\bgpg2?\b[^\n]{0,60}--export-secret-(?:sub)?keys?\b|\bsecurity\s{1,8}dump-keychain\b|\bsecretsdump\b"
    r"|\bmimikatz\b|\bsekurlsa\b|\blsass\b[^\n]{0,40}(?:dump|dmp)"
    r"|\b(?:procdump|comsvcs)\b[^\n]{0,60}\blsass|\breg(?:\.exe)?\s{1,8}save\s{1,8}HKLM\\{1,2}(?:SAM|SYSTEM|SECURITY)"
    r"|\bfor\s{1,8}\w{1,20}\s{1,8}in\s{1,8}/proc/(?:\[0-9\][+*]?|\*)[^\n]{0,100}/environ\b"
    r"|\bgetent\s{1,8}shadow\b|\blazagne\b",
    re.I,
)
_FAR: Final = 600
_ASSIGNED: Final = re.compile(r"(?P<name>\$?[A-Za-z_]\w{0,30})\s{0,8}:?=\s{0,8}[^=\n]{0,80}\Z")
_USES: Final = re.compile(rf"{_TAKES}|{_SHOWS}|{_NETWORK.pattern}|\b(?:Copy-Item|sqlite3|connect|upload|read|post)\b")

_MESSAGES: Final = {
    "key_folder": "takes a folder of keys",
    "environment_file": "takes the credentials of an environment file away",
    "history": "takes the command history, which holds credentials",
}


def credential_files(text: str) -> Iterator[Hit]:
    """Places where a file with credentials is read, shown, copied or sent."""
    for match in _FILE.finditer(text):
        kind = match.lastgroup or ""
        low = max(0, match.start() - _WINDOW)
        low = text.rfind("\n", low, match.start()) + 1 or low
        before = text[low : match.start()]
        head = _HEAD.search(before)
        before = before[: head.start()] if head else before
        verb = _verb(kind, before, text[match.end() : match.end() + _WINDOW])
        if verb is None and kind in _STRICT:
            verb = _used_later(before, text[match.end() : match.end() + _FAR])
        if verb is not None:
            message = _MESSAGES.get(kind, f"reads or copies credentials ({kind.replace('_', ' ')})")
            yield Hit(f"credential_file:{kind}", message, low + verb, match.end(), order=True)


def _used_later(before: str, after: str) -> int | None:
    """Where a variable gets the path, when a later line reads, copies or sends what it names."""
    assigned = _ASSIGNED.search(before)
    if assigned is None:
        return None
    name = re.escape(assigned["name"])
    for use in re.finditer(rf"(?<!\w){name}(?!\w)[^\n]*", after):
        line = after[after.rfind("\n", 0, use.start()) + 1 : use.end()]
        if _USES.search(line):
            return assigned.start()
    return None


def searched_credentials(text: str) -> Iterator[Hit]:
    """Searches for credentials all over a machine, and tools that dump its stores of them."""
    for match in _DUMPED.finditer(text):
        yield Hit("credential_file:searched", "searches the machine for credentials or dumps them", *match.span())


def _verb(kind: str, before: str, after: str) -> int | None:
    """Where in `before` the words begin that make naming this file a danger; None when nothing does."""
    if _PROPER.search(before):
        return None
    found = None
    if kind not in _WEAK or _AWAY.match(after) or _AWAY.search(before):
        found = _SENT.search(before) or _FETCHED.search(before)
    found = found or _TOLD.search(before)
    if found is None and not (kind == "passwd" and _AUDIT.search(before)):
        shown = _SHOWN.search(before)
        if kind not in _WEAK or (shown and (_ALOUD.match(after) or _AWAY.match(after))):
            found = shown
        if kind == "history":
            found = found or _SEARCHED.search(before)
        if kind not in _WEAK and kind not in _STRICT and kind != "passwd":
            found = found or _OPENED.search(before)
        if kind in _STRICT or kind in ("key_folder", "passwd"):
            found = found or _TAKEN.search(before) or _READ.search(before)
    if found is not None:
        return found.start()
    return len(before) if kind in _STRICT and _AFTER.match(after) else None
