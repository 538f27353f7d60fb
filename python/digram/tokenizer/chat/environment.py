"""Templates in Jinja, compiled so that the text they render knows its origin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache, wraps
from typing import Any, Protocol

from digram.errors import OptionError, VocabError, show
from digram.tokenizer.chat.marked import TEMPLATE, Marked, blended, joined, text_of

__all__ = ["CompiledTemplate", "compiled", "marks_generation"]

_LONGEST = 1 << 20  # characters of a template
_OLDEST = (3, 1, 6)  # earlier ones have known ways out of the sandbox


_GENERATION = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")


def marks_generation(source: str) -> bool:
    """Whether a template marks what the model writes, by `{% generation %}`.

    >>> marks_generation("{%- generation %}{{ text }}{% endgeneration -%}")
    True
    """
    return _GENERATION.search(source) is not None


class CompiledTemplate(Protocol):
    """A template; `render` returns `Marked`."""

    def render(self, **variables: Any) -> Any:
        """The text with these variables."""


@lru_cache(maxsize=32)
def compiled(source: str) -> CompiledTemplate:
    """The compiled template; the last ones are kept.

    Raises `VocabError` for a template that is not valid Jinja, and `OptionError` without jinja2.
    """
    if len(source) > _LONGEST:
        raise VocabError(f"the chat template has {len(source):,} characters, too many.")
    environment = _environment()
    from jinja2 import TemplateError

    try:
        template: CompiledTemplate = environment.from_string(source)
    except (TemplateError, RecursionError, SyntaxError) as error:
        line = getattr(error, "lineno", None)
        place = "" if line is None else f" in line {line}"
        raise VocabError(
            f"the chat template is not valid{place}: {str(error).removesuffix('.')}.",
            hint="Mend it; tok.with_chat_template(...) sets the new one.",
        ) from None
    return template


@lru_cache(maxsize=1)
def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise OptionError(
            "chats need the package jinja2, in which their templates are written.",
            hint="Install it: `pip install jinja2`, or digram with the extra chat.",
        ) from None
    version = tuple(int(part) for part in jinja2.__version__.split(".")[:3] if part.isdigit())
    if version < _OLDEST:
        raise OptionError(
            f"jinja2 {jinja2.__version__} does not confine templates reliably.",
            hint='Install a newer one: `pip install "jinja2>=3.1.6"`.',
        )
    return _make_environment()


def _make_environment() -> Any:
    """The environment that transformers gives chat templates, with marked texts.

    These definitions are in a function since jinja2 need not be installed.
    """
    from jinja2 import nodes, utils
    from jinja2.compiler import CodeGenerator, Frame
    from jinja2.exceptions import SecurityError, TemplateError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class MarkedCode(CodeGenerator):
        """Code in which each text of the template is marked as its own."""

        def _output_const_repr(self, group: Iterable[Any]) -> str:
            return _written(super()._output_const_repr(group))

        def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:  # noqa: N802
            self.write(_written(repr(node.as_const(frame.eval_ctx))))

        def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802
            if isinstance(node.value, str):
                self.write(_written(repr(node.value)))
            else:
                super().visit_Const(node, frame)

        def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
            self.write("environment.concat(map(environment.finalize, (")
            for part in node.nodes:
                self.visit(part, frame)
                self.write(", ")
            self.write(")))")

    class Environment(ImmutableSandboxedEnvironment):
        code_generator_class = MarkedCode
        concat = staticmethod(joined)

        # Without it, constants are folded into values that are not marked one by one.
        def __init__(self, **options: Any) -> None:
            super().__init__(optimized=False, finalize=text_of, **options)

        @staticmethod
        def written(text: str) -> Marked:
            return Marked(text, TEMPLATE)

        def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
            method = super().wrap_str_format(value)
            if method is None or not isinstance(value.__self__, Marked):
                return method

            def call(*args: Any, **named: Any) -> Marked:
                return blended(method(*args, **named), value.__self__, args, named)

            return call

    class Generation(Extension):
        """`{% generation %}`: what the model wrote."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Any) -> nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.CallBlock(self.call_method("_generated"), [], [], body).set_lineno(line)

        def _generated(self, caller: Callable[[], Any]) -> Marked:
            text = caller()
            return (text if isinstance(text, Marked) else Marked(text)).said_by_model()

    class TemplateDict:
        def __call__(self, *args: Any, **named: Any) -> dict[Any, Any]:
            return dict(*args, **named)

        def fromkeys(self, *args: Any) -> dict[Any, Any]:
            return dict.fromkeys(*args)

    class TemplateNamespace(utils.Namespace):
        """Namespaces without underscored names, as in transformers."""

        def __init__(*args: Any, **named: Any) -> None:  # a name may be "self"
            self, args = args[0], args[1:]
            attributes = dict(*args, **named)
            for name in attributes:
                TemplateNamespace._check(name)
            utils.Namespace.__init__(self, attributes)

        def __setitem__(self, name: str, value: Any) -> None:
            TemplateNamespace._check(name)
            utils.Namespace.__setitem__(self, name, value)

        @staticmethod
        def _check(name: object) -> None:
            if isinstance(name, str) and name.startswith("_"):
                raise SecurityError(f"the name {show(name)} of a namespace starts with _")

    def raise_exception(message: object) -> None:
        raise TemplateError(str(message))

    def strftime_now(format: str) -> str:
        return datetime.now().strftime(format)

    environment = Environment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters |= {"tojson": _tojson, "join": _join_filter(environment.filters["join"])}
    environment.filters = {name: _marking(one) for name, one in environment.filters.items()}
    environment.globals |= {
        "dict": TemplateDict(),
        "namespace": TemplateNamespace,
        "raise_exception": raise_exception,
        "strftime_now": strftime_now,
    }
    return environment


def _written(literal: str) -> str:
    """The code of a text of the template."""
    return f"environment.written({literal})"


def _tojson(
    x: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> Marked:
    text = json.dumps(
        x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )
    return blended(text, x)


def _marking(original: Any) -> Any:
    """A filter whose plain texts are marked by what they were made of."""
    passed = hasattr(original, "jinja_pass_arg")  # the environment comes before the arguments

    @wraps(original)
    def call(*args: Any, **named: Any) -> Any:
        found = original(*args, **named)
        return blended(found, args[passed:], named) if type(found) is str else found

    return call


def _join_filter(original: Any) -> Any:
    """The filter `join`, whose separator is a plain text by default."""
    from jinja2 import pass_eval_context

    @pass_eval_context
    def join(context: Any, value: Any, d: str = "", attribute: str | None = None) -> Any:
        return original(context, value, d if isinstance(d, Marked) else Marked(d), attribute)

    return join
