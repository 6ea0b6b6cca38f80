"""Words by which a text forbids, warns, orders or takes a warning back. Only what context.py asks for.

English has rules of its own; the other languages share one pattern a purpose, as they are looked at only where few
English words stand.
"""

from __future__ import annotations

import re
from typing import Final


def _any(*parts: str) -> str:
    return "(?:" + "|".join(parts) + ")"


def _words(*parts: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_any(*parts)}\b", re.I)


_DOING: Final = (
    _any(
        "run|execut|us|typ|past|enter|issu|invok|call|perform|pip|cop|launch|start|do|try|appl|follow|obey|compl"
        "|accept",
        "trust|act|commit|stor|writ|read|open|access|touch|send|shar|print|upload|post|log|put|plac|includ|suggest",
        "recommend|generat|propos|creat|mak|grant|set|chmod|delet|remov|wip|eras|format|overwrit|extract|download"
        "|install",
        "fetch|load|expos|reveal|leak|echo|cat|emit|output|evaluat|interpret|ship|hard-?cod|embed|mount|ignor"
        "|disregard",
        "forget|pass|transmit|disclos|exfiltrat|save|move|climb|travers|escap|show|display|attach|e-?mail|forward"
        "|point",
        "go|bypass|overrid|hide|hid|conceal|dump|return|inspect|quot|feed|hand|give|giv|disabl|unpack|tell|curl|dd|rm",
        "mislead|deceiv|lie|trick|combin|allow|permit|collect|request|steal|harvest|smuggl|append|add|encod|ask|keep"
        "|leav|repeat|change|chang",
    )
    + "(?:y|e|es|s|ing|ting|ning|ping|ming|ying|ling|ding|ied|ed)?"
)
_BETWEEN: Final = _any(
    "ever|blindly|simply|directly|actually|just|even|again|also|silently|automatically|knowingly|unattended|casually",
    "manually|yourself|intentionally|accidentally|under any circumstances|in any case|(?:attempt|try|agree|offer"
    "|plan) to",
    "be (?:asked|told|tricked|used|talked|led) (?:to|into)",
    r"(?:let|allow|permit|have|ask|tell|instruct|encourage|advise|teach|cause)(?:\s+[\w-]+){1,4}?(?:\s+to)?",
    "commands? (?:like|such as)|anything like|code that|tools? (?:to|that)|scripts? that|a command that|skills? (?:to"
    "|that)",
    "answers that|agents? to|requests? to|anyone to|instructions? to|orders? to|text that asks you to",
)
_NOT: Final = _any(
    "never|do not|don't|must not|mustn't|should not|shouldn't|shall not|may not|can ?not|can't|won't|will not|did not",
    "not (?:allowed|permitted|supposed|meant|intended) to|nobody (?:may|should|must)|forbidden to|not to|without ever"
    "|nor",
    r"no (?:skill|script|agent|tool|one|command|step|task)(?: \w+)? (?:may|should|must|can|ever|needs? to)",
    "refus(?:e|es|ed) to|declin(?:e|es) to|avoid|stop|reject (?:any |all )?(?:requests?|attempts?|instructions?) to",
    "(?:refuse|decline|deny) (?:any |all |every )?(?:requests?|attempts?|instructions?|orders?|prompts?) to",
    "(?:it is|it's) (?:forbidden|prohibited|wrong|never ok|not ok) to|prohibited from|prevent(?:ed)? from",
)
#: A prohibition of doing something; the verb is part of it.
FORBIDS: Final = re.compile(rf"\b{_NOT}(?:\s+{_BETWEEN}){{0,3}}\s+{_DOING}\b", re.I)
#: A prohibition right before the thing itself.
FORBIDS_IT: Final = re.compile(
    r"\b(?:never|no|not|avoid|instead of|rather than|refuse|reject|block|deny|forbid|without|don't|ban|prohibit"
    r"|disallow"
    r"|away from|beware of|replaces?|prevents?|against)(?:\s+(?:any|the|a|an|bare|plain|using|of|every|all|things like"
    r"|commands? like|such as|raw))*[\s`\"'(:*]*\Z"
    r"|\bprefer\b[^.\n]{1,80}\bto[\s`\"'(*]*\Z|\b(?:prefer|use|choose)\b[^.\n]{1,80}\b(?:over|instead of|not"
    r"|rather than)[\s`\"'(*]*\Z",
    re.I,
)
#: A prohibition that follows: "... must never be run".
FORBIDS_AFTER: Final = re.compile(
    r"\b(?:must|should|may|can|shall|is|are|will)(?:n't| not| never)\b(?: ever)?(?: to)? be (?:\w+ed|run|done|written"
    r"|put|set|read|sent)\b"
    r"|\b(?:is|are) (?:never|not) (?:to be )?(?:allowed|permitted|ok|okay|acceptable|appropriate|run|used|executed"
    r"|an option|tolerated)\b",
    re.I,
)
#: "No script pipes a download into a shell": a check that there is none.
FORBIDS_ANY: Final = re.compile(
    r"\A\W*no\s[\w-]+(?:\s[\w-]+)?\s(?:pipes?|uses?|contains?|runs?|reads?|writes?|calls?|has|have|is|are|sends?"
    r"|deletes?|sets?|asks?|tells?)\b",
    re.I,
)
#: What stands before a prohibition and turns it round.
TURNED: Final = re.compile(r"\b(?:not|n't|never|cannot|nobody)\s+\Z", re.I)
#: After a prohibition, another verb that is an order again: "do not ask, just run ...".
BUT: Final = re.compile(
    r"(?:[,;:]|\s-{1,2}\s|\s\u2014\s|\b(?:but|instead|then|just|always|and))\s*(?:[\w']+\s+){0,3}?"
    r"(?:run|execute|use|type|paste|enter|invoke|call|launch|do|send|write|read|pipe|always|just)\b"
    r"(?!\s*(?:,|or\b|nor\b|and\b))|\balways\s*\Z",
    re.I,
)
#: A prohibition with an exception announces what is allowed after all.
UNLESS: Final = _words("without|unless|until|before|except|more than once|twice|on \\w+days?|by hand only")
#: "Do not forget to ..." and the like forbid nothing.
REMINDS: Final = re.compile(
    r"\b(?:never|don't|do not)\s(?:ever\s)?(?:forget|hesitate|fail|skip|miss|omit|wait|worry|stop|think|be afraid"
    r"|neglect)\b"
    r"|\b(?:nicht|nie(?:mals)?)\s(?:zu\s)?(?:vergess|zöger)\w+|\bverg(?:iss|esst|essen sie)\b[^.\n]{0,12}\bnicht"
    r"|\bzöger\w{1,3}\s(?:sie\s)?nicht|\bn'(?:oubli|hésit)\w+|\bno\s(?:te\s|se\s)?(?:olvid|dud)\w+"
    r"|\bnão\s(?:se\s)?(?:esqueç|hesit)\w+|\bnon\s(?:dimentic|esit)\w+|\bniet\s(?:te\s)?vergeten|\bvergeet\sniet"
    r"|\bnie\s(?:zapom|wahaj)\w+|\bне\s(?:забуд|забыва|стесня|бой|сомнева)\w+|\bне\s(?:забувай|забудь)\w*|\bunutma\w*"
    r"|别忘|不要忘|不要犹豫|不要询问|不要问|忘れず|忘れない|ためらわず|잊지|주저하지|لا تنس",
    re.I,
)

