"""What `clcook report` writes, from the results and cards that it hands over on standard input."""

import json
import os
import sys


def needs_packages():
    """Ends where a package is missing, unless the system's Python has it."""
    try:
        import jinja2  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        system = "/usr/bin/python3"
        if sys.executable != system and os.path.exists(system):
            os.execv(system, [system, "-B", *sys.argv])
        print(f"clcook: report: Python has no module {error.name}. On Debian: apt-get install python3-{error.name}", file=sys.stderr)
        sys.exit(2)


def report(facts):
    from results import Result, take

    results = take(facts)
    if facts["demo"]:
        from page import write_demo

        here, check = (Result(facts["here"][kind]) if kind in facts["here"] else None for kind in ("bench", "check"))
        return write_demo(facts["demo"], here, check, [Result(one) for one in facts["here"]["loops"]], results)
    if facts["curves"]:
        from curves import write_curves

        return write_curves(results, *facts["curves"])
    if facts["markdown"]:
        from markdown import rewrite_markdown

        return rewrite_markdown(facts["root"], results, facts["check"])
    from page import write_page

    return write_page(facts["out"], results, facts["pictures"])


def main():
    needs_packages()
    from results import Refused

    try:
        code = report(json.load(sys.stdin))
        sys.stdout.flush()
    except Refused as error:
        print(f"clcook: {error}", file=sys.stderr)
        code = 2
    except (ArithmeticError, ValueError) as error:  # of figures that no device has
        print(f"clcook: report: a figure cannot be computed: {error}", file=sys.stderr)
        code = 2
    except OSError as error:
        print(f"clcook: {error.filename or 'report'}: {error.strerror or error}", file=sys.stderr)
        code = 2
    return code


if __name__ == "__main__":
    sys.exit(main())
