"""The course as one zip file, for a class without a network: run this once, where there is one.

    python examples/offline_lab.py --out out/lab.zip
    python examples/offline_lab.py --no-wheels         # no network and no pip: for a class that has NumPy and Matplotlib

In the zip, in lab/: wheels/ with minigrad and what it needs, notebooks/en/ and notebooks/ja/ with the lessons as notebooks and
as plain Python, and README.md with the three commands that a learner types. The exercises are inside minigrad's wheel.

Wheels are for one system and one version of Python, such as any 3.11: run this on a computer like those of the class. Packages
for which there is no wheel for that version are left out, if the lessons run without them. More: docs/teaching.md.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare()

import argparse
import base64
import hashlib
import platform
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import lesson_notebooks
from common import make_folder, run

ROOT = Path(__file__).parents[1]
VERSION = "{}.{}".format(*sys.version_info)  # pip takes it for its first release, such as 3.11.0
PICTURES = ("matplotlib", "pygraphviz")  # what the lessons draw with; pygraphviz carries Graphviz
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
    system = f"{platform.system()}, Python {VERSION}"
    return README.format(
        en=f"For {system}." if wheels else "For a Python 3.11 or newer that has NumPy and Matplotlib.",
        ja=f"{system} 用です。" if wheels else "NumPy と Matplotlib の入った Python 3.11 以降が必要です。",
        python="py" if windows else "python3",
        options="" if wheels else "--system-site-packages ",
        names=" ".join(["minigrad", *PICTURES, *also] if wheels else ["minigrad"]),
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


def write_wheel(folder: Path) -> Path:
    """Write minigrad's wheel with the standard library alone, because a build with hatchling may need a network.

    A wheel of plain Python is a zip file of the packages, with a folder about them:
    https://packaging.python.org/specifications/binary-distribution-format/
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    about, wheel = project["project"], project["tool"]["hatch"]["build"]["targets"]["wheel"]
    name = f"{about['name']}-{about['version']}"
    files = {wheel["sources"].get(top, top) + path: content
             for top in wheel["only-include"] for path, content in _files(ROOT / top)}  # fmt: skip
    scripts = "".join(f"{command} = {function}\n" for command, function in about["scripts"].items())
    metadata = [f"Name: {about['name']}", f"Version: {about['version']}", f"Summary: {about['description']}"]
    metadata += [f"License: {about['license']}", f"Requires-Python: {about['requires-python']}"]
    # The extras are left out: a class installs none.
    metadata += [f"Requires-Dist: {need}" for need in about["dependencies"]]
    info = {
        "METADATA": "\n".join(["Metadata-Version: 2.1", *metadata, ""]),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: offline_lab\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": f"[console_scripts]\n{scripts}",
    }
    files |= {f"{name}.dist-info/{file}": text.encode() for file, text in info.items()}
    files |= {f"{name}.dist-info/licenses/{file}": (ROOT / file).read_bytes() for file in about["license-files"]}
    record = f"{name}.dist-info/RECORD"
    files[record] = "".join([*(_recorded(*file) for file in files.items()), f"{record},,\n"]).encode()
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in files.items():
            archive.writestr(file, content)
    return path


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The files in a package, by their path in it: not what Python has compiled, and no hidden ones."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part == "__pycache__" or part.startswith(".") for part in parts):
            yield "/" + "/".join(parts), path.read_bytes()


def _recorded(path: str, content: bytes) -> str:
    """The line of a file in RECORD, by which pip knows what it has installed."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{path},sha256={digest},{len(content)}\n"


def make_wheels(folder: Path, also: Sequence[str], *, wheels: bool) -> Sequence[str]:
    """Write minigrad's wheel, and download what it and the lessons need. Return those of ``also`` that there are wheels of.

    The wheels are those for the first release of this version of Python, so that they suit each later one, too: a computer of
    the class may have an older one than this.
    """
    own = write_wheel(folder)
    if not wheels:
        return []
    options = ["--only-binary", ":all:", "--python-version", VERSION, "--dest", str(folder)]
    pip("download", str(own), *PICTURES, *options)
    there: list[str] = []
    for name in also:
        try:
            pip("download", str(own), *PICTURES, *there, name, *options)
            there.append(name)
        except ValueError as error:
            print(f"{name} is left out: {str(error).splitlines()[-1]}", file=sys.stderr)
    return there


def pack(path: Path, also: Sequence[str], *, wheels: bool) -> None:
    """Write the zip file; there is none, or the old one, if something fails."""
    with tempfile.TemporaryDirectory() as made:
        lab = Path(made) / "lab"
        lab.mkdir()
        also = make_wheels(lab / "wheels", also, wheels=wheels)
        (lab / "README.md").write_text(readme(also, wheels=wheels), encoding="utf-8")
        for language in lesson_notebooks.LANGUAGES:
            lesson_notebooks.write(lab / "notebooks" / language, language)
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
