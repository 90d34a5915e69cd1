"""The directive `commands`: every command of the command line, from its built-in help."""

import re
from inspect import cleandoc

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def describe(name: str, command: click.Command) -> nodes.section:
    """Return the section of a command: its description, usage and options."""
    context = click.Context(command, info_name=f"rosenblatt {name}")
    title = f"rosenblatt {name}"
    section = nodes.section("", nodes.title(title, title), ids=[nodes.make_id(title)], names=[title])
    usage = " ".join([title, *command.collect_usage_pieces(context)])
    for number, paragraph in enumerate((command.help or "").split("\n\n")):
        if "\b" in paragraph:
            lines = cleandoc(paragraph.partition("\b")[2])
            section += nodes.literal_block(lines, lines, language="text")
        else:
            section += nodes.paragraph("", re.sub(r"\s+", " ", paragraph).strip())
        if number == 0:
            section += nodes.literal_block(usage, usage, language="text")
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            groups.setdefault(getattr(parameter, "section", "Options"), []).append(record)
    for heading, records in groups.items():
        section += nodes.rubric(heading, heading)
        items = nodes.definition_list(classes=["options"])
        for names, meaning in records:
            term = nodes.term("", "", nodes.literal(names, names))
            items += nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph("", meaning)))
        section += items
    return section


class Commands(SphinxDirective):
    """Describe all commands."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each command."""
        from rosenblatt.cli.main import commands

        context = click.Context(commands, info_name="rosenblatt")
        return [describe(name, commands.get_command(context, name)) for name in commands.list_commands(context)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
