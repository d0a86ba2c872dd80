"""Of which sex a speaker or hearer is, who is there, is no other meaning; of which sex others are, is."""

import tomllib
from pathlib import Path

import pytest

from index.languages import language
from index.text import speakers
from index.text.contrasts import contrasts


@pytest.mark.parametrize(
    ("code", "woman", "man"),
    [
        ("ar", "أنا مريضة ولا أستطيع الحضور اليوم.", "أنا مريض ولا أستطيع الحضور اليوم."),
        ("ar", "أنا جائعة.", "أنا جائع."),
        ("cs", "Zabloudila jsem.", "Zabloudil jsem."),
        ("cs", "Jsem nemocná a dnes nemohu přijít.", "Jsem nemocný a dnes nemohu přijít."),
        ("cs", "Zapomněla jsem si vzít tabletu.", "Zapomněl jsem si vzít tabletu."),
        ("cs", "Přišla jsem pěšky.", "Přišel jsem pěšky."),
        ("de", "Ich bin Diabetikerin.", "Ich bin Diabetiker."),
        ("de", "Sind Sie Diabetikerin?", "Sind Sie Diabetiker?"),
        ("de", "Ich bin keine Raucherin.", "Ich bin kein Raucher."),
        ("es", "Estoy cansada.", "Estoy cansado."),
        ("es", "Estoy muy enferma.", "Estoy muy enfermo."),
        ("es", "Soy diabética.", "Soy diabético."),
        ("es", "¿Está usted casada?", "¿Está usted casado?"),
        ("fr", "Je suis perdue.", "Je suis perdu."),
        ("fr", "Je suis très fatiguée.", "Je suis très fatigué."),
        ("fr", "Je me suis blessée à la main.", "Je me suis blessé à la main."),
        ("fr", "Êtes-vous mariée ?", "Êtes-vous marié ?"),
        ("fr", "J'ai été agressée.", "J'ai été agressé."),
        ("fr", "Je suis inquiète.", "Je suis inquiet."),
        ("he", "אני רעבה.", "אני רעב."),
        ("he", "אני לא מבינה.", "אני לא מבין."),
        ("hi", "मैं खो गई हूँ।", "मैं खो गया हूँ।"),
        ("hi", "मैं हिंदी नहीं समझती।", "मैं हिंदी नहीं समझता।"),
        ("hi", "मैं कल आऊँगी।", "मैं कल आऊँगा।"),
        ("it", "Sono stanca.", "Sono stanco."),
        ("it", "Mi sono persa.", "Mi sono perso."),
        ("it", "Sono stata aggredita.", "Sono stato aggredito."),
        ("pl", "Zgubiłam się.", "Zgubiłem się."),
        ("pl", "Jestem chora.", "Jestem chory."),
        ("pl", "Przyszłam pieszo.", "Przyszedłem pieszo."),
        ("pl", "Zapomniałam wziąć tabletkę.", "Zapomniałem wziąć tabletkę."),
        ("pt", "Estou perdida.", "Estou perdido."),
        ("pt", "Estou muito cansada.", "Estou muito cansado."),
        ("pt", "Obrigada.", "Obrigado."),
        ("pt", "Muito obrigada pela ajuda.", "Muito obrigado pela ajuda."),
        ("ro", "Sunt obosită.", "Sunt obosit."),
        ("ru", "Я заблудилась.", "Я заблудился."),
        ("ru", "Я голодна.", "Я голоден."),
        ("ru", "Я забыла принять таблетку.", "Я забыл принять таблетку."),
        ("ru", "Я пришла пешком.", "Я пришёл пешком."),
        ("sk", "Stratila som sa.", "Stratil som sa."),
        ("uk", "Я заблукала.", "Я заблукав."),
        ("uk", "Я голодна.", "Я голодний."),
        ("uk", "Я хвора і не можу сьогодні прийти.", "Я хворий і не можу сьогодні прийти."),
        ("uk", "Я прийшла пішки.", "Я прийшов пішки."),
        ("uk", "Я забула прийняти таблетку.", "Я забув прийняти таблетку."),
        ("uk", "Ти заблукала?", "Ти заблукав?"),
        ("uk", "Я боялася собаки.", "Я боявся собаки."),
    ],
)
def test_a_woman_and_a_man_say_the_same_of_themselves(code: str, woman: str, man: str) -> None:
    assert contrasts(woman, code, man, code) == contrasts(man, code, woman, code) == []


@pytest.mark.parametrize(
    ("code", "question", "answer"),
    [
        ("ar", "أنا في المكتبة.", "أنا في المكتب."),
        ("ar", "هي مريضة.", "هو مريض."),
        ("cs", "Sousedka byla nemocná.", "Soused byl nemocný."),
        ("cs", "Jsem nemocná.", "Jsi nemocný."),
        ("de", "Die Lehrerin ist krank.", "Der Lehrer ist krank."),
        ("es", "Mi vecina está enferma.", "Mi vecino está enfermo."),
        ("es", "Estoy con la vecina.", "Estoy con el vecino."),
        ("es", "Estoy con mi amiga.", "Estoy con mi amigo."),
        ("fr", "Ma voisine est malade.", "Mon voisin est malade."),
        ("it", "La vicina è malata.", "Il vicino è malato."),
        ("pl", "Sąsiadka jest chora.", "Sąsiad jest chory."),
        ("pt", "Estou com a vizinha.", "Estou com o vizinho."),
        ("ru", "Она заблудилась.", "Он заблудился."),
        ("ru", "Я голодна.", "Ты голоден."),
        ("ru", "Я ищу школу.", "Я ищу школы."),
        ("uk", "Вона заблукала.", "Він заблукав."),
        ("uk", "Сусідка захворіла.", "Сусід захворів."),
        ("uk", "Я знаю, що вона хвора.", "Я знаю, що він хворий."),
        ("uk", "Я голодна.", "Ти голодний."),
    ],
)
def test_others_and_other_persons_are_told_apart(code: str, question: str, answer: str) -> None:
    assert contrasts(question, code, answer, code)
    assert contrasts(answer, code, question, code)


def test_every_table_is_of_a_language_and_is_read_whole() -> None:
    tables = tomllib.loads(Path(speakers.__file__).with_suffix(".toml").read_text("utf-8"))
    for code, table in tables.items():
        assert language(code).name != code
        assert table.keys() <= {*speakers.Speakers._fields}
        found = speakers.speakers_of(code)
        assert found is not None
        assert all(len(pair) == 2 and pair[0] != pair[1] for pair in found.forms)
    assert speakers.speakers_of("tr") is None
