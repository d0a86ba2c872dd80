"""The page in a real browser, before a real server."""

import re
from typing import Literal
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Route, expect

from tests.service.browser import OpenPage, violations
from tests.waiting import until

DOG = "A small dog runs on the beach."


@pytest.fixture
def page(open_page: OpenPage, address: str) -> Page:
    page = open_page(address)
    expect(page.get_by_label("German")).to_be_visible()
    return page


def only(page: Page, *targets: str) -> None:
    """Choose these target languages alone."""
    for name in ("English", "German", "Portuguese", "Chinese", "Arabic"):
        box = page.get_by_role("checkbox", name=name)
        if box.is_enabled():  # the chosen source is not
            box.set_checked(name in targets)


def ask(
    page: Page, *targets: str, text: str = DOG, source: str | None = None, least: int | None = None
) -> None:
    if source is not None:
        page.get_by_label("From").select_option(source)
    if targets:
        only(page, *targets)
    if least is not None:
        page.get_by_label("Minimum confidence").fill(str(least))
    page.get_by_label("Sentence to translate").fill(text)
    page.keyboard.press("Enter")


def answers(page: Page, code: str) -> list[str]:
    return page.locator(f"[data-code={code}] .answer-text").all_text_contents()


def test_it_says_which_model_answers_and_on_what_terms(page: Page) -> None:
    expect(page.locator("#about")).to_contain_text("Model tiny@1")
    expect(page.locator("#about")).to_contain_text("Licence of the model: Apache-2.0.")


def test_a_sentence_is_translated_and_the_address_contains_it(page: Page) -> None:
    ask(page, "German", "Chinese", source="en", least=0)
    first = page.locator("[data-code=de] .answer").first
    expect(first.locator(".answer-text")).to_have_attribute("lang", "de")
    expect(first.locator(".said")).to_have_text("very likely")
    percent = int(first.locator(".percent").inner_text().removesuffix("%"))
    assert percent >= 85
    filled = first.locator(".bar").evaluate("bar => 100 * bar.firstChild.offsetWidth / bar.offsetWidth")
    assert filled == pytest.approx(percent, abs=2)
    german = answers(page, "de")
    assert (len(german), len(answers(page, "zh")), len(answers(page, "pt"))) == (3, 3, 0)
    assert {"Hund", "klein", "rennt", "strand"} & set(german[0].replace(".", "").replace(":", "").split())

    shared = page.url
    other = page.context.new_page()
    other.goto(shared)
    expect(other.locator("[data-code=de] .answer").first).to_be_visible()
    assert answers(other, "de") == german
    assert other.get_by_label("Sentence to translate").input_value() == DOG


