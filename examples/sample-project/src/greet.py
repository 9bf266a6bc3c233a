"""Greets people by name, in the language they ask for."""

import argparse

LANGUAGES = {"en": "Hello", "fr": "Bonjour", "de": "Guten Tag"}


def greet(name: str, language: str = "en") -> str:
    """The greeting, with the name in it."""
    return f"{LANGUAGES[language]}, {name}!"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--in", dest="language", choices=LANGUAGES, default="en")
    chosen = parser.parse_args()
    print(greet(chosen.name, chosen.language))
