"""`passepartout learn-language`."""

from pathlib import Path

import click

from index.errors import UsageError

PATH_TYPE = click.Path(path_type=Path)


@click.command("learn-language")
@click.argument("bundle", type=PATH_TYPE)
@click.argument("code")
@click.option(
    "--captions",
    type=PATH_TYPE,
    required=True,
    help="TSV: a picture of the bundle, and a text in the new language.",
)
@click.option(
    "--pictures", "folder", type=PATH_TYPE, help="Your own pictures, for --captions to name; needs torch."
)
@click.option(
    "--backbone",
    default="",
    help="The folder of the image model to encode them. [default: as the bundle names it]",
)
@click.option("--out", type=PATH_TYPE, required=True, help="The new bundle's folder.")
def learn_language(
    bundle: Path,
    code: str,
    captions: Path,
    folder: Path | None,
    backbone: str,
    out: Path,
) -> None:
    """Teach BUNDLE the language CODE from captions of its pictures or of yours, in minutes.

    OUT is a bundle like any other; OUT.report.md says what it knows and what to caption next.
    """
    from index.encoder.bundle import open_bundle
    from index.encoder.pictures import Pictures
    from index.storage.files import read_text
    from index.teaching.examples import names_of, read_captions
    from index.teaching.learn_language import check_language
    from index.teaching.learn_language import learn_language as learn
    from index.teaching.report import report, summary

    opened = open_bundle(bundle)
    check_language(opened, code)
    pictures, known = Pictures.open(opened), "the bundle's"
    lines = read_text(captions).splitlines()
    if folder is not None:
        from training.teaching.own_pictures import with_own_pictures

        named = names_of(lines, str(captions))
        pictures = with_own_pictures(opened, pictures, folder, named, backbone)
        known = f"{known} or in {folder}"
    if pictures is None:
        raise UsageError(f"{bundle} has no pictures to caption: give --pictures, or a bundle with some")
    examples = read_captions(lines, str(captions), pictures, known)
    learned = learn(opened, code, examples, pictures, out)
    described = out.with_name(f"{out.name}.report.md")
    described.write_text(report(learned), "utf-8")
    click.echo(f"{out}: {summary(learned)}")
    click.echo(f"{described}: what it knows, and {len(learned.next_pictures)} pictures to caption next")