#: What says that something is bad, in the sentence or around it.
BAD: Final = re.compile(
    r"\b"
    + _any(
        "danger(?:s|ous|ously)?|destructive|malicious|unsafe|insecure|harmful|hazard(?:s|ous)?|risk(?:s|y)?"
        "|attack(?:s|er|ers)?",
        "inject(?:ion|ions|ed)|exploit(?:s|ed|ation)?|vulnerab\\w+|threats?|suspicious|forbid(?:s|den)?|prohibit(?:s"
        "|ed)?",
        "disallow(?:s|ed)?|not allowed|off[- ]limits|ban(?:s|ned)",
        r"block(?!\s(?:devices?|sizes?|storage|counts?|level)\b)(?:s|ed|ing|list|ers?)?",
        "den(?:y|ies|ied|ylist|ying)",
        "blacklist(?:s|ed)?|reject(?:s|ed|ing|ion)?|refus(?:e|es|ed|al|ing)|detect(?:s|ed|ion|or|ors|ing)?|flag(?:s"
        "|ged|ging)?",
        "alert(?:s|ed|ing)?|catch(?:es)?|caught|prevent(?:s|ed|ing)?|guard(?:s|ed|ing)?|protect(?:s|ed"
        "|ion)? (?:against|from)",
        "red flags?|warn(?:s|ed|ing|ings)?|avoid(?:s|ed|ing)?|untrusted|adversar\\w+|jailbreaks?|phishing|payloads?",
        "anti-?patterns?|pitfalls?|mistakes?|wrong|bad (?:example|idea|practice|habit)|wip(?:es|ed)|destroy(?:s|ed)?"
        "|bricks?",
        "catastroph\\w+|irreversibl\\w+|compromis(?:e|es|ed)|leak(?:s|ed|age)?|abus(?:e|es|ed)|misus(?:e|ed)|severity"
        "|critical",
        "sanitiz\\w+|lint(?:s|er|ing)|sandbox(?:es|ed)?|quarantin\\w+|escalat\\w+|as data|not (?:an )?instructions?",
        r"treat(?:s|ed)? .{1,60}\bas (?:data|plain text|text|untrusted|hostile|suspicious|malicious|an? (?:attack"
        r"|injection|threat|bug|incident|warning|finding))",
        "look(?:s|ing)? for|watch(?:ing)? for|search(?:es)? for|grep for|indicat(?:es?|ors?)",
        "incidents?|forensics?|accident(?:s|al|ally)?|eras(?:es|ed|ing)|overwrit(?:es|ing|ten)|exhaust(?:s|ed)?"
        "|traversal",
        "world[- ]writable|infamous|notorious|poison(?:s|ed|ing)?|classic|crash(?:es|ed)?|steal(?:s|ing)?|hijack(?:s"
        "|ed)?",
        "never (?:acceptable|ok|safe|needed|appropriate|allowed)|trick(?:s|ed)?|malware|backdoors?|trojans?|worms?"
        "|rootkits?",
        "stop and ask|ask (?:first|before|for confirmation)|require(?:s)? (?:approval|confirmation)"
        "|needs? (?:approval|confirmation)",
        "human approval|do not comply|not comply|do not obey|not obey|report it|fails? the (?:check|review|gate)"
        "|hardening",
        "fork bombs?|reverse shells?|privilege escalation|isolated|demonstrat\\w+|analy[sz](?:e|es|ed|ing|is)"
        "|stop and tell",
        "ruin(?:s|ed)?|breaks|broke|corrupt(?:s|ed|ion)?|disast\\w+|unrecoverable|irrecoverabl\\w+|lose (?:your|all"
        "|the)|data loss|loss of",
        "(?:is|are|be) lost|consequences?|triggers?|escap(?:es|ed|ing)|zip slip|climbs? out|outside (?:the|its|of"
        "|your)|evil|must never|should never|gone for good",
        "violat(?:es?|ion)|illegal|penetration test|pentest(?:s|ers?)?|red team(?:s|ing)?|honeypot|cve-\\d+|owasp"
        "|mitre",
    )
    + r"\b(?!\.\w|[_/=]|-full)"
    r"|\b(?:(?:would|will|can|could|may|might|must not) (?:delete|remove|erase|wipe|destroy|overwrite|lose|open"
    r"|expose|grant|give|let|allow)"
    r"|(?:delet|remov|eras|wip|destroy|overwrit|los|open|expos|grant|giv|let|allow|read|render|kill)(?:es|s|ing"
    r"|ed))\b[^.\n]{0,40}"
    r"\b(?:everything|every|all|whole|entire|anyone|anybody|everybody|everyone|any user|others|unusable|unbootable)\b"
    r"|[\u26a0\u274c\u26d4\u2717\u2718\U0001f6ab]",
    re.I,
)
#: What takes such a word back.
FINE: Final = re.compile(
    r"\b(?:not|isn't|no longer|never|hardly|no|nothing|aren't)\s+(?:really\s|at all\s|a\s|an\s|any\s|actually\s)?"
    r"(?:danger\w*|harmful|malicious|attack|risk\w*|threat|problem|unsafe|destructive|injection|forbidden|prohibited"
    r"|disallowed|blocked|banned|wrong|mistake|illegal)\b"
    r"|\b(?:never|do not|don't|must not|cannot|not) (?:refuse|decline|reject|object|warn)\b"
    r"|\b(?:perfectly|completely|totally|entirely|absolutely|quite)\s+(?:safe|harmless|fine|normal|ok)\b"
    r"|\b(?:is|are)\s+(?:safe|harmless|fine|ok|okay|allowed here|expected here)\b"
    r"|\b(?:ignore|disregard|disable|skip|bypass|suppress|despite|regardless of|dismiss|override|turn off)\s+"
    r"(?:the |any |all |its |these |this )?(?:\w+ )?(?:warning|alert|risk|block|detection|protection|refusal|guard"
    r"|check)",
    re.I,
)
#: The thing is what somebody else says or asks for, or what a text explains.
REPORTED: Final = re.compile(
    r"\b(?:if|when|whenever|any|some|someone|anyone|an?|attackers?|may|might|could|can|that|which|who"
    r"|should)\b[^.\n]{0,120}"
    r"\b(?:ask|tell|told|instruct|urg|trick|lur|persuad|convinc|want|tr(?:y|ies|ied)|attempt|sa(?:y|id)|claim|request"
    r"|order|tempt"
    r"|suggest|propos|contain|includ|call)\w{0,4}\b(?:\s+[\w'-]+){0,5}\s*[`\"'(:*]*\Z",
    re.I,
)
ASKED: Final = re.compile(r"\W*(?:q\W+)?(?:what|why|which|how come|is it|what's|does|do you know)\b", re.I)
EXPLAINED: Final = re.compile(r"\b(?:what|why|how|whether|when|that)\s*[`\"'*]*\Z", re.I)
EXPLAINS: Final = re.compile(
    r"[`\"'*)\s]*(?:would|does|do|did|can|could|might|means?|is|are|was|were|happens|works)\b", re.I
)
_RUN: Final = _any(
    "run|execute|use|type|paste|enter|issue|invoke|call|perform|pipe|launch|start|do|try|apply|submit|fire|finish with",
    "begin with|start with|go on with|install (?:it|this|them|everything) with|fix (?:it|this|that) with|clean up with",
    "reset (?:it )?with|set up with|free (?:it|space) with|you can (?:run|use|fix|clean|free)",
)
_START: Final = _any(
    r"^|[.,;:!(>]\s*|\n\s*|\s-{1,2}\s|\s\u2014\s",
    r"\b(?:then|and|please|now|first|next|just|must|should|always|finally|simply|instead|also|immediately|important"
    r"|step \d+|need to|have to|has to|going to|to (?:fix|clean|reset|install|finish|start|repair|begin|prepare|set up"
    r"|speed up|free|avoid|prevent|recover|continue)\b[^,.\n]{0,60},?)\s+",
)
_NO_ORDER: Final = (
    r"(?!catch|detect|block|find|flag|reject|prevent|stop|avoid|forbid|refuse|instead|against|search|grep|for\b)"
)
#: An order to run what follows.
ORDER: Final = re.compile(rf"{_START}\**{_RUN}\b(?:\s+{_NO_ORDER}[\w'/.-]+){{0,6}}\s*[`\"'(:*$\s]*\Z", re.I)
#: A purpose or condition, a comma, and the command itself.
ORDER_BY_PURPOSE: Final = re.compile(
    r"^\W*(?:to|for|when(?:ever)?|if|after|before|once|in order to|as soon as)\b[^.:\n]*,\s*(?:(?:then|just|simply"
    r"|please)\s+){0,2}[`\"'*]*\Z"
    r"|\b(?:just|simply|please|then|now|next|finally|first)\s+[`\"'*]*\Z"
    r"|(?:^|,)\W*(?:step \d+\W+)?(?:clean|remove|wipe|delete|reset|free|install|fix|set up|prepare|start|finish"
    r"|update|repair|do this|undo|purge|flush"
    r"|overwrite|stress|initiali[sz]e|configure|unlock|open|grant|give|make)\b[^.:\n]*:\s*[`\"'*]*\Z",
    re.I,
)
#: A way out that is offered, a colon, and the command.
OFFERED: Final = re.compile(
    r"\b(?:fix|solution|trick|remedy|workaround|way|answer|cure|shortcut)\b[^.\n]{0,100}(?::|\bis)\s*[`\"'*]*\Z", re.I
)
#: The next sentence orders it: "Run it once."
RUN_IT: Final = re.compile(
    r"[`\"'*)\s]{0,4}[.!:,]?\s*(?:then |now |just |and |please )*(?:run|execute|type|use|repeat|apply|paste) (?:it"
    r"|this|that|the (?:above|command|line))\b",
    re.I,
)
ORDER_AFTER: Final = re.compile(
    r"[`\"'*)\s]*(?:(?:must|should|has to|needs to|is to|can) (?:always |then |first |now )?be (?:run|executed|used"
    r"|called|applied|typed|issued)"
    r"|is (?:required|needed|recommended|necessary|mandatory|the (?:first|next|last|right|final) (?:step|way|command))"
    r"|(?:を|コマンドを)?\s*(?:実行し(?!ない|ま(?:せん))|実行する(?!と|こと|な|前|場合|際)|入力し(?!ない))"
    r"|(?:를|을)?\s?(?:실행하(?!지)|실행해(?!서는)|입력하(?!지))|(?:komutunu\s)?çalıştır(?!ma|mıyor|ılma))",
    re.I,
)
#: Words of a hit that are an order themselves, because nothing stands before them that makes them something else.
CLAUSE_START: Final = re.compile(rf"{_START}\**\Z|\b(?:you|agent)\s+\Z", re.I)
#: "Reading", "reads": what is done, not what is to be done.
NO_IMPERATIVE: Final = re.compile(r"\w+(?:ing|[^\Ws]s)\b")
QUOTE_OPEN: Final = re.compile(r"[\"'«「『`*_]\s*\Z|[«「『„][^»」』”\"\n]{0,60}\Z|[\"'][^\"'\n]{1,40}\Z")

