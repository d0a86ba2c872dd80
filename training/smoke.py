"""`passepartout train NAME --smoke`: a recipe's whole path at tiny sizes on drawn pictures, in seconds."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from evaluation.suites.sets import read_lines
from index.errors import UsageError
from training.data.settings import PHOTO_SET, PICTOGRAM_SET
from training.data.synthetic.dataset import LANGUAGES, TEXT_SET, write_synthetic
from training.data.synthetic.encoders import write_tiny_backbone, write_tiny_xlmr
from training.export.bundle import export_run
from training.loop.training_loop import train
from training.recipes.recipe import load_recipe

PICTURE_COUNT = 400
PICTURE_SIZE = 64
BACKBONE, TEXT_ENCODER = "weights/tiny", "weights/tiny-text"

# Overrides of every recipe; the OF_ constants are for recipes with that table or encoder.
TINY_SETTINGS = (
    f"data.languages={list(LANGUAGES[:3])}".replace("'", '"'),
    "data.caption_kinds=[]",
    f"vision.backbone={BACKBONE}",
    f"vision.image_size={PICTURE_SIZE}",
    "vision.views=2",
    "optimiser.batch_size=64",
    "optimiser.warmup_steps=5",
    "run.threads=1",
)
OF_TOKENIZER = ("tokenizer.vocabulary=500",)  # where the recipe learns one
OF_ENCODER = {
    "transformer": ("text.width=32", "text.layers=1", "text.heads=2", "text.feedforward=64"),
    "bag": ("text.width=32",),
    "adapted": ("text.width=32",),
    "gru": ("text.width=32", "text.embedding=32"),
    "universal": ("text.width=32", "text.words=24", "text.universal=32"),
    "hybrid": (
        "text.kept=20",
        "text.kept_width=8",
        "text.latent=30",
        "text.universal=32",
        "text.vectors_width=16",
        "text.width=32",
        "text.pretraining.steps=20",
    ),
    "pretrained": (f"text.model={TEXT_ENCODER}", "text.width=32", "text.max_tokens=64"),
}
OF_TEXTS = (f"data.texts={TEXT_SET}",)
OF_ALIGNED = (f"transfer.aligned={TEXT_SET}",)
OF_MINING = ("mining.begin=30", "mining.every=15", "optimiser.epochs=60")
OF_HEAD = {"mlp": ("head.dimension=24",), "linear": ("head.dimension=24",), "none": ("head.dimension=32",)}
OF_VISION = {"tuned": ("optimiser.epochs=2",), "frozen": ("optimiser.epochs=30",)}


def run_smoke(name: str, out: Path, overrides: Iterable[str] = ()) -> str:
    """Draw a data set, train and export; write OUT/data, OUT/run and OUT/bundle, return a line of results."""
    full = load_recipe(name)
    head, vision = OF_HEAD[full.head.text], OF_VISION[full.vision.training]
    tiny = (*TINY_SETTINGS, *OF_ENCODER.get(full.text.encoder, ()), *head, *vision)
    tiny += OF_TOKENIZER if full.text.encoder != "pretrained" else ()
    tiny += OF_TEXTS if full.data.texts else ()
    tiny += OF_MINING if full.mining else ()
    tiny += OF_ALIGNED if full.transfer and full.transfer.aligned else ()
    recipe = load_recipe(name, (*tiny, *overrides))
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give --smoke another --out")
    data = out / "data"
    sets = [name for name in recipe.data.sets if name not in (PHOTO_SET, PICTOGRAM_SET)]
    write_synthetic(data, pictures=PICTURE_COUNT, size=PICTURE_SIZE, seed=recipe.seed, sets=sets)
    write_tiny_backbone(data / BACKBONE)
    if recipe.text.encoder == "pretrained":
        write_tiny_xlmr(data / TEXT_ENCODER, _sentences(data))
    run = train(recipe, data, out / "run")
    bundle = export_run(run.folder, data, out / "bundle", name=None, version="smoke", licence="CC0-1.0")
    result = run.result()
    return (
        f"{bundle.folder}: {bundle.name}, sum of recalls {result['sum_of_recalls']}, "
        f"validation R@1 {bundle.manifest.measures['validation_r1']:.1f}"
    )


def _sentences(data: Path) -> Iterator[str]:
    for file in sorted((data / "text").iterdir()):
        yield from read_lines(file)
