"""The parser reads the languages that benchmarks and models are asked in as it reads English."""

from dataclasses import dataclass

import pytest

from reelbench.evaluate.parse import parse_answer
from reelbench.evaluate.parse.vocabulary import FIELDS, languages


@dataclass(frozen=True)
class Told:
    """What is said in one language, about four options and about yes and no."""

    options: tuple[str, ...]
    second: tuple[str, ...]  # the second option is the answer
    first_and_third: tuple[str, ...]
    all_of_them: str
    yes: tuple[str, ...]  # the first is the option itself
    no: tuple[str, ...]
    refusal: str
    stated: str  # a sentence that states the second option
    denied: str
    either: str  # the first or the second


TOLD = {
    "de": Told(
        options=("eine rote Tür", "eine blaue Tür", "ein Hund", "eine Katze"),
        second=("Antwort: B", "Die Antwort ist B.", "Die richtige Antwort lautet B.", "Richtig ist B.", "B ist richtig.", "Ich wähle B.", "Option B", "Es ist B.", "Wahrscheinlich B.", "Die richtige Antwort ist Option B.", "Die Lösung ist B", "Die Antwort ist nicht A, sondern B.", "Antwort B ist richtig.",),
        first_and_third=("A und C", "Antwort: A und C", "A und C sind richtig.", "Die richtigen Antworten sind A und C.", "Sowohl A als auch C",),
        all_of_them="Alle der genannten",
        yes=("Ja", "Ja.", "Ja, die Tür ist offen.", "Antwort: Ja", "Die Antwort ist ja.",),
        no=("Nein", "Nein, die Tür ist zu.", "Antwort: Nein",),
        refusal="Es tut mir leid, ich kann das nicht beantworten.",
        stated="Im Video ist eine blaue Tür zu sehen.",
        denied="Es ist keine blaue Tür zu sehen.",
        either="Es ist eine rote Tür oder eine blaue Tür.",
    ),
    "fr": Told(
        options=("une porte rouge", "une porte bleue", "un chien", "un chat"),
        second=("Réponse : B", "La réponse est B.", "La bonne réponse est B.", "La réponse correcte est la B.", "B est correcte.", "Je choisis B.", "L'option B", "C'est B.", "Probablement B.", "La bonne réponse est l'option B.", "La réponse n'est pas A mais B.", "La réponse est : B",),
        first_and_third=("A et C", "Réponses : A et C", "A et C sont correctes.", "Les bonnes réponses sont A et C.",),
        all_of_them="Toutes les réponses",
        yes=("Oui", "Oui, la porte est ouverte.", "Réponse : Oui", "La réponse est oui.",),
        no=("Non", "Non, la porte est fermée.", "Réponse : Non",),
        refusal="Je suis désolé, je ne peux pas répondre.",
        stated="On voit une porte bleue dans la vidéo.",
        denied="Ce n'est pas une porte bleue.",
        either="C'est une porte rouge ou une porte bleue.",
    ),
    "es": Told(
        options=("una puerta roja", "una puerta azul", "un perro", "un gato"),
        second=("Respuesta: B", "La respuesta es B.", "La respuesta correcta es la B.", "La opción correcta es B.", "B es correcta.", "Elijo B.", "Opción B", "Es B.", "Es la B.", "Probablemente B.", "La respuesta no es A sino B.", "Respuesta correcta: B",),
        first_and_third=("A y C", "Respuestas: A y C", "A y C son correctas.", "Las respuestas correctas son A y C.",),
        all_of_them="Todas las anteriores",
        yes=("Sí", "Sí, la puerta está abierta.", "Respuesta: Sí", "La respuesta es sí.",),
        no=("No", "No, la puerta está cerrada.", "Respuesta: No",),
        refusal="Lo siento, no puedo responder.",
        stated="En el vídeo se ve una puerta azul.",
        denied="No es una puerta azul.",
        either="Es una puerta roja o una puerta azul.",
    ),
    "pt": Told(
        options=("uma porta vermelha", "uma porta azul", "um cão", "um gato"),
        second=("Resposta: B", "A resposta é B.", "A resposta correta é a B.", "A alternativa correta é B.", "B está correta.", "Escolho B.", "Opção B", "É B.", "É a B.", "Provavelmente B.", "A resposta não é A, mas B.", "Letra B",),
        first_and_third=("A e C", "Respostas: A e C", "A e C estão corretas.", "As respostas corretas são A e C.",),
        all_of_them="Todas as anteriores",
        yes=("Sim", "Sim, a porta está aberta.", "Resposta: Sim", "A resposta é sim.",),
        no=("Não", "Não, a porta está fechada.", "Resposta: Não",),
        refusal="Desculpe, não posso responder.",
        stated="O vídeo mostra uma porta azul.",
        denied="Não é uma porta azul.",
        either="É uma porta vermelha ou uma porta azul.",
    ),
    "it": Told(
        options=("una porta rossa", "una porta blu", "un cane", "un gatto"),
        second=("Risposta: B", "La risposta è B.", "La risposta corretta è la B.", "L'opzione corretta è B.", "B è corretta.", "Scelgo B.", "Opzione B", "È B.", "È la B.", "Probabilmente B.", "La risposta non è A ma B.",),
        first_and_third=("A e C", "Risposte: A e C", "A e C sono corrette.", "Le risposte corrette sono A e C.",),
        all_of_them="Tutte le precedenti",
        yes=("Sì", "Sì, la porta è aperta.", "Risposta: Sì", "La risposta è sì.",),
        no=("No", "No, la porta è chiusa.", "Risposta: No",),
        refusal="Mi dispiace, non posso rispondere.",
        stated="Nel video si vede una porta blu.",
        denied="Non è una porta blu.",
        either="È una porta rossa o una porta blu.",
    ),
    "ru": Told(
        options=("красная дверь", "синяя дверь", "собака", "кошка"),
        second=("Ответ: B", "Ответ B", "Правильный ответ: B", "Правильный ответ — B.", "Правильный ответ - B", "Вариант B", "Вариант B правильный.", "Я выбираю B.", "Это B.", "Скорее всего, B.", "Ответ не A, а B.", "Верный ответ: B.",),
        first_and_third=("A и C", "Ответ: A и C", "A и C верны.", "Правильные ответы: A и C.", "Правильные ответы — A и C.",),
        all_of_them="Все вышеперечисленное",
        yes=("Да", "Да, дверь открыта.", "Ответ: да", "Ответ: Да.",),
        no=("Нет", "Нет, дверь закрыта.", "Ответ: нет",),
        refusal="Извините, я не могу ответить.",
        stated="На видео видна синяя дверь.",
        denied="Это не синяя дверь.",
        either="Это красная дверь или синяя дверь.",
    ),
    "ja": Told(
        options=("赤いドア", "青いドア", "犬", "猫"),
        second=("答え: B", "答えはBです。", "正解はBです。", "正解：B", "Bです。", "Bが正解です。", "Bを選びます。", "選択肢B", "答えはAではなくBです。", "おそらくBです。", "正しい答えはBです。", "回答：B",),
        first_and_third=("AとC", "答え：AとC", "AとCが正解です。", "正解はAとCです。", "A、C",),
        all_of_them="上記すべて",
        yes=("はい", "はい、ドアは開いています。", "答え：はい", "答えははいです。",),
        no=("いいえ", "いいえ、ドアは閉まっています。", "答え：いいえ",),
        refusal="申し訳ありませんが、お答えできません。",
        stated="動画には青いドアが映っています。",
        denied="青いドアではありません。",
        either="赤いドアまたは青いドアです。",
    ),
    "ko": Told(
        options=("빨간 문", "파란 문", "강아지", "고양이"),
        second=("정답: B", "정답은 B입니다.", "답은 B입니다.", "답: B", "B입니다.", "B가 정답입니다.", "저는 B를 선택합니다.", "선택지 B", "정답은 A가 아니라 B입니다.", "아마 B입니다.", "정답은 선택지 B입니다.",),
        first_and_third=("A와 C", "정답: A와 C", "A와 C가 정답입니다.", "정답은 A와 C입니다.", "A, C",),
        all_of_them="위의 모든 것",
        yes=("예", "네, 문이 열려 있습니다.", "정답: 예", "네.",),
        no=("아니요", "아니요, 문이 닫혀 있습니다.", "정답: 아니요",),
        refusal="죄송합니다. 답할 수 없습니다.",
        stated="영상에는 파란 문이 보입니다.",
        denied="파란 문이 아닙니다.",
        either="빨간 문 또는 파란 문입니다.",
    ),
    "ar": Told(
        options=("باب أحمر", "باب أزرق", "كلب", "قطة"),
        second=("الإجابة: B", "الإجابة هي B.", "الإجابة الصحيحة هي B.", "الجواب: B", "الجواب الصحيح هو B", "B هي الإجابة الصحيحة.", "أختار B.", "الخيار B", "الخيار الصحيح هو B.", "الإجابة ليست A بل B.",),
        first_and_third=("A و C", "الإجابة: A و C", "A و C صحيحان.", "الإجابات الصحيحة هي A و C.", "A، C",),
        all_of_them="جميع ما سبق",
        yes=("نعم", "نعم، الباب مفتوح.", "الإجابة: نعم", "الإجابة هي نعم.",),
        no=("لا", "لا، الباب مغلق.", "الإجابة: لا",),
        refusal="عذرًا، لا أستطيع الإجابة.",
        stated="يظهر في الفيديو باب أزرق.",
        denied="هذا ليس باب أزرق.",
        either="باب أحمر أو باب أزرق.",
    ),
    "hi": Told(
        options=("लाल दरवाज़ा", "नीला दरवाज़ा", "कुत्ता", "बिल्ली"),
        second=("उत्तर: B", "सही उत्तर B है।", "उत्तर B है।", "सही उत्तर है: B", "B सही है।", "विकल्प B", "सही विकल्प B है।", "मैं B चुनता हूँ।", "उत्तर A नहीं, बल्कि B है।", "जवाब: B", "शायद B",),
        first_and_third=("A और C", "उत्तर: A और C", "A और C सही हैं।", "सही उत्तर A और C हैं।",),
        all_of_them="उपरोक्त सभी",
        yes=("हाँ", "हाँ, दरवाज़ा खुला है।", "उत्तर: हाँ", "हां।",),
        no=("नहीं", "नहीं, दरवाज़ा बंद है।", "उत्तर: नहीं",),
        refusal="क्षमा करें, मैं उत्तर नहीं दे सकता।",
        stated="वीडियो में नीला दरवाज़ा दिखता है।",
        denied="यह नीला दरवाज़ा नहीं है।",
        either="लाल दरवाज़ा या नीला दरवाज़ा।",
    ),
    "zh": Told(
        options=("红色的门", "蓝色的门", "狗", "猫"),
        second=("答案：B", "答案是B。", "正确答案是B。", "选B", "我选择B。", "B是正确的。", "选项B", "应该是B。", "答案不是A，而是B。", "故选B。", "正确选项为B", "B正确",),
        first_and_third=("A和C", "答案：A和C", "A和C是正确的。", "正确答案是A和C。", "A、C",),
        all_of_them="以上都是",
        yes=("是", "是的，门是开着的。", "答案：是", "答案是：是的。",),
        no=("否", "不是，门是关着的。", "答案：否",),
        refusal="抱歉，我无法回答。",
        stated="视频里是蓝色的门。",
        denied="不是蓝色的门。",
        either="红色的门或者蓝色的门。",
    ),
    "vi": Told(
        options=("một cánh cửa đỏ", "một cánh cửa xanh", "một con chó", "một con mèo"),
        second=("Đáp án: B", "Đáp án là B.", "Câu trả lời đúng là B.", "Vậy đáp án đúng là B.", "Tôi chọn B.", "Chọn B", "Phương án B đúng.", "Đáp án không phải A mà là B."),
        first_and_third=("A và C", "Đáp án: A và C"),
        all_of_them="Tất cả các đáp án trên",
        yes=("Có", "Có, cửa đang mở.", "Đáp án: Có"),
        no=("Không", "Không, cửa đang đóng.", "Đáp án: Không"),
        refusal="Xin lỗi, tôi không thể trả lời.",
        stated="Trong video có một cánh cửa xanh.",
        denied="Không phải một cánh cửa xanh.",
        either="Một cánh cửa đỏ hoặc một cánh cửa xanh.",
    ),
    "id": Told(
        options=("pintu merah", "pintu biru", "seekor anjing", "seekor kucing"),
        second=("Jawaban: B", "Jawabannya adalah B.", "Jawaban yang benar adalah B.", "Saya memilih B.", "Opsi B benar.", "Kesimpulan: B"),
        first_and_third=("A dan C", "Jawaban: A dan C"),
        all_of_them="Semua di atas",
        yes=("Ya", "Ya, pintunya terbuka.", "Jawaban: Ya"),
        no=("Tidak", "Tidak, pintunya tertutup.", "Jawaban: Tidak"),
        refusal="Maaf, saya tidak bisa menjawab.",
        stated="Video menunjukkan pintu biru.",
        denied="Itu bukan pintu biru.",
        either="Pintu merah atau pintu biru.",
    ),
    "th": Told(
        options=("ประตูแดง", "ประตูน้ำเงิน", "สุนัข", "แมว"),
        second=("คำตอบ: B", "คำตอบคือ B", "ตอบ B", "ข้อ B", "คำตอบที่ถูกต้องคือ B", "เลือก B", "ดังนั้นคำตอบคือข้อ (B)"),
        first_and_third=("A และ C", "คำตอบ: A และ C"),
        all_of_them="ถูกทุกข้อ",
        yes=("ใช่", "ใช่, ประตูเปิดอยู่", "คำตอบ: ใช่"),
        no=("ไม่ใช่", "ไม่ใช่, ประตูปิดอยู่", "คำตอบ: ไม่ใช่"),
        refusal="ขออภัย ฉันไม่สามารถตอบได้",
        stated="",
        denied="ไม่มี",
        either="ประตูแดง หรือ ประตูน้ำเงิน",
    ),
    "tr": Told(
        options=("kırmızı bir kapı", "mavi bir kapı", "bir köpek", "bir kedi"),
        second=("Cevap: B", "Doğru cevap B'dir.", "Doğru cevap: B", "Sonuç: B", "Doğru yanıt B seçeneğidir.", "B doğrudur."),
        first_and_third=("A ve C", "Cevap: A ve C"),
        all_of_them="Hepsi",
        yes=("Evet", "Evet, kapı açık.", "Cevap: Evet"),
        no=("Hayır", "Hayır, kapı kapalı.", "Cevap: Hayır"),
        refusal="Üzgünüm, cevaplayamam.",
        stated="Videoda mavi bir kapı görülüyor.",
        denied="Bu mavi bir kapı değil.",
        either="Kırmızı bir kapı veya mavi bir kapı.",
    ),
    "nl": Told(
        options=("een rode deur", "een blauwe deur", "een hond", "een kat"),
        second=("Antwoord: B", "Het antwoord is B.", "Het juiste antwoord is B.", "Ik kies B.", "Conclusie: B", "Daarom is B juist."),
        first_and_third=("A en C", "Antwoord: A en C", "A en C zijn juist."),
        all_of_them="Alle bovenstaande",
        yes=("Ja", "Ja, de deur is open.", "Antwoord: Ja"),
        no=("Nee", "Nee, de deur is dicht.", "Antwoord: Nee"),
        refusal="Sorry, ik kan niet antwoorden.",
        stated="De video toont een blauwe deur.",
        denied="Het is niet een blauwe deur.",
        either="Een rode deur of een blauwe deur.",
    ),
    "pl": Told(
        options=("czerwone drzwi", "niebieskie drzwi", "pies", "kot"),
        second=("Odpowiedź: B", "Poprawna odpowiedź to B.", "Wybieram B.", "Wniosek: B", "Opcja B jest poprawna.", "Prawidłowa odpowiedź: B"),
        first_and_third=("A i C", "Odpowiedź: A i C"),
        all_of_them="Wszystkie powyższe",
        yes=("Tak", "Tak, drzwi są otwarte.", "Odpowiedź: Tak"),
        no=("Nie", "Nie, drzwi są zamknięte.", "Odpowiedź: Nie"),
        refusal="Przepraszam, nie mogę odpowiedzieć.",
        stated="Na filmie widać niebieskie drzwi.",
        denied="To nie niebieskie drzwi.",
        either="Czerwone drzwi lub niebieskie drzwi.",
    ),
    "uk": Told(
        options=("червоні двері", "сині двері", "собака", "кішка"),
        second=("Відповідь: B", "Правильна відповідь — B.", "Я обираю B.", "Отже, відповідь B.", "Варіант B правильний.", "Висновок: B"),
        first_and_third=("A і C", "Відповідь: A і C"),
        all_of_them="Усі перелічені",
        yes=("Так", "Так, двері відчинені.", "Відповідь: так"),
        no=("Ні", "Ні, двері зачинені.", "Відповідь: ні"),
        refusal="Вибачте, я не можу відповісти.",
        stated="На відео видно сині двері.",
        denied="Це не сині двері.",
        either="Червоні двері або сині двері.",
    ),
    "fa": Told(
        options=("در قرمز", "در آبی", "سگ", "گربه"),
        second=("پاسخ: B", "پاسخ صحیح: B", "بنابراین پاسخ B است.", "گزینه B درست است.", "جواب: B"),
        first_and_third=("A و C", "پاسخ: A و C"),
        all_of_them="همه موارد",
        yes=("بله", "بله، در باز است.", "پاسخ: بله"),
        no=("خیر", "خیر، در بسته است.", "پاسخ: خیر"),
        refusal="متاسفم، نمی‌توانم پاسخ دهم.",
        stated="",
        denied="این در آبی نیست.",
        either="در قرمز یا در آبی.",
    ),
}  # fmt: skip
ENGLISH = ("a red door", "a blue door", "a dog", "a cat")