QUOTED: Final = re.compile(r"[\"«「『„][^\"»」』”\n]{0,60}\Z")

FORBIDS_ELSEWHERE: Final = re.compile(
    _any(
        r"\b(?:niemals|nie|nicht|nichts|keinesfalls|auf keinen fall|kein(?:e|en|er)?|verboten|untersag\w{1,3}"
        r"|vermeide\w{0,2}|statt|anstatt)\b",
        r"\b(?:ne|n')\s?[\w'-]+(?:[- ]vous)?\s(?:jamais|pas|plus|aucun\w?)\b|\bjamais\b|\binterdit\w{0,2}\b"
        r"|(?<!pour\s)(?<!d')\bévite[zr]?\b",
        r"\b(?:proscri\w{1,3}|au lieu de|plutôt que|prohibid\w|proibid\w|(?<!para\s)(?<!per\s)evit[ae]\w?|en lugar de|en vez de"
        r"|em vez de)\b",
        r"\b(?:nunca|jamás)\b|\bno\s(?:\w+\s){0,3}?(?:ejecut|us|corr|lanc|lanz|pegu|copi|escrib|hag|hay|deb|instal"
        r"|pong|guard|compart"
        r"|env|ley?a|leas|abra|sub|obede|sig|ignor)\w*",
        r"\bnão\s(?:\w+\s){0,2}?(?:execut|us|rod|copi|digit|col|salv|faç|dev|envi|compartilh|lei|ignor|sig|obede)\w*",
        r"\b(?:mai|non)\s(?:\w+\s){0,3}?(?:esegui|us|lanci|copi|incoll|scriv|digit|salv|legg|invi|far|dev|condivid"
        r"|ignor|segu)\w*",
        r"\bmai\b|\bvietat\w\b|\binvece di\b|\bnooit\b|\bniet\b|\bverboden\b|\bvermijd\b|\bin plaats van\b",
        r"\b(?:nigdy|zabronion\w|zakazan\w|unikaj|zamiast)\b|\bnie\s(?:wolno\s)?(?:uruchamiaj|wykonuj|używaj|wklejaj"
        r"|kopiuj|wpisuj"
        r"|udostępniaj|zapisuj|wysyłaj|czytaj|ignoruj)\w*",
        r"\bникогда\b|\bнельзя\b|\bзапрещ\w+|\bизбега\w+|\bвместо\b|\bне\s(?:\w+\s){0,2}?(?:выполня|запуска|использу"
        r"|вводи|вставля"
        r"|копиру|отправля|чита|храни|коммит|дава|следу|публику|открыва|дела|игнориру|подчин)\w*",
        r"\bніколи\b|\bзаборон\w+|\bне\s(?:\w+\s){0,2}?(?:виконуй|запуска|використову|копію|вводь|надсила|читай"
        r"|ігноруй)\w*",
        r"\b(?:asla|kesinlikle|sakın)\b|(?:çalıştır|kullan|yapıştır|kopyala|gönder|paylaş|yaz|oku)m[ae]y[ıi]n\w*"
        r"|yasak\w*",
        r"\b(?:aldrig|ikke|inte|älä|koskaan|jangan|đừng|không bao giờ|nikdy|soha|ne futtas\w*|niciodată|nu)\b",
        r"(?<![はがも])不要(?![でだなのにとがをは])|切勿|请勿|勿|禁止|严禁|绝不|绝对不|永远不|不得|不能|不可|不应|不允许|避免|而不是|拒绝|别(?=运行|执行|用|把|读|发)",
        r"ない(?:で|こと|よう)|てはいけ|てはなら|禁止|べからず|避け|代わりに|しません|べきではな",
        r"하지 ?마|지 ?마세요|지 ?말|하면 안|해서는 안|금지|않(?:도록|습니다|는다)|대신",
        r"لا ت\w+|ممنوع|يحظر|يُحظر|न करें|मत |कभी न|कभी भी|ห้าม|อย่า|אסור|לעולם אל|אין ל|ποτέ|\bμην\b",
    ),
    re.I,
)
BAD_ELSEWHERE: Final = re.compile(
    _any(
        r"gefähr\w+|\bgefahr\w*|warnung|vorsicht|angriff|angreifer|schädlich|bösartig|blockier|ablehn|abgelehnt"
        r"|lehn\w{1,3}\b.{1,60}\bab\b",
        r"\bverboten|\binterdit|\bprohibid|\bproibid|\bvietat|\bverboden|\bzabronion|\bzakazan|запрещ|заборон|禁止|금지"
        r"|\byasak|ممنوع",
        r"erkenn\w+|löscht|zerstör|verdächtig|\bfehler|risik\w+|sicherheits\w+|verweiger|missbrauch|untergeschoben",
        r"\bdanger\w*|attaqu\w+|malveillan\w+|bloqu\w+|refus\w+|détect\w+|détrui\w+|avertiss\w+|risque|suspec\w+"
        r"|effac\w+ tout",
        r"peligro\w*|ataque|atacante|malicios\w+|rechaz\w+|detect\w+|destru\w+|advertencia|riesgo|sospechos\w+"
        r"|inyección",
        r"perigo\w*|atacante|rejeit\w+|\baviso|\brisco|suspeit\w+|injeção|recus\w+|pericolo\w*|attacc\w+|malevol\w+"
        r"|blocc\w+|rifiut\w+",
        r"rischi\w+|sospett\w+|gevaar\w*|aanval\w*|weiger\w*|verdacht\w*|niebezpieczn\w+|\batak\w*|złośliw\w+"
        r"|odrzu\w+|blokuj\w*|zagroż\w+|ostrzeż\w+|zawiesz\w+|tak zwan\w+",
        r"внедрени|инъекци|подозрит|опасн\w+|атак\w+|злоумышленник|вредонос\w+|блокиру\w+|отклон\w+|откаж\w+"
        r"|предупрежд\w+|угроз\w+|уязвим\w+|подозрит\w+",
        r"небезпечн\w+|загроз\w+|відхил\w+|tehlike\w*|saldırı\w*|zararlı\w*|engelle\w*|reddet\w*|şüpheli",
        r"破坏|毁掉|损坏|改用|破壊|壊れ|파괴|망가|없는지|bomba fork|fork-?bom|bomba (?:rozwid|logic|de proces|di fork|процесс)|форк-?бомб|çatal bombası|フォーク爆弾|포크 폭탄|炸弹",
        r"\bruin|beschädig|\bcompromet|arruin|\bdaña|danifica|rovina|danneggia|лома[ею]т|повред|уничтож|портит"
        r"|\bнет\b|отсутств|niszczy|uszkadza",
        r"危险|危險|攻击|攻擊|恶意|风险|警告|拒绝|阻止|拦截|检测|可疑|误删|漏洞|威胁|注入|删除整个|删除所有",
        r"危ない|危険|消え|消去され|削除され|失われ|攻撃|悪意|拒否|検出|怪しい|注意|ブロック|脆弱|不正|インジェクション|위험|공격|악의|악성|거부|차단|탐지|경고|취약|주의|인젝션",
        r"خطير|خطر|هجوم|ख़तर|खतर|हमल|อันตราย|โจมตี|סכנה|מסוכן|επικίνδυν|επίθεσ|nguy hiểm|tấn công|berbahaya|serangan"
        r"|farlig|angrepp|vaarallinen",
    ),
    re.I,
)
ORDER_ELSEWHERE: Final = re.compile(
    r"\b(?:führe?n?(?: sie)?|starte(?:n sie)?|nutze|verwende(?:n sie)?|gib|gebe(?:n sie)?|tippe|exécute[zr]?"
    r"|lance[zr]?|tape[zr]?"
    r"|utilise[zr]?|saisi[st]\w*|ejecut[ae]|corre|lanza|usa|utiliza|escrib[ae]|pega|execute|rode|digite|cole|esegui"
    r"|lancia|digita"
    r"|incolla|voer|gebruik|typ|plak|uruchom|wykonaj|użyj|wpisz|wklej|kör|kjør|suorita|jalankan|chạy"
    r"|spusť)\b[^.\n]{0,40}[`\"'«:\s]*\Z"
    r"|(?:выполни|запусти|используй|введи|вставь|виконай)\w{0,2}[^.\n]{0,30}[`\"'«:\s]*\Z"
    r"|(?:运行|执行|输入|使用|粘贴|執行)[^。\n]{0,10}[`\"'「:\s]*\Z|(?:شغل|نفذ)[^.\n]{0,20}\Z",
    re.I,
)

