"""Which lines of a corpus a build takes for another language, with the shipped encoder."""

from index.build.encoding import Worker
from index.build.lexicon import detector_of
from index.encoder.text_encoder import TextEncoder
from index.text.identification import Detector
from index.text.pre_tokens import Tokens

ENGLISH = [
    "Press Enter to continue.",
    "It was lovely meeting you all.",
    "Please pass on my regards to Dr. Miller.",
    "Please accept our apologies for the delay.",
    "Congratulations on your new job!",
    "Two dogs are playing in the snow.",
]
FOREIGN = ["Zwei Hunde spielen im Schnee mit einem Ball.", "Veuillez agréer mes salutations distinguées."]


def test_what_is_not_in_captions_is_no_other_language(open_encoder: TextEncoder) -> None:
    trained = detector_of(open_encoder, {})
    detector = Detector(trained.languages, trained.table, ["en"])
    tokens = Tokens.of(open_encoder.tokens([*ENGLISH, *FOREIGN]))
    assert detector.foreign(tokens, "en").tolist() == [False] * len(ENGLISH) + [True] * len(FOREIGN)


def test_a_language_that_fasttext_does_not_know_is_what_its_file_says(open_encoder: TextEncoder) -> None:
    pool = Worker(open_encoder, detector_of(open_encoder, {}))
    pidgin = ["Doctor dey come tomorrow morning.", "My head dey pain me since yesterday."]
    assert pool.encode("pcm", pidgin, True).foreign == [False, False]
    assert pool.encode("en", FOREIGN, True).foreign == [True, True]
