"""`passepartout train NAME --smoke`: a recipe's whole path at tiny sizes on drawn pictures, in seconds."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from evaluation.suites.sets import read_lines
from index.errors import UsageError
from training.data.settings import PHOTO_SET, PICTOGRAM_SET
from training.encoders.base import TINY_ENCODER
from training.export.bundle import export_run
from training.loop.training_loop import train
from training.recipes.recipe import load_recipe
from training.smoke.drawings import LANGUAGES, TEXT_SET, write_synthetic
from training.smoke.tiny_models import write_tiny_backbone, write_tiny_xlmr

PICTURE_COUNT = 400
PICTURE_SIZE = 64
BACKBONE = "weights/tiny"

# Overrides of every recipe, beside those of its encoder; the OF_ constants are for recipes with that table.
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
OF_TEXTS = (f"data.texts={TEXT_SET}",)
OF_MINING = ("mining.begin=30", "mining.every=15", "optimiser.epochs=60")
OF_STAGES = ('stages=[{"optimiser": {"epochs": 4}}]',)
OF_HEAD = {"mlp": ("head.dimension=24",), "linear": ("head.dimension=24",), "none": ("head.dimension=32",)}
OF_VISION = {"tuned": ("optimiser.epochs=2",), "frozen": ("optimiser.epochs=30",)}


def run_smoke(name: str, out: Path, overrides: Iterable[str] = ()) -> str:
    """Draw a data set, train and export; write OUT/data, OUT/run and OUT/bundle, return a line of results."""
    full = load_recipe(name)
    head, vision = OF_HEAD[full.head.text], OF_VISION[full.vision.training]
    tiny = (*TINY_SETTINGS, *full.text.tiny, *head, *vision)
    tiny += OF_TOKENIZER if not full.text.brings_tokenizer else ()
    tiny += OF_TEXTS if full.data.texts else ()
    tiny += OF_MINING if full.mining else ()
    tiny += OF_STAGES if full.stages else ()
    recipe = load_recipe(name, (*tiny, *overrides))
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give --smoke another --out")
    data = out / "data"
    sets = [name for name in recipe.data.sets if name not in (PHOTO_SET, PICTOGRAM_SET)]
    write_synthetic(data, pictures=PICTURE_COUNT, size=PICTURE_SIZE, seed=recipe.seed, sets=sets)
    write_tiny_backbone(data / BACKBONE)
    if recipe.text.brings_tokenizer:
        files = sorted((data / "text").iterdir())
        write_tiny_xlmr(data / TINY_ENCODER, chain.from_iterable(map(read_lines, files)))
    run = train(recipe, data, out / "run")
    bundle = export_run(run.folder, data, out / "bundle", name=None, version="smoke", licence="CC0-1.0")
    result = run.result()
    return (
        f"{bundle.folder}: {bundle.name}, sum of recalls {result['sum_of_recalls']}, "
        f"validation R@1 {bundle.manifest.measures['validation_r1']:.1f}"
    )