#: Headings and lead-ins under which a bare command is shown as what not to do.
LISTED: Final = re.compile(
    r"\b"
    + _any(
        "never|don'?ts?|do not|must not|avoid|forbidden|prohibited|not allowed|disallow\\w*|banned|block(?:s|ed|list)?",
        "den(?:y|ies|ied|ylist)|reject(?:s|ed)?|refus(?:e|es|ed)|dangerous|destructive|malicious|unsafe|harmful"
        "|red flags?",
        "attack(?:s|ers?)?|payloads?|anti-?patterns?|bad|wrong|insecure|detect(?:s|ed|ion|ions|ors?)?|flag(?:s|ged)?"
        "|catch(?:es)?",
        "suspicious|injections?|exploits?|vulnerab\\w+|pitfalls?|threats?|indicators|what not to do|hazard(?:s|ous)"
        "|not do",
        "escalate|warning signs|signs of|risky|traversal|mistakes|instead of|stop and ask|require approval"
        "|need confirmation",
    )
    + r"\b|[\u26a0\u274c\u26d4\u2717\u2718\U0001f6ab]",
    re.I,
)
#: Headings whose whole list is forbidden, orders in it included.
FORBIDDEN_LIST: Final = re.compile(
    r"\b(?:never|don'?ts?|do not|must not|forbidden|prohibited|not allowed|disallow\w*|banned|block(?:s|ed|list)?"
    r"|denied|denylist"
    r"|reject(?:s|ed)?|refus(?:e|es|ed)|what not to do|not to do|anti-?patterns?|bad examples?|red flags?)\b"
    r"|[\u274c\u26d4\u2717\U0001f6ab]",
    re.I,
)
#: An order in a lead-in: what follows is to be run.
LEADS_TO_RUN: Final = _words(
    "run|execute|use|type|enter|apply|do|paste|start with|as follows|follow(?:ing)? (?:command|steps?)|clean up"
)
#: A comment beside or above a command that says that it is a bad example.
MARKED: Final = re.compile(
    r"\b"
    + _any(
        "bad|wrong|never|don't|do not|dangerous|unsafe|insecure|vulnerable|forbidden|blocked|denied|rejected|refused",
        "malicious|attack|anti-?pattern|avoid|destructive|not allowed|hostile|injection|noncompliant|non-compliant",
        "(?:must|should) (?:not|be (?:blocked|rejected|refused|denied|flagged|caught|detected))",
    )
    + r"\b|[\u274c\u26d4\u2717\U0001f6ab]",
    re.I,
)
_GUARDS: Final = _any(
    "den(?:y|ied|ylist|y_list)|block(?:ed|list|_list|er)?|blacklist|forbid(?:den)?|disallow|dangerous|malicious|unsafe",
    "suspicious|banned|reject|attack|payloads|prohibited|detect|refuse|is_?safe|assert_?raises|raises|hostile"
    "|injection",
    "bad_|evil|exploit|signature|alert|danger|destructive|quarantine|not_?allowed|must_?not|never|violation|threat"
    "|risky",
)
#: In code: a list, a rule or a check that names what is kept out.
GUARD: Final = re.compile(_GUARDS, re.I)
CALLED: Final = re.compile(
    r"\b(?:os\.system|os\.popen|subprocess|check_output|check_call|Popen|exec|execSync|spawn|system|shell_exec|popen"
    r"|eval"
    r"|sh -c|bash -c|run_shell|run_command)\b\s*[\(\[:\"']",
    re.I,
)
#: A field of a rule for a scanner, and what else such a rule has.
RULE_FIELD: Final = re.compile(
    r"\s*-?\s*[\"']?(?:pattern|regex|match|contains|condition|cmd|command|example|test|input|payload|value"
    r"|signature)s?[\"']?\s*[:=]",
    re.I,
)
RULE: Final = re.compile(
    r"^\s*-?\s*[\"']?(?:severity|message|rules?|rule_id|action|level|mitre|cwe|verdict|expect(?:ed)?)[\"']?\s*[:=]",
    re.I | re.M,
)
#: A line of its own above a command that says that it is not to be run.
LABEL: Final = re.compile(r"\W*(?:do not|don't|never|bad|wrong|forbidden|dangerous|unsafe)\b[^\n;|&=(]{0,60}\Z", re.I)
#: What a guard prints.
OUTPUT: Final = re.compile(r"\s*(?:BLOCKED|DENIED|REJECTED|REFUSED|FORBIDDEN|ERROR|WARNING|DENY|ALERT)\b", re.I)
COMMENT: Final = re.compile(
    r"(?:^|(?<=\s))(?:#|//(?!/)|--(?=\s)|;;?|REM\b|/\*|\*(?=\s)|<!--|%)\s?(?P<text>[^\n]*)", re.I
)
SENTENCE_END: Final = re.compile(
    r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!\bvs)(?<!z\.B)(?<!bzw)(?<!p\.ex)[.!?](?=\s+[A-Z\"`(*\u00c0-\u024f\u0400-\u04ff])"
    r"|[。！？]|\n\s*\n|\n(?=\s*(?:[-*>|]|\d+[.)])\s)"
)
#: Something that is met with, "if `...` shows up in the log".
IF: Final = re.compile(r"\b(?:if|when|whenever|where|should)\s(?:an?\s|the\s|any\s)?[`\"'(]{0,3}\Z", re.I)
MET: Final = re.compile(
    r"[`\"')\s]*(?:(?:ever )?(?:shows? up|appears?|turns? up)|is (?:found|seen|logged|reported))\b", re.I
)
#: To keep quiet about a deed, in other languages: it forbids the telling and not the deed.
HUSH: Final = re.compile(
    _any(
        r"\b(?:erwähn|sag|erzähl|verrat|meld|bericht|informier)\w{0,3}\s(?:[\w-]+\s){0,4}?(?:nichts?|nie(?:mals)?)\b",
        r"\b(?:ne\s|n')(?:[\w']+\s)?(?:dis|dites|mentionne\w?|parle\w?|informe\w?|signale\w?|préviens|avertis\w{0,2})"
        r"\s(?:[\w']+\s){0,2}?(?:pas|rien|jamais)\b",
        r"\b(?:no|nunca|não|non)\s(?:(?:l[eoa]s?|se|lhes?|[oa]|te|ne|gli)\s){0,2}(?:dig|mencion|menzion|inform|avis|cuent|revel|dir|parl|cont[ei]s?\b)"
        r"\w*",
        r"\b(?:vertel|meld|zeg|noem)\s(?:\w+\s){0,4}?(?:niets?|nooit)\b",
        r"\bnie\s(?:mów|wspominaj|informuj|zgłaszaj|powiadamiaj)\w*|\bне\s(?:\w+\s){0,2}?(?:говори|сообща|упомина"
        r"|рассказыва|уведомля|информиру|кажи|згаду|повідомля)\w*",
        r"(?:söyle|bahset|haber ver|bildir|bilgilendir)me\w*",
        r"(?:不要|别|切勿|请勿|勿|不得|不能)(?:让|向|对)?(?:用户|他|她|任何人)?(?:告诉|告知|通知|提及|提到|透露|说明|报告|知道)(?:用户|他|她|任何人)?",
        r"(?:知らせ|伝え|言わ|教え|報告し|触れ|言及し)ない(?:で|こと|よう)|(?:알리|말하|언급하|보고하|밝히)지 ?(?:마|말|않)[가-힣]*",
        r"لا ت(?:خبر|ذكر|قل|علم|بلغ|شر|كشف|فصح)\w*|(?:मत|न|ना|नहीं) (?:बता|कह|बोल)|(?:ห้าม|อย่า)(?:บอก|แจ้ง)",
    ),
    re.I,
)
#: What is said of a quoted order, in other languages: it is not followed, it is data, somebody is told of it.
NOT_FOLLOWED: Final = re.compile(
    _any(
        r"\b(?:ignorier\w{0,4}|befolg\w{0,3}|meld(?:e\w{0,2})?|als daten|ignore[zr]?|traite\w{0,2}|signale[zr]?"
        r"|comme (?:des|une?) (?:données|donnée))\b",
        r"\b(?:ign[oó]r[ae]l[oae]s?|como (?:datos|dados|texto)|come (?:dati|dato|testo)|ignoral[oaie]|avvisa|avis[ae]|inform[ae]"
        r"|segnala\w{0,2}|als gegevens|jako dane|zignoruj|zgłoś)\b",
        r"\bне\s(?:слуша|исполня|реагиру|поддава|доверя|поддавай)\w*|как (?:данн|текст)\w*|сообщи\w{0,2}|\bяк дані",
        r"\b(?:uyma(?:y[ıi]n\w*)?|itaat etme\w*|veri olarak|bildir(?:in)?|uyar(?:ın)?)\b",
        r"不予|当作(?:数据|普通)|视为|数据(?:处理|对待)|不执行|不遵守|报告|従わ(?:ず|ない)|データとして|報告|무시하|데이터로|따르지|알려|بيانات|لا تتبع|أبلغ"
        r"|डेटा|पालन न",
    ),
    re.I,
)
#: What a command promises to spare: "prevents all access errors". It praises and does not warn.
PRAISE: Final = re.compile(
    r"\b(?:prevent|avoid|block|stop|eliminat|fix|cure|get rid of)(?:s|es|ed|ing)?\b(?:\s[\w'-]+){0,4}?\s"
    r"(?:errors?|problems?|issues?|failures?|prompts?|questions?|complaints?|hassles?|conflicts?|delays?|trouble)\b",
    re.I,
)
ENGLISH: Final = _words("the|and|to|of|you|is|it|this|that|with|for|not|never|do")
