"""The words that answers are given in, by language, as data: in lower case, ``|`` between them."""

from reelbench.evaluate.parse.english import ENGLISH
from reelbench.evaluate.parse.vocabulary import Vocabulary

LANGUAGES = {
    "en": ENGLISH,
    "de": Vocabulary(
        answer="antwort|antworten|lösung|richtig",
        option="option|optionen|antwort|möglichkeit|antwortmöglichkeit|buchstabe",
        right="richtig|korrekt|zutreffend|die richtige|die beste|die korrekte",
        be="ist|sind|lautet|lauten|wäre|ist wahrscheinlich",
        choose="ich wähle|ich würde|ich nehme|ich entscheide mich für",
        yes="ja",
        no="nein",
        negation="nicht|kein|keine|keinen|keiner|keinem|keines|nie|niemals|weder|noch|ohne"
        "|statt|anstatt|anstelle|falsch|wenn|falls|ob|unwahrscheinlich",
        supposing="wäre|wären|würde|würden|hätte|müsste|bräuchte",
        but="sondern",
        joint="und|sowie|als auch",
        either="oder|entweder",
        all_of_them="alle der genannten|alle genannten|alles davon|alle optionen"
        "|alle antworten|alle oben genannten|alle",
        filler="es ist|das ist|wahrscheinlich|vermutlich|ich denke|ich glaube|sicher|also|nur"
        "|sowohl|es sind|klar|eindeutig",
        article="der|das|den|dem|ein|eine|einen|einem|einer",
        ending="hin|ist richtig|sind richtig|ist korrekt|sind korrekt|ist die richtige antwort",
        so="also|daher|somit|folglich|deshalb|insgesamt",
        why="dies ist|das ist|dies zeigt|das zeigt|weil|da|denn|begründung|erklärung",
        retraction="moment|korrektur|doch nicht|ich korrigiere",
        refusal="tut mir leid|es tut mir leid|entschuldigung|leider|ich kann nicht"
        "|ich kann das nicht|ich kann diese|unmöglich zu|ich weiß nicht|als ki|keine ahnung"
        "|kein video|das lässt sich nicht|ich bin nicht in der lage|es ist unmöglich"
        "|es ist nicht möglich",
    ),
    "fr": Vocabulary(
        answer="réponse|réponses|reponse",
        option="option|options|réponse|choix|lettre|proposition",
        right="correct|correcte|correctes|corrects|juste|exacte|exact|bonne|la bonne|vraie",
        be="est|sont|n'est|ne sont|serait|c'est|doit être|est donc|est probablement",
        choose="je choisis|je sélectionne|j'opte pour|je prends|je dirais",
        yes="oui",
        no="non",
        negation="pas|non|jamais|sans|ni|aucun|aucune|plutôt que|au lieu de|faux|fausse|sauf",
        supposing="serait|seraient|aurait|faudrait|exigerait",
        but="mais",
        joint="et|ainsi que",
        either="ou|soit",
        all_of_them="toutes les réponses|tout ce qui précède|toutes les options"
        "|toutes les réponses ci-dessus|toutes",
        filler="c'est|ce sont|probablement|sûrement|je pense que c'est|je crois que c'est"
        "|je dirais|donc|la lettre|l'option|la réponse|la|le|l'|à la fois|certainement|sans doute",
        article="le|la|les|un|une",
        ending="est correcte|sont correctes|est la bonne réponse|est correct",
        so="donc|ainsi|par conséquent|en conclusion|finalement",
        why="cela|ceci|parce que|car|puisque|explication|en effet|on voit",
        retraction="attendez|correction|en fait|erreur",
        refusal="désolé|je suis désolé|je suis désolée|désolée|je ne peux pas"
        "|je ne suis pas en mesure|malheureusement|impossible de|il est impossible"
        "|en tant qu'ia|je ne sais pas|aucune idée|aucune vidéo|pas de vidéo"
        "|il n'est pas possible|je n'ai pas",
    ),
    "es": Vocabulary(
        answer="respuesta|respuestas|solución|resp|la correcta",
        option="opción|opciones|respuesta|alternativa|letra",
        right="correcta|correctas|correcto|correctos|la correcta|la respuesta",
        be="es|son|sería|debe ser|es la|son la",
        deny="no es|no son",
        choose="elijo|elegiría|escojo|selecciono|me quedo con|yo diría",
        yes="sí",
        no="no",
        negation="no|ni|nunca|sin|tampoco|ningún|ninguna|ninguno|en lugar de|en vez de|falso"
        "|incorrecta|incorrecto|salvo|excepto",
        supposing="sería|serían|tendría|habría|requeriría",
        but="sino",
        joint="y|así como",
        either="o|u",
        all_of_them="todas las anteriores|todas las opciones|todos los anteriores|todas",
        filler="es|son|es la|probablemente|seguramente|creo que es|creo que es la"
        "|diría que es|la letra|la opción|la|el|tanto|por lo tanto|claramente",
        article="el|la|los|las|un|una",
        ending="es correcta|son correctas|es la correcta|son las correctas"
        "|es la respuesta correcta",
        so="por lo tanto|por tanto|así que|entonces|en conclusión|en resumen",
        why="esto|porque|ya que|dado que|explicación|se puede ver|se ve",
        retraction="espera|corrección|en realidad|me equivoqué",
        refusal="lo siento|lo lamento|no puedo|lamentablemente|desafortunadamente|imposible"
        "|es imposible|como ia|no sé|ni idea|no es posible|no tengo|no hay ningún vídeo"
        "|no hay ningún video|no se puede",
    ),
    "pt": Vocabulary(
        answer="resposta|respostas|solução|a correta",
        option="opção|opções|alternativa|alternativas|letra|resposta",
        right="correta|corretas|correto|corretos|certa|certo|a correta|a resposta",
        be="é|são|seria|deve ser|está|estão",
        deny="não é|não são",
        choose="escolho|eu escolho|seleciono|escolheria|fico com",
        yes="sim",
        no="não",
        negation="não|nem|nunca|sem|nenhum|nenhuma|em vez de|ao invés de|do que|incorreta"
        "|errada|exceto",
        supposing="seria|seriam|teria|haveria|exigiria",
        but="mas|mas sim",
        joint="e|assim como",
        either="ou",
        all_of_them="todas as anteriores|todas as alternativas|todas as opções|todas",
        filler="é|é a|são|provavelmente|acho que é|acho que é a|creio que é|a letra|é a letra"
        "|a opção|a alternativa|a|o|tanto"
        "|portanto|claramente",
        article="um|uma",
        ending="está correta|estão corretas|é a correta|é a resposta correta|são corretas",
        so="portanto|logo|assim|então|em conclusão",
        why="isso|isto|porque|pois|já que|explicação",
        retraction="espere|correção|na verdade|me enganei",
        refusal="desculpe|sinto muito|lamento|não posso|não consigo|infelizmente|impossível"
        "|é impossível|como uma ia|não sei|não é possível|não tenho|nenhum vídeo|não há vídeo",
    ),
    "it": Vocabulary(
        answer="risposta|risposte|soluzione|quella corretta",
        option="opzione|opzioni|risposta|alternativa|lettera|scelta",
        right="corretta|corrette|corretto|giusta|giuste|esatta|quella corretta",
        be="è|sono|sarebbe|deve essere|è la|è probabilmente",
        deny="non è|non sono",
        choose="scelgo|sceglierei|seleziono|opto per",
        yes="sì",
        no="no",
        negation="non|né|mai|senza|nessun|nessuna|nessuno|invece di|piuttosto che|sbagliata"
        "|errata|tranne",
        supposing="sarebbe|sarebbero|avrebbe|richiederebbe",
        but="ma|bensì",
        joint="e|ed|nonché",
        either="o|oppure",
        all_of_them="tutte le precedenti|tutte le opzioni|tutte le risposte|tutte",
        filler="è|è la|sono|probabilmente|credo che sia|penso che sia|direi|la lettera|l'opzione"
        "|la|il|sia|quindi"
        "|chiaramente",
        article="il|lo|la|gli|le|un|uno|una",
        ending="è corretta|sono corrette|è la risposta corretta|è giusta",
        so="quindi|pertanto|dunque|in conclusione|perciò",
        why="questo|ciò|perché|poiché|spiegazione|si vede",
        retraction="aspetta|correzione|in realtà|mi sbagliavo",
        refusal="mi dispiace|spiacente|non posso|non sono in grado|purtroppo|impossibile"
        "|è impossibile|come ia|non so|nessun video|non è possibile|non ho idea|non riesco",
    ),
    "ru": Vocabulary(
        answer="ответ|ответы|ответом|решение",
        option="вариант|варианты|вариантом|ответ|буква|пункт|утверждение",
        right="верно|верен|верный|верны|верна|правильно|правильный|правильные|правильным"
        "|правилен|правильны|является правильным",
        be="это|является|являются|будет|—|-|–|— это",
        deny="не|— не|- не|это не",
        choose="я выбираю|выбираю|я выберу|выберу|я бы выбрал",
        yes="да",
        no="нет",
        negation="не|нет|ни|без|никогда|вместо|чем|если|ли|неверно|неправильно|кроме",
        supposing="бы",
        but="а|но",
        joint="и|а также",
        either="или|либо",
        all_of_them="все вышеперечисленное|всё вышеперечисленное|все варианты"
        "|все перечисленное|все вышеперечисленные|все",
        filler="это|вероятно|скорее всего|думаю|я думаю|наверное|очевидно|и",
        ending="верно|верны|правильно|правильный ответ|правильны|правильные",
        so="следовательно|поэтому|таким образом|значит|итак|итого",
        why="это видно|потому что|так как|поскольку|объяснение|пояснение",
        retraction="подождите|поправка|на самом деле|я ошибся",
        refusal="извините|простите|к сожалению|я не могу|не могу|невозможно|как ии|я не знаю"
        "|не знаю|нет видео|нельзя определить|мне жаль",
    ),
    "zh": Vocabulary(
        answer="答案|回答|正确选项|正确答案|最佳选项",
        option="选项|答案|選項",
        right="正确|正確|是正确|是正确的|是答案|对的|为正确|最合适|最符合",
        be="是|为|應為|应为|应该是|应该为|應該是|应当是|選|选",
        deny="不是|并非|不为",
        choose="我选择|我选|应该选择|应该选|应选|故选|所以选|因此选|选择|选|選擇|選|符合",
        yes="是|是的|对|有",
        no="否|不是|不|没有",
        negation="",
        negating="不|没|沒|非|无|無|未|如果|错误|排除",
        but="而是",
        joint="和|与|及|以及|跟|與|还有",
        either="或|或者|还是",
        all_of_them="以上都是|以上全部|全部都是|以上皆是|所有选项|都正确|全选|全部",
        filler="应该是|可能是|我认为是|我觉得是|是|应为|大概是",
        ending="是正确的|都正确|正确|是正确答案|都是正确的|是答案|都对",
        so="因此|所以|综上|总之|故|总的来说",
        why="因为|由于|这是|这说明|理由|解释|可以看出",
        retraction="等等|更正|不对|其实",
        refusal="抱歉|对不起|很遗憾|我无法|无法|我不能|很抱歉|非常抱歉|不能确定|我不知道"
        "|没有视频|没有提供|無法|對不起|不可能",
    ),
    "ja": Vocabulary(
        answer="答え|回答|解答|正解|正答",
        option="選択肢|解答|答え",
        right="正解|正しい|正答|答えです|が答え|適切",
        be="は|が|は、|は選択肢|は選択肢の",
        choose="私は|選ぶのは|選択は",
        yes="はい|ええ",
        no="いいえ|いえ",
        negation="",
        negating="ない|ません|ではなく|じゃな|なく|もし|なら|より|間違",
        but="ではなく|じゃなく|ではなくて",
        joint="と|および|及び|、そして|と、",
        either="または|か|もしくは|あるいは",
        all_of_them="上記すべて|すべて|全て|全部|上記のすべて",
        filler="それは|おそらく|たぶん|恐らく|多分|きっと|選択肢",
        ending="です|である|だ|でしょう|だと思います|が正解です|が正しいです|が正しい|が正解"
        "|を選びます|を選択します|になります|の両方|の両方です|だと考えられます|が正解である"
        "|となります|が最も適切です",
        so="したがって|よって|従って|結論|以上より|そのため",
        why="なぜなら|理由|これは|説明|ため",
        retraction="待って|訂正|実は|いや",
        refusal="申し訳|すみません|ごめんなさい|残念ながら|わかりません|分かりません"
        "|判断できません|お答えできません|不可能です|特定できません|動画がありません"
        "|動画が提供",
    ),
    "ko": Vocabulary(
        answer="정답|답|답변|해답",
        option="선택지|보기|옵션|선택|답",
        right="정답|맞습니다|맞다|옳습니다|옳다|올바른|맞아요|적절|답입니다",
        be="은|는|이|가|은:|은 선택지|은 보기|은 옵션",
        choose="저는",
        yes="예|네|그렇습니다|맞습니다",
        no="아니요|아니오|아닙니다|아뇨",
        negation="",
        negating="않|아니|아닌|아닙|없|못|만약|보다|대신|틀",
        but="아니라|아니고",
        joint="와|과|및|그리고|하고|랑",
        either="또는|혹은|이나|나",
        all_of_them="모두|위의 모든 것|모두 정답|위 모두|전부|위의 모두|모두 정답입니다"
        "|모두 맞습니다",
        filler="아마|아마도|그것은|제 생각에는|저는|확실히",
        ending="입니다|이다|이에요|예요|가 정답입니다|이 정답입니다|가 맞습니다|이 맞습니다"
        "|가 정답이다|를 선택합니다|을 선택합니다|가 답입니다|둘 다|모두|번|번입니다"
        "|라고 생각합니다|이 답입니다|입니다만",
        so="따라서|그러므로|결론적으로|그래서|즉",
        why="왜냐하면|이유|이는|때문|설명",
        retraction="잠깐|정정|사실은",
        refusal="죄송|미안|유감|알 수 없|모르겠|답할 수 없|판단할 수 없|불가능|동영상이 없"
        "|비디오가 없|안타깝게도",
    ),
    "ar": Vocabulary(
        answer="الإجابة|الاجابة|الجواب|إجابة|جواب|إجابتي|الإجابات",
        option="الخيار|خيار|الخيارات|الإجابة|الحرف|الاختيار|الخياران|الخيارين",
        right="صحيح|صحيحة|الصحيح|الصحيحة|صحيحان|صحيحتان|الأصح|الأنسب",
        be="هي|هو|هما|تكون|هي الخيار|هو الخيار|هي:",
        deny="ليست|ليس",
        choose="أختار|اختار|سأختار|أنا أختار|اخترت",
        yes="نعم|أجل",
        no="لا|كلا",
        negation="ليس|ليست|لا|لم|لن|غير|بدون|إذا|لو|بدلا|بدلاً|سوى|إلا|خطأ",
        but="بل",
        joint="و|وكذلك",
        either="أو|إما",
        all_of_them="جميع ما سبق|كل ما سبق|جميع الخيارات|كل الخيارات|جميعها",
        filler="إنها|إنه|هي|هو|ربما|أعتقد|أعتقد أنها|على الأرجح|كلا من",
        ending="صحيح|صحيحة|صحيحان|صحيحتان|هي الإجابة الصحيحة|هو الجواب الصحيح",
        so="لذلك|إذن|وبالتالي|بالتالي|لذا|في الختام",
        why="لأن|هذا|وذلك|السبب|التفسير|الشرح|حيث",
        retraction="انتظر|تصحيح|في الواقع",
        refusal="آسف|عذرا|عذراً|عذرًا|أعتذر|للأسف|لا أستطيع|لا يمكنني|لا أعرف|لا أعلم"
        "|من المستحيل|مستحيل|لا يمكن|لا يوجد فيديو|لا توجد",
    ),
    "hi": Vocabulary(
        answer="उत्तर|जवाब|सही उत्तर|सही जवाब",
        option="विकल्प|उत्तर|अक्षर",
        right="सही|सही हैं|ठीक|उचित",
        be="है|हैं|होगा|विकल्प|है:",
        choose="मैं चुनता हूँ|मैं चुनूंगा|मेरा चयन|मैं|मैं विकल्प",
        yes="हाँ|हां|जी हाँ|जी हां",
        no="नहीं|जी नहीं|ना",
        negation="नहीं|न|ना|बिना|मत|अगर|यदि|बजाय|गलत|ग़लत",
        but="बल्कि",
        joint="और|तथा|एवं|व",
        either="या|अथवा",
        all_of_them="उपरोक्त सभी|सभी विकल्प|ये सभी|सभी",
        filler="यह|शायद|संभवतः|मुझे लगता है|मेरे विचार से|दोनों|निश्चित रूप से",
        ending="है|हैं|सही है|सही हैं|सही उत्तर है|सही विकल्प है|होगा|दोनों|सही उत्तर हैं"
        "|दोनों सही हैं",
        so="इसलिए|अतः|अंततः|निष्कर्ष",
        why="क्योंकि|चूंकि|यह इसलिए|स्पष्टीकरण|कारण|व्याख्या",
        retraction="रुकिए|सुधार|असल में|वास्तव में",
        refusal="माफ़ कीजिए|माफ कीजिए|क्षमा करें|क्षमा|खेद है|मुझे खेद है|मैं नहीं|दुर्भाग्य से"
        "|असंभव|मुझे नहीं पता|कोई वीडियो नहीं|पता नहीं|यह बताना असंभव",
    ),
}  # fmt: skip
