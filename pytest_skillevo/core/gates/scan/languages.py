"""How orders to an agent are worded in the languages that skills are written in.

Each entry of OVERRULE is (what to do with them, which ones, instructions): the three must meet in one sentence, in any
order, as verbs come last in some languages. English has rules of its own in orders.py.
"""

from __future__ import annotations

from typing import Final

OVERRULE: Final[tuple[tuple[str, str, str], ...]] = (
    (  # German
        r"\b(?:ignorier\w{0,4}|vergiss|vergesst|vergessen|missacht\w{0,4}|übergeh\w{0,3}|überschreib\w{0,3}"
        r"|umgeh\w{0,3}|verwirf|verwerf\w{0,2})\b",
        r"\b(?:bisherig|vorherig|vorangegangen|vorangehend|vorig|früher|obig|ander|sämtlich|all|dein|ihr"
        r"|eur)\w{0,4}\b|\bsystem\w{0,20}\b",
        r"\w{0,12}(?:anweisung|instruktion|regel|vorgabe|richtlinie|befehl|prompt)\w{0,3}\b",
    ),
    (  # French
        r"\b(?:ignor(?:e|es|ez|er)|oubli(?:e|es|ez|er)|néglige[zr]?|outrepasse[zr]?|passe[zr]? outre"
        r"|(?:tien(?:s|t)|tenez|tenir) (?:pas|plus|aucun) compte|fai(?:s|tes) abstraction|ne sui[st]\w{0,3} (?:pas"
        r"|plus))\b",
        r"\b(?:précédent\w{0,2}|antérieur\w{0,2}|ci-dessus|tout\w{0,2}|toutes|autres?|tes|vos|système"
        r"|initial\w{0,3})\b",
        r"\b(?:instructions?|consignes?|règles?|directives?|ordres|prompt)\b",
    ),
    (  # Spanish
        r"\b(?:ignor(?:a|e|ad|ar|en)|olvid(?:a|e|ad|ar|en)|descart(?:a|e|ar)|desobede(?:ce|zca)|haz caso omiso"
        r"|haga caso omiso"
        r"|pasa por alto|no (?:sigas|obedezcas|hagas caso|tengas en cuenta))\b",
        r"\b(?:anteriores?|previ[ao]s?|todas?|todos|otr[ao]s|tus|sus|sistema|arriba|iniciales|originales)\b",
        r"\b(?:instrucci(?:ón|ones)|reglas|indicaciones|órdenes|directrices|directivas|normas|prompt)\b",
    ),
    (  # Portuguese
        r"\b(?:ignor(?:e|a|ar|em)|esque(?:ça|ce|cer|çam)|desconsider(?:e|a|ar|em)|desobedeça|não siga)\b",
        r"\b(?:anteriores?|prévi[ao]s|todas|todos|outr[ao]s|suas|seus|sistema|acima|iniciais)\b",
        r"\b(?:instruç(?:ão|ões)|regras|ordens|orientações|diretrizes|comandos|prompt)\b",
    ),
    (  # Italian
        r"\b(?:ignor(?:a|ate|i|are)|dimentic(?:a|ate|are|hi)|trascur(?:a|are)|non (?:seguire|considerare"
        r"|tenere conto))\b",
        r"\b(?:precedent[ei]|tutt[ei]|altr[ei]|tue|vostre|sistema|sopra|iniziali)\b",
        r"\b(?:istruzion[ei]|regole|direttive|ordini|indicazioni|prompt)\b",
    ),
    (  # Dutch
        r"\b(?:negeer|negeren|vergeet|vergeten)\b",
        r"\b(?:vorige|eerdere|voorgaande|bovenstaande|alle|andere|jouw|systeem\w{0,12})\b",
        r"\b\w{0,8}(?:instructies?|regels|opdrachten|aanwijzingen|prompts?|richtlijnen)\b",
    ),
    (  # Polish
        r"\b(?:zignoruj|ignoruj|zapomnij|pomiń|zlekceważ)\w{0,3}\b",
        r"\b(?:poprzedni|wcześniejsz|wszystki|wszelki|inn|swoj|twoj|systemow|powyższ|dotychczasow)\w{1,4}\b",
        r"\b(?:instrukcj|polece[nń]|reguł|zasad|wytyczn|prompt)\w{0,4}\b",
    ),
    (  # Russian
        r"(?:про)?игнориру\w{1,4}|\bзабуд\w{1,4}|\bзабыть\b|не обращай\w{0,2} внимани\w|не следуй\w{0,2}"
        r"|отбрось\w{0,2}|пренебреги\w{0,2}",
        r"\b(?:предыдущ|прежн|друг|прочи|свои|твои|ваши|системн|вышестоящ|вышеуказанн|остальн)\w{1,4}\b"
        r"|\bвс[еёюя]\w{0,2}\b|\bвыше\b|\bранее\b",
        r"\b(?:инструкци|указани|правил|команд|промпт|предписани|директив|ограничени)\w{0,4}\b",
    ),
    (  # Ukrainian
        r"(?:про)?ігнору\w{1,4}|\bзабудь\w{0,3}|не зважай\w{0,2}",
        r"\b(?:попередн|інш|сво|тво|системн|решт)\w{1,4}\b|\b(?:у|в)с[іея]\w{0,2}\b",
        r"\b(?:інструкці|вказів|правил|команд|настанов)\w{0,4}\b",
    ),
    (  # Czech and Slovak
        r"\b(?:z?ignoruj|zapome[nň]|zabudni)\w{0,3}\b",
        r"\b(?:předchoz|predchádzajúc|všechn|všetk|ostatn|systémov|dosavadn)\w{1,4}\b",
        r"\b(?:instrukc|inštrukc|pokyn|pravid|příkaz)\w{1,4}\b",
    ),
    (  # Swedish, Danish, Norwegian
        r"\b(?:ignorera|ignorer|glöm|glem|bortse från|se bort fra)\b",
        r"\b(?:tidigare|tidligere|alla|alle|föregående|forrige|foregående|andra|andre|systemets?)\b",
        r"\b(?:instruktion\w{0,4}|instruks\w{0,4}|regler\w{0,2}|anvisning\w{0,4}|uppmaningar)\b",
    ),
    (  # Finnish
        r"\b(?:ohita|unohda|jätä huomiotta|älä noudata)\b",
        r"\b(?:aiemmat|aikaisemmat|kaikki|edelliset|muut|järjestelmän)\b",
        r"\b(?:ohjeet|säännöt|käskyt|ohjeita|sääntöjä)\b",
    ),
    (  # Turkish
        r"yok say(?!ma)\w{0,4}|görmezden gel\w{0,4}|\bunut(?:un|unuz)?\b|dikkate alma\w{0,3}|göz ardı et\w{0,3}",
        r"\b(?:önceki|tüm|bütün|diğer|yukarıdaki|sistem\w{0,5}|mevcut)\b",
        r"\b(?:talimat|komut|kural|yönerge)\w{0,10}\b",
    ),
    (  # Romanian
        r"\b(?:ignor(?:ă|ați|a)|uit(?:ă|ați))\b",
        r"\b(?:anterioare|precedente|toate|celelalte|sistemului)\b",
        r"\b(?:instrucțiuni\w{0,3}|instructiuni\w{0,3}|reguli\w{0,3}|comenzi\w{0,3})\b",
    ),
    (  # Hungarian
        r"hagyd figyelmen kívül|hagyja figyelmen kívül|felejts\w{0,2} el",
        r"\b(?:korábbi|előző|összes|minden|többi)\b",
        r"\b(?:utasítás|szabály|parancs)\w{0,6}\b",
    ),
    (  # Greek
        r"\b(?:αγν[οό]η?[σή]\w{1,4}|ξ[εέ]χ[αά]σ\w{1,4})",
        r"\b(?:προηγούμεν\w{1,3}|όλ\w{1,3}|άλλ\w{1,3}|υπόλοιπ\w{1,3})",
        r"\b(?:οδηγί\w{1,3}|εντολ\w{1,3}|κανόν\w{1,3})",
    ),
    (  # Indonesian and Malay
        r"\b(?:abaikan|lupakan)\b",
        r"\b(?:sebelumnya|semua|seluruh|lain|sistem)\b",
        r"\b(?:instruksi|perintah|aturan|arahan|petunjuk)\b",
    ),
    (  # Vietnamese
        r"\b(?:bỏ qua|phớt lờ|quên)\b",
        r"\b(?:trước|tất cả|mọi|khác|hệ thống)\b",
        r"(?:hướng dẫn|chỉ thị|chỉ dẫn|lệnh|quy tắc)",
    ),
    (  # Chinese
        r"忽略|无视|忽視|無視|忘记|忘掉|忘記|不要理会|不要遵守|不必遵守|不用管|抛开|丢弃|绕过|覆盖",
        r"之前|先前|以前|以上|上述|上面|前面|此前|所有|全部|一切|其他|其它|系统|系統|你的|原有|原先",
        r"指令|指示|规则|規則|命令|提示词|提示詞|系统提示|约束|設定|设定|准则",
    ),
    (  # Japanese
        r"無視|忘れ|従わない|従うな|無効",
        r"これまで|今まで|以前|前の|上記|すべて|全て|全部|他の|ほかの|システム|先の|従来",
        r"指示|命令|ルール|規則|プロンプト|指令|制約|ガイドライン",
    ),
    (  # Korean
        r"무시|잊어|잊고|따르지 ?[마말]",
        r"이전|앞의|앞선|위의|모든|다른|기존|시스템|지금까지",
        r"지시|명령|규칙|프롬프트|지침",
    ),
    (  # Arabic
        r"تجاهل|انس[َى]?\b|أهمل|اهمل",
        r"السابقة|جميع|كل|الأخرى|النظام|أعلاه|سابقة",
        r"التعليمات|الأوامر|القواعد|الإرشادات|التوجيهات|تعليمات",
    ),
    (  # Hebrew
        r"התעלם|התעלמו|תתעלם|שכח",
        r"הקודמות|כל|האחרות|המערכת",
        r"ההוראות|הוראות|הכללים|הפקודות",
    ),
    (  # Hindi
        r"अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल",
        r"पिछले|पिछली|सभी|पहले|अन्य|सिस्टम|ऊपर",
        r"निर्देश|आदेश|नियम|अनुदेश",
    ),
    (  # Thai
        r"เพิกเฉย|ละเว้น|ลืม|ไม่ต้องสนใจ|มองข้าม",
        r"ก่อนหน้า|ทั้งหมด|เดิม|อื่น|ระบบ",
        r"คำสั่ง|คำแนะนำ|กฎ|ข้อกำหนด",
    ),
)

