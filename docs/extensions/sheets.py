"""Replace `{{sheet lecture-1}}` on a page by the exercises of that lecture, without their answers."""

import re
from pathlib import Path

from sphinx.application import Sphinx


def sheet(lecture: str) -> str:
    """Return the title of a lecture and its exercises."""
    title = lecture.partition("\n")[0].removeprefix("# ")
    exercises = lecture.partition("\n## Exercises\n")[2].partition("\nNext: ")[0]
    questions = re.sub(r"<details>.*?</details>\n*", "", exercises, flags=re.DOTALL)
    return f"## {title}\n{questions}"


def insert(app: Sphinx, page: str, content: list[str]) -> None:
    """Insert the sheets that a page asks for."""

    def found(match: re.Match[str]) -> str:
        path = Path(app.srcdir) / "learn" / f"{match[1]}.md"
        app.env.note_dependency(str(path))
        return sheet(path.read_text(encoding="utf-8"))

    content[0] = re.sub(r"^\{\{sheet ([\w-]+)\}\}$", found, content[0], flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the event."""
    app.connect("source-read", insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
