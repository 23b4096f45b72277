"""The course as one zip file, for a class without a network: run this once, where there is one.

    python examples/offline_lab.py --out out/lab.zip
    python examples/offline_lab.py --no-wheels         # needs no network: for a class that has NumPy and Matplotlib already

In the zip, in lab/: wheels/ with minigrad and what it needs, notebooks/en/ and notebooks/ja/ with the lessons as notebooks and
as plain Python, and README.md with the three commands that a learner types. The exercises are inside minigrad's wheel.

Wheels are for one system and one version of Python: run this on a computer like those of the class. More: docs/teaching.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import lesson_notebooks
from common import make_folder, run

ROOT = Path(__file__).parents[1]
README = """# minigrad without a network · ネットワークのない教室で

{en} In a terminal, in this folder, once (your teacher says the number; without it one is drawn):

{ja}最初に一度だけ、このフォルダーで次のように入力します。
NUMBER には、先生が伝える番号を入れてください。日本語で学ぶ人は、learn の後に --language ja を付けます。

    {python} -m venv {options}class
    {bin}python -m pip install --no-index --find-links wheels {names}
    {bin}minigrad learn init my_course --seed NUMBER

The lessons: notebooks in `notebooks/en/`{open}, which are plain programs, too.
レッスンは `notebooks/ja/` にあります。ふつうの Python のプログラムとしても実行できます。

    {bin}python notebooks/en/01_nudging.py

The exercises · 練習問題

    cd my_course
    {up}minigrad learn
"""


def readme(also: Sequence[str], *, wheels: bool) -> str:
    """What a learner types, on a system like this one."""
    windows = sys.platform == "win32"
    folder = "class\\Scripts\\" if windows else "class/bin/"
    system = f"{platform.system()}, Python {platform.python_version()}"
    return README.format(
        en=f"For {system}." if wheels else "For a Python 3.11 or newer that has NumPy and Matplotlib.",
        ja=f"{system} 用です。" if wheels else "NumPy と Matplotlib の入った Python 3.11 以降が必要です。",
        python="py" if windows else "python3",
        options="" if wheels else "--system-site-packages ",
        names=" ".join(["minigrad", "matplotlib", *also] if wheels else ["minigrad"]),
        open=f" (open them with `{folder}jupyter lab`)" if wheels and "jupyterlab" in also else "",
        bin=folder,
        up=("..\\" if windows else "../") + folder,
    )


def pip(*arguments: str) -> None:
    """
    Raises:
        ValueError: pip did not manage; the end of what it said is in the message.
    """
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if ran.returncode:
        said = "\n".join((ran.stderr.strip() or ran.stdout.strip()).splitlines()[-5:])
        raise ValueError(f"pip {arguments[0]} failed:\n{said}")


def make_wheels(folder: Path, also: Sequence[str], *, wheels: bool) -> None:
    """minigrad's wheel, and beside it what it and the lessons need."""
    at_hand = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    if not wheels and not at_hand:
        raise ValueError("--no-wheels builds without a network, which needs hatchling: pip install hatchling")
    pip("wheel", str(ROOT), "--no-deps", "--wheel-dir", str(folder), *at_hand)
    if wheels:
        (own,) = folder.glob("minigrad-*.whl")
        pip("download", str(own), "matplotlib", *also, "--only-binary", ":all:", "--dest", str(folder))


def pack(path: Path, also: Sequence[str], *, wheels: bool) -> None:
    """Write the zip file; there is none, or the old one, if something fails."""
    with tempfile.TemporaryDirectory() as made:
        lab = Path(made) / "lab"
        lab.mkdir()
        (lab / "README.md").write_text(readme(also, wheels=wheels), encoding="utf-8")
        for language in lesson_notebooks.LANGUAGES:
            lesson_notebooks.write(lab / "notebooks" / language, language)
        make_wheels(lab / "wheels", also, wheels=wheels)
        make_folder(path.parent)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(file for file in lab.rglob("*") if file.is_file()):
                archive.write(file, file.relative_to(made))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/lab.zip"), help="the file (default: out/lab.zip)")
    parser.add_argument("--no-wheels", action="store_true", help="minigrad's own wheel alone")
    help = "more packages to bring along (default: jupyterlab, which opens notebooks; nothing: none)"
    parser.add_argument("--also", nargs="*", default=["jupyterlab"], metavar="PACKAGE", help=help)
    args = parser.parse_args()
    pack(args.out, args.also, wheels=not args.no_wheels)
    print(f"{args.out} ({args.out.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    run(main)