#: To send, in the languages above.
SEND: Final = (
    r"\b(?:sende|sendet|senden|schick\w{0,3}|übertrag\w{0,3}|übermitt\w{0,4}|lad(?:e|en)|poste|"
    r"envo(?:ie|ies|yez|yer)|transmet\w{0,4}|téléverse\w{0,2}|publie[zr]?|"
    r"env[ií][ae]\w{0,3}|enviar|manda\w{0,2}|sub(?:e|a|ir)|publica|transmite|envie|mande|carregue|"
    r"invi(?:a|are|ate)|carica\w{0,2}|spedisci|stuur|verstuur|upload|wyślij|prześlij|odešli|pošli|skicka|lähetä"
    r"|trimite|kirim\w{0,3}|gửi)\b"
    r"|отправ\w{1,4}|пересыла\w{1,3}|перешли\w{0,2}|загрузи\w{0,2}|передай\w{0,2}|надішл\w{1,3}|відправ\w{1,3}"
    r"|gönder\w{0,4}"
    r"|发送|上传|发到|发给|提交到|傳送|传送|送信|送って|アップロード|投稿|보내|전송|업로드|أرسل|ارسل|भेज|ส่ง|שלח"
)
#: What must not leave, in the languages above.
SECRET: Final = (
    r"(?:kundendaten|nutzerdaten|personenbezogene\w? daten|posteingang\w{0,2}|boîte de réception|données (?:des "
    r"|de )?(?:clients|utilisateurs)|données personnelles"
    r"|datos de (?:los )?(?:clientes|usuarios)|bandeja de entrada|dati dei clienti|dados d[oe]s? (?:clientes"
    r"|usuários)|klantgegevens|dane klientów|данн\w{2} клиентов"
    r"|персональн\w{2,3} данн\w{2,3}|müşteri veri\w{0,4}|客户数据|用户数据|收件箱|个人信息|顧客データ|個人情報|고객 데이터|개인정보|geheimnisse"
    r"|zugangsdaten|anmeldedaten|passw[oö]rt\w{0,2}|kennw[oö]rt\w{0,2}|api-schlüssel|schlüssel|umgebungsvariablen"
    r"|mots? de passe|identifiants|clés?\b|variables d.environnement|jetons?|"
    r"contraseñas?|credenciales|claves?\b|variables de entorno|secretos|senhas?\b|credenciais|chaves?\b"
    r"|variáveis de ambiente|segredos"
    r"|credenziali|chiavi\b|variabili d.ambiente|segreti|wachtwoord\w{0,2}|inloggegevens|sleutels|omgevingsvariabelen"
    r"|hasł\w|haseł|danych? logowania|klucz\w{0,2}|zmienn\w{1,2} środowiskow\w{1,2}|parola\w{0,4}|şifre\w{0,5}"
    r"|kimlik bilgi\w{0,6}"
    r"|ortam değişken\w{0,6}|anahtar\w{0,5}|парол\w{1,3}|уч[её]тн\w{2,3} данн\w{2,3}|ключ\w{0,3}"
    r"|переменн\w{2,3} (?:окружения|среды)|секрет\w{0,3}"
    r"|токен\w{0,3}|переписк\w|облікові дані|змінн\w{1,2} середовища|密码|密碼|密钥|凭据|凭证|环境变量|令牌|口令|聊天记录|对话记录|パスワード|認証情報"
    r"|環境変数|秘密鍵"
    r"|APIキー|トークン|会話履歴|비밀번호|자격 ?증명|환경 ?변수|API 키|토큰|كلمات (?:ال)?مرور|كلمة (?:ال)?مرور|كلمة (?:ال)?سر|محادث(?:ة|ات)|رسائل المستخدم|بيانات الاعتماد|المفاتيح|متغيرات البيئة"
    r"|पासवर्ड|क्रेडेंशियल|कुंजी|बातचीत|대화 ?(?:전체|내용|기록)|api[ -]?keys?|tokens?|secrets?|credentials|passwords?|\.env\b)"
)
#: To keep something from the user, in other languages than English.
CONCEAL: Final = (
    r"\bn'(?:indique|informe|avertis|signale)\w{0,2} (?:pas|rien|jamais|aucun\w{0,2})\b|\bpasse[zr]? sous silence\b"
    r"|\bsans (?:rien )?(?:lui |leur )?(?:dire|signaler|prévenir)\b"
    r"|\bcache[zr]? (?:ceci|cela|cette|ce|le|la|les)\b[^.\n]{0,30}utilisateur|\bne (?:lui |leur )?(?:dis|dites"
    r"|mentionne\w?) (?:pas|rien)\b"
    r"|\berwähn\w{0,3}\b[^.\n]{0,40}(?:nutzer|benutzer|anwender)[^.\n]{0,20}\b(?:nicht|nie|niemals|auf keinen fall)\b"
    r"|\bverheimlich\w{0,3}\b|\bsans que l'utilisateur\b|\bsenza che l'utente\b|\bsem que o usuário\b"
    r"|\bzonder dat de gebruiker\b|\bvertel de gebruiker niet|\bbez wiedzy użytkownika"
    r"|kullanıcıya (?:söyleme|haber verme)|haberi olmadan|(?:对|向)用户保密|不要提及此|不要向用户(?:透露|提及|说明|报告)|別讓用戶|別告訴|気づかれ(?:ない"
    r"|ず)|気付かれ|バレない|눈치채지|모르게 (?:하|실행|처리)"
    r"|\bverschweig\w{0,3}\b|\bn'en (?:parle|dis|informe)\w{0,2} (?:pas|rien)\b[^.\n]{0,30}utilisateur"
    r"|\bno le(?:s)? (?:digas|diga|menciones|avises|informes)\b|\boculta\w{0,2} (?:este|esta|el|la) (?:paso|acción"
    r"|cambio)\b|\bsin que el usuario\b|\ben secreto\b"
    r"|\boculta\w{0,3}\b[^.\n]{0,30}\bal usuario|\bsem (?:o usuário|que o usuário|informar|avisar)\b|\bsenza (?:dirlo"
    r"|informare|avvisare)\b[^.\n]{0,20}utente|\bdi nascosto\b"
    r"|незаметно для пользовател|скрой\w{0,2} (?:это|от пользовател)|втайне|隐瞒用户|瞒着用户|悄悄地?(?:发送|上传|复制|删除|安装)|こっそり|内緒で"
    r"|몰래"
    r"|(?:sag\w{0,2}|erzähl\w{0,2}|verrat\w{0,2}|erwähn\w{0,2})\b[^.\n]{0,30}(?:nutzer|benutzer"
    r"|anwender)[^.\n]{0,30}\b(?:nichts|nicht)\b"
    r"|ohne (?:den|die|dass der) (?:nutzer|benutzer|anwender)[^.\n]{0,30}(?:informier|mitteil|sag|bemerk|merkt)"
    r"|\bne (?:le )?(?:dis|dites|mentionne\w?|signale\w?|préviens)\b[^.\n]{0,40}utilisateur|sans (?:le )?(?:dire"
    r"|prévenir|informer)[^.\n]{0,20}utilisateur"
    r"|\bno (?:se )?(?:lo )?(?:digas|diga|menciones|informes|avises)\b[^.\n]{0,40}usuario|sin (?:decir|avisar"
    r"|informar)\w{0,3}[^.\n]{0,20}usuario"
    r"|\bnão (?:conte|diga|mencione|informe|avise)\b[^.\n]{0,40}usuário|\bnon (?:dire|dirlo|menzionare"
    r"|informare)\b[^.\n]{0,40}utente"
    r"|не (?:говори|сообщай|упоминай|рассказывай)\w{0,2}[^.\n]{0,40}пользовател|不要(?:告诉|通知|让|告知)用户|别告诉用户|不告知用户"
    r"|ユーザーに(?:は)?(?:知らせ|伝え|言わ|教え|見せ)[^。\n]{0,6}(?:な|ず)|사용자에게 (?:알리|말하|언급)\w{0,3} ?[마말]"
)
#: In secret, where something is sent or taken.
COVERTLY: Final = (
    r"\b(?:heimlich|unauffällig|unbemerkt|discrètement|en cachette|secrètement|discretamente|en secreto|a escondidas"
    r"|às escondidas|secretamente|di nascosto"
    r"|segretamente|stiekem|heimelijk|potajemnie|po kryjomu|gizlice|i hemlighet|i smyg)\b|тайно|втайне|скрытно"
    r"|незаметно|таємно|偷偷|暗中|秘密地|悄悄|密かに|ひそかに|こっそり|몰래|은밀히|남몰래|\bسر[ًّ]{0,2}ا[ً]?\b|خفية|خلسة|चुपचाप|गुप्त रूप से|छुपाकर|छिपाकर"
)