def test_a_word_is_translated_by_keyboard_alone(page: Page) -> None:
    def near(route: Route) -> None:
        answer = route.fetch().json()
        german = answer["results"][0]["translations"]["de"]
        german.append(german[0] | {"match": "near"})
        route.fulfill(json=answer)

    page.route("**/translate/word", near)
    page.get_by_role("tab", name="Sentence").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Word")).to_be_focused()
    expect(page.get_by_role("tab", name="Word")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Tab")
    expect(page.get_by_label("From")).to_be_focused()
    page.keyboard.type("English")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Word to translate")).to_be_focused()
    page.keyboard.type("dog")
    page.keyboard.press("Enter")
    expect(page.locator("[data-code=de] .answer-text").first).to_have_text("hund")
    expect(page.locator("[data-code=de] .below")).to_have_text("Less likely words")


def test_what_the_encoder_sees_is_drawn_as_characters(page: Page) -> None:
    ask(page, "German", source="en")
    seen = page.locator("#seen .seen")
    expect(seen).to_have_attribute("aria-label", re.compile("^The encoder sees in your text: .*🐕"))
    expect(page.locator("[data-code=de] .answer .seen").first).to_contain_text("🐕")
    assert page.locator("main img").count() == 0
    page.get_by_role("button", name="Clear").click()
    expect(seen).to_have_count(0)
    expect(page.get_by_label("Sentence to translate")).to_have_value("")
    expect(page.locator(".empty")).to_be_visible()


def test_the_wall_shows_what_the_index_holds(page: Page) -> None:
    page.get_by_role("tab", name="Scenes").click()
    cards = page.locator(".card")
    expect(cards).to_have_count(12)
    assert violations(page) == []
    page.get_by_role("button", name="More scenes").click()
    expect(cards).to_have_count(24)
    page.get_by_label("Language", exact=True).select_option("en")
    page.get_by_label("Look for").fill("dog")
    page.get_by_role("button", name="Search").click()
    expect(cards.first).to_contain_text("dog")
    expect(cards.first.locator(".seen")).to_contain_text("🐕")
    expect(cards.first.locator(".card-translation[lang=de]")).to_contain_text("hund", ignore_case=True)
    expect(cards.first).to_contain_text("Likely: the corpus has no translation.")
    shared = page.url
    text = cards.first.locator("a").inner_text()
    cards.first.locator("a").click()
    expect(page.get_by_label("Sentence to translate")).to_have_value(text)
    expect(page.locator(".answer").first).to_be_visible()
    page.goto(shared)
    expect(cards.first).to_contain_text("dog")
    page.get_by_label("Look for").fill("zyzzyva")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#scenes")).to_contain_text("No sentence has “zyzzyva”.")


def test_swapped_it_goes_the_other_way(page: Page) -> None:
    ask(page, "German", source="en")
    expect(page.locator("[data-code=de] .answer").first).to_be_visible()
    german = answers(page, "de")[0]
    page.get_by_role("button", name="Swap").click()
    expect(page.get_by_label("From")).to_have_value("de")
    expect(page.get_by_label("Sentence to translate")).to_have_value(german)
    expect(page.locator("[data-code=en] .answer").first).to_be_visible()


def test_into_its_own_language_it_says_what_else_means_that(page: Page) -> None:
    ask(page, "English", source="en", least=0)
    text, english = page.get_by_label("Sentence to translate"), page.locator("[data-code=en]")
    expect(english.get_by_role("heading")).to_have_text("What else means this in English")
    expect(english.locator(".answer").first).to_be_visible()
    text.fill(english.locator(".answer-text").first.inner_text())
    page.get_by_role("button", name="Translate").click()
    expect(english.locator(".answer").first).to_be_visible()
    assert text.input_value() not in answers(page, "en")
    page.get_by_role("tab", name="Word", exact=True).click()
    expect(page.get_by_role("checkbox", name="English")).to_be_disabled()


def test_targets_are_remembered_and_above_the_answers_on_a_phone(page: Page) -> None:
    only(page, "Chinese")
    page.reload()
    expect(page.get_by_role("checkbox", name="Chinese")).to_be_checked()
    expect(page.get_by_role("checkbox", name="German")).not_to_be_checked()
    page.set_viewport_size({"width": 390, "height": 844})
    targets, answered = (page.locator(one).bounding_box() for one in ("#targets", "#answered"))
    assert targets is not None
    assert answered is not None
    assert targets["y"] + targets["height"] <= answered["y"]


def test_near_answers_differences_and_markup_are_shown_as_text(page: Page) -> None:
    evil = "<img src=x onerror=\"document.title='owned'\"><b>hund</b>"

    def near(route: Route) -> None:
        answer = route.fetch().json()
        first, second, third = answer["results"][0]["translations"]["de"]
        for kind, given in (("memory", first), ("near", second)):
            differs = {"question": ["beach"], "answer": [given["text"].split()[1]]}
            given |= {"match": kind, "differs": differs}
        first |= {"original": {"text": "A dog.", "id": "en:1"}, "confidence": 0.8, "penalties": ["numbers"]}
        second["gloss"], second["differs"]["gloss"] = "A pup sits down.", ["down", "pup"]
        third |= {"text": evil, "match": "translation", "differs": None}
        route.fulfill(json=answer)

    page.route("**/translate/sentence", near)
    ask(page, "German", source="en", least=0)
    german = page.locator("[data-code=de]")
    memory = german.locator("[data-match=memory]")
    expect(memory.locator(".percent")).to_have_text("80%")
    expect(memory).to_contain_text("Differs in numbers.")
    below = german.locator("[data-match=near]")
    expect(below).to_be_hidden()
    german.locator("summary.below").click()
    expect(below).to_be_visible()
    expect(below.locator(".percent")).to_have_count(0)
    expect(below.locator(".answer-text mark")).to_have_count(1)
    expect(below.locator(".gloss")).to_have_text("Says: A pup sits down.")
    expect(below.locator(".gloss mark")).to_have_text(["pup", "down"])
    expect(below.locator(".missing")).to_have_text("Not in it: beach")
    expect(german.locator(".below")).to_contain_text("Nearest, with other details")
    assert evil in answers(page, "de")
    assert page.locator(".answer-text :not(mark)").count() == 0
    assert page.title() == "Passepartout"
    assert violations(page) == []


def test_the_likely_languages_are_buttons(page: Page) -> None:
    refusal = {
        "title": "Language not clear",
        "detail": "which one?",
        "errors": [{"field": "source", "message": "which one?", "candidates": ["en", "de"]}],
    }

    def unclear(route: Route) -> None:
        if "source" in route.request.post_data_json:
            route.continue_()
        else:
            route.fulfill(status=422, json=refusal)

    page.route("**/translate/sentence", unclear)
    ask(page)
    page.get_by_role("alert").get_by_role("button", name="English").click()
    expect(page.get_by_label("From")).to_have_value("en")
    expect(page.locator("[data-code=de] .answer").first).to_be_visible()


def test_what_needs_a_key_is_for_who_has_one(page: Page) -> None:
    for name in ("Corpus", "Teach"):
        expect(page.get_by_role("tab", name=name)).to_be_hidden()
    page.get_by_role("button", name="I have a key").click()
    for name in ("Corpus", "Teach"):
        expect(page.get_by_role("tab", name=name)).to_be_visible()
    expect(page.get_by_label("Key", exact=True)).to_be_focused()


def test_back_and_a_refresh_keep_the_tab(page: Page) -> None:
    ask(page)
    expect(page.locator("[data-code=de] .answer").first).to_be_visible()
    page.get_by_role("tab", name="Languages").click()
    page.reload()
    expect(page.get_by_role("tab", name="Languages")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("row", name="German de")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("tab", name="Sentence")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("Sentence to translate")).to_have_value(DOG)
    expect(page.locator("[data-code=de] .answer").first).to_be_visible()


def test_another_text_is_in_another_language(page: Page) -> None:
    """What an example or a link said of the language holds for that text alone."""
    page.locator(".example button").first.click()
    expect(page.get_by_label("From")).to_have_value("en")
    page.get_by_label("Sentence to translate").fill("Der Hund ist klein und rennt: strand.")
    expect(page.get_by_label("From")).to_have_value("")
    page.keyboard.press("Enter")
    expect(page.locator("#detected")).to_have_text("Looks like German")
    expect(page.locator("[data-code=de]")).to_have_count(0)
    # German was the only language to translate into.
    expect(page.locator("[data-code=en] .answer").first).to_be_visible()


def test_swap_detects_the_language_of_a_text_that_was_not_asked(page: Page) -> None:
    page.get_by_label("Sentence to translate").fill(DOG)
    page.get_by_role("button", name="Swap").click()
    expect(page.get_by_label("From")).to_have_value("de")
    expect(page.locator("[data-code=en] .answer").first).to_be_visible()


def test_the_first_screen_says_what_there_is(page: Page) -> None:
    """Of an index that has not the shipped sentences: its own, to try."""
    expect(page.locator("#held")).to_have_text("It knows 200 sentences, and says so when nothing fits.")
    page.locator(".example button").first.click()
    expect(page.locator("[data-match=exact]").or_(page.locator("[data-level]")).first).to_be_visible()
    assert page.locator("#targets input:checked").count() == 1


def test_the_answer_is_in_view_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_label("Sentence to translate").fill(DOG)
    page.get_by_role("button", name="Translate").click()
    expect(page.locator("[data-code=de] .answer-text").first).to_be_in_viewport(ratio=1)


def test_right_to_left_is_right(page: Page) -> None:
    page.get_by_label("From").select_option("ar")
    field = page.get_by_label("Sentence to translate")
    field.fill("كلب صغير يركض في شاطئ.")
    assert field.evaluate("field => getComputedStyle(field).direction") == "rtl"
    assert field.get_attribute("lang") == "ar"
    page.get_by_label("From").select_option("en")
    field.fill(DOG)
    assert field.evaluate("field => getComputedStyle(field).direction") == "ltr"
    ask(page, "Arabic", "German")
    for code, direction in (("ar", "rtl"), ("de", "ltr")):
        found = page.locator(f"[data-code={code}] .answer-text").first
        expect(found).to_be_visible()
        expect(found).to_have_css("direction", direction)


def test_a_refusal_is_shown_in_its_place(page: Page) -> None:
    ask(page, text="x" * 1001, source="en")
    said = "text has 1001 characters, the limit is 1000: shorten it"
    expect(page.get_by_role("alert")).to_contain_text(said)
    expect(page.get_by_label("Sentence to translate")).to_have_attribute("aria-invalid", "true")
    ask(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_label("Sentence to translate")).not_to_have_attribute("aria-invalid", "true")
    only(page)
    page.get_by_role("button", name="Translate").click()
    expect(page.get_by_role("alert")).to_contain_text("at least one language")


def test_if_no_answer_is_likely_enough_the_page_says_what_to_do(page: Page) -> None:
    ask(page, "German", text="Quarterly figures.", source="en", least=95)
    expect(page.locator("[data-code=de]")).to_contain_text("No translation is likely enough.")
    page.get_by_role("button", name="show all").click()
    expect(page.locator("[data-code=de] .answer")).to_have_count(3)


def test_only_the_last_question_is_answered(page: Page) -> None:
    held: list[Route] = []
    page.route("**/translate/sentence", lambda route: held.append(route))
    for text in ("A big cat sleeps on the street.", DOG):
        ask(page, "German", text=text, source="en")
    expect(page.locator("#answered")).to_have_attribute("aria-busy", "true")
    # Requests reach `held` while the page is asked for something.
    until(lambda: page.evaluate("true") and len(held) == 2, "the page asks both")
    held[1].continue_()
    expect(page.locator("[data-code=de] .answer-text").first).to_contain_text("Hund", ignore_case=True)


def test_what_answers_another_text_is_struck_out(page: Page) -> None:
    ask(page, "German", source="en")
    first = page.locator("[data-code=de] .answer-text").first
    expect(first).to_have_css("text-decoration-line", "none")
    page.get_by_label("Sentence to translate").fill("A big cat sleeps on the street.")
    expect(first).to_have_css("text-decoration-line", "line-through")
    assert violations(page) == []
    page.get_by_role("button", name="Swap").click()  # which asks for what is typed
    expect(page.get_by_label("From")).to_have_value("de")
    expect(page.get_by_label("Sentence to translate")).not_to_have_value(re.compile("Hund"))
    expect(first.or_(page.locator("[data-code=en] .answer-text")).first).to_have_css(
        "text-decoration-line", "none"
    )


def test_another_language_is_answered_at_once_and_in_view_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    ask(page, "German", source="en")
    expect(page.locator("[data-code=de] .answer-text").first).to_be_visible()
    only(page, "Chinese")
    expect(page.locator("[data-code=zh] .answer-text").first).to_be_visible()
    expect(page.locator("[data-code=de]")).to_have_count(0)
    page.get_by_label("From").select_option("de")
    until(lambda: "source=de" in page.url, "the page asks again")
    page.goto(page.url.partition("#")[0])
    page.reload()
    expect(page.locator("#targets label", has_text="Chinese")).to_be_in_viewport(ratio=1)


def test_an_unreachable_service_is_reported_on_the_page(page: Page) -> None:
    page.route("**/translate/sentence", lambda route: route.abort())
    ask(page)
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")


def test_an_answer_is_copied(page: Page) -> None:
    ask(page, source="en")
    first = page.locator("[data-code=de] .answer").first
    first.get_by_role("button", name="Copy").click()
    expect(first.get_by_role("button", name="Copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == answers(page, "de")[0]


def test_choices_made_before_the_languages_are_loaded_are_kept(page: Page) -> None:
    held: list[Route] = []
    page.route("**/languages", lambda route: held.append(route))
    page.reload()
    page.get_by_role("tab", name="Word").click()
    page.get_by_label("Word to translate").fill("dog")
    page.get_by_label("Word to translate").press("Enter")
    page.get_by_label("Answers per language").fill("2")
    page.get_by_label("Minimum confidence").fill("0")
    (route,) = held
    route.continue_()
    expect(page.locator("[data-code=de] .answer")).to_have_count(2)
    expect(page.get_by_role("tab", name="Word")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("Word to translate")).to_have_value("dog")
    page.evaluate("location.hash = ''")
    expect(page.locator(".empty")).to_contain_text("Translations will appear here.")


def test_a_language_chosen_before_the_examples_are_found_is_kept(page: Page) -> None:
    held: list[Route] = []
    page.route("**/concordance*", lambda route: held.append(route))
    page.reload()
    page.get_by_label("From").select_option("ar")
    expect(page.locator("#text")).to_have_attribute("lang", "ar")
    for route in held:
        route.continue_()
    page.unroute("**/concordance*")
    expect(page.locator("#about")).to_contain_text("Model tiny@1")
    page.get_by_label("Sentence to translate").fill(DOG)
    expect(page.locator("#text")).to_have_attribute("lang", "ar")


def test_the_languages_are_shown_as_a_table(page: Page) -> None:
    page.get_by_role("tab", name="Sentence").focus()
    page.keyboard.press("End")
    expect(page.get_by_role("tab", name="Languages")).to_be_focused()
    expect(page.get_by_label("Sentence to translate")).to_be_hidden()
    expect(page.get_by_role("row", name="German de")).to_contain_text("200")
    page.keyboard.press("Home")
    expect(page.get_by_label("Sentence to translate")).to_be_visible()


def test_the_quality_of_each_pair_is_a_matrix(page: Page) -> None:
    def measured(route: Route) -> None:
        languages = route.fetch().json()
        languages[0]["quality"] = {"de": {"r1": 0.81, "r10": 0.95, "n": 200, "ece": None}}
        route.fulfill(json=languages)

    page.route("**/languages", measured)
    page.reload()
    page.get_by_role("tab", name="Languages").click()
    table = page.get_by_role("region", name="Quality of each pair of languages")
    expect(table.get_by_role("row", name="English")).to_contain_text("81")
    cell = table.get_by_role("cell", name="81")
    expect(cell).to_have_attribute("title", "of 200 sentences; 95% among the first ten")
    blank = table.get_by_role("row", name="German").get_by_role("cell").first
    colours = [one.evaluate("one => getComputedStyle(one).backgroundColor") for one in (cell, blank)]
    assert len(set(colours)) == 2
    assert violations(page) == []


@pytest.mark.parametrize(
    ("scheme", "background"), [("light", "rgb(228, 224, 215)"), ("dark", "rgb(22, 23, 26)")]
)
def test_every_view_is_accessible_and_fits_a_phone(
    page: Page, scheme: Literal["light", "dark"], background: str
) -> None:
    """axe-core's rules of WCAG 2.2 A and AA."""
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
    found = violations(page)
    ask(page, source="en")
    expect(page.locator("[data-code=de] .answer").first).to_be_visible()
    found += violations(page)
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    ask(page, text="x" * 1001)
    expect(page.get_by_role("alert")).to_be_visible()
    found += violations(page)
    page.get_by_role("tab", name="Languages").click()
    assert found + violations(page) == []


def test_what_the_corpus_says_is_shown(open_page: OpenPage, remembering_address: str) -> None:
    asked = {"kind": "sentence", "text": "The dog sleps.", "source": "en", "target": "de", "least": "90"}
    first = open_page(f"{remembering_address}#{urlencode(asked)}").locator(".answer").first
    expect(first.locator(".answer-text")).to_have_text("Der Vertrag gilt.")
    expect(first.locator(".said")).to_have_text("from your corpus")
    expect(first.locator(".memory")).to_have_text("Your corpus gives this translation for “The dog sleeps.”.")
    place = first.locator(".place")
    expect(place.locator("span")).to_be_hidden()
    place.get_by_text("Where it stands").click()
    expect(place).to_contain_text("de:")
    page = open_page(f"{remembering_address}#{urlencode({'kind': 'scenes', 'source': 'en'})}")
    expect(page.locator(".card-translation", has_text="Der Vertrag gilt.")).to_be_visible()
    expect(page.get_by_text("the corpus has no translation")).to_have_count(0)


def drop_lines(page: Page) -> None:
    """Drop a file of English lines."""
    dropped = page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          const lines = "The dog sleeps.\\nThe dogs sleeps.\\nNobody knows this one.\\n";
          data.items.add(new File([lines], "lines.txt"));
          return data;
        }"""
    )
    field = page.locator("label.drop")
    assert field.evaluate(
        "field => field.dispatchEvent(new DragEvent('dragover', { cancelable: true })) === false"
    )  # so that the browser does not open the file itself
    field.dispatch_event("drop", {"dataTransfer": dropped})


def test_a_file_in_the_only_target_is_translated_into_another(
    open_page: OpenPage, remembering_address: str
) -> None:
    page = open_page(f"{remembering_address}#{urlencode({'target': 'en'})}")
    expect(page.get_by_role("checkbox", name="English")).to_be_checked()
    drop_lines(page)
    expect(page.locator(".file [role=status]")).to_contain_text("in German: 1 translated")


def test_a_file_is_dropped_and_fetched_filled(open_page: OpenPage, remembering_address: str) -> None:
    page = open_page(f"{remembering_address}#{urlencode({'source': 'en', 'target': 'de'})}")
    expect(page.get_by_role("checkbox", name="German")).to_be_checked()
    drop_lines(page)
    expect(page.locator(".file [role=status]")).to_contain_text(
        "in German: 1 translated, 1 nearly, 1 left untranslated"
    )
    with page.expect_download() as fetched:
        page.get_by_role("link", name="Fetch lines.txt").click()
    assert fetched.value.suggested_filename.endswith(".txt")
    filled = "Der Vertrag gilt.\nThe dogs sleeps.\nNobody knows this one.\n"
    assert fetched.value.path().read_text("utf-8") == filled
    # Text cannot mark the nearly known one: it is written where one asks for it.
    page.get_by_role("button", name="Fill it in anyway").click()
    expect(page.get_by_role("button", name="Fill it in anyway")).to_have_count(0)
    with page.expect_download() as fetched:
        page.get_by_role("link", name="Fetch lines.txt").click()
    assert fetched.value.path().read_text("utf-8") == filled.replace("The dogs sleeps.", "Der Vertrag gilt.")