def test_every_language_is_tried_and_lists_known_words() -> None:
    assert set(TOLD) | {"en"} == set(languages())
    for name, language in languages().items():
        assert set(language) <= set(FIELDS), name
        for field, words in language.items():
            assert len(set(words)) == len(words), (name, field)
            assert all(isinstance(word, str) and word == word.lower().strip() for word in words), (
                name,
                field,
            )


@pytest.mark.parametrize("language", TOLD)
def test_one_answer(language: str) -> None:
    told = TOLD[language]
    for reply in told.second:
        for options in (told.options, ENGLISH):
            assert parse_answer(reply, "single", options).places == (1,), reply


@pytest.mark.parametrize("language", TOLD)
def test_several_answers(language: str) -> None:
    told = TOLD[language]
    for reply in told.first_and_third:
        assert parse_answer(reply, "multi", told.options).places == (0, 2), reply
        assert parse_answer(reply, "single", told.options).failure == "several answers", reply
    assert parse_answer(told.all_of_them, "multi", told.options).places == (0, 1, 2, 3)


@pytest.mark.parametrize("language", TOLD)
def test_yes_and_no(language: str) -> None:
    told = TOLD[language]
    for options in ((told.yes[0], told.no[0]), ("Yes", "No")):
        for place, replies in enumerate((told.yes, told.no)):
            for reply in replies:
                assert parse_answer(reply, "yesno", options).places == (place,), reply


@pytest.mark.parametrize("language", TOLD)
def test_sentences_and_refusals(language: str) -> None:
    told = TOLD[language]
    if told.stated:  # a script without spaces between words may not tell where an option stands
        assert parse_answer(told.stated, "single", told.options).places == (1,)
    assert parse_answer(told.denied, "single", told.options).places is None
    assert parse_answer(told.either, "single", told.options).places is None
    assert parse_answer(told.refusal, "single", told.options).failure == "refusal"
