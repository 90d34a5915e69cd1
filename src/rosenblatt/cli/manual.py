"""`rosenblatt completion` and `rosenblatt manual`: made from what the commands say of themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    eval "$(rosenblatt completion bash)"        # in ~/.bashrc; the same for zsh
    rosenblatt completion fish | source         # in ~/.config/fish/config.fish
    """  # noqa: D301
    from click.shell_completion import get_completion_class

    from rosenblatt.cli.main import commands

    cls = get_completion_class(shell)
    assert cls is not None
    click.echo(cls(commands, {}, "rosenblatt", "_ROSENBLATT_COMPLETE").source())


@click.command()
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder.")
def manual(output: Path) -> None:
    """Write a manual page for each command.

    \b
    rosenblatt manual --output ~/.local/share/man/man1
    """  # noqa: D301
    output.mkdir(parents=True, exist_ok=True)
    pages = manual_pages()
    for name, text in pages.items():
        (output / f"{name}.1").write_text(text, encoding="utf-8")
    click.echo(f"{len(pages)} pages are in {output}.")


def manual_pages() -> dict[str, str]:
    """Return the text of the manual page of each command, by its name."""
    from rosenblatt.cli.main import commands

    context = click.Context(commands, info_name="rosenblatt")
    pages = {"rosenblatt": _page(commands, context)}
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        assert command is not None
        own = click.Context(command, info_name=f"rosenblatt {name}")
        pages[f"rosenblatt-{name}"] = _page(command, own)
    return pages


def _page(command: click.Command, context: click.Context) -> str:
    """Return a page in the format of man."""
    from importlib.metadata import version

    from rosenblatt.cli.main import COMMANDS

    title = str(context.info_name).replace(" ", "-")
    text = (command.help or "").split("\n\n")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{title.upper()}" 1 "" "rosenblatt {version("rosenblatt")}" "User Commands"',
        ".SH NAME",
        f"{title} \\- {_escaped(text[0].rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_escaped(str(context.info_name))}",
        _escaped(usage),
        ".SH DESCRIPTION",
    ]
    for paragraph in text:
        lines += _paragraph(paragraph)
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
    for heading, records in sections.items():
        lines.append(f".SH {heading.upper()}")
        for names, meaning in records:
            lines += [".TP", f".B {_escaped(names)}", _escaped(meaning)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for name, (_, meaning) in COMMANDS.items():
            lines += [".TP", f".B {_escaped(f'rosenblatt-{name}')}(1)", _escaped(meaning)]
    else:
        lines += [".SH SEE ALSO", ".BR rosenblatt (1)"]
    return "\n".join(lines) + "\n"


def _paragraph(text: str) -> list[str]:
    """Return a paragraph; one that begins with the mark of click keeps its lines."""
    if "\b" in text:
        lines = text.partition("\b")[2].strip("\n").splitlines()
        return [".PP", ".nf", *(_escaped(line.strip()) for line in lines), ".fi"]
    return [".PP", _escaped(re.sub(r"\s+", " ", text))]


def _escaped(text: Any) -> str:
    """Return text in which nothing is a command of man."""
    escaped = str(text).replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped
