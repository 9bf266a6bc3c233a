"""What is imported before it is needed: no SDK."""

import subprocess
import sys

import pytest

from tests.promises import carries

SDKS = ("anthropic", "openai", "ollama", "httpx", "httpx2", "genai_prices", "ruamel")


@carries("PROV-16")
@pytest.mark.parametrize(
    "statement",
    [
        "import holdfast.providers.protocol",
        "import holdfast.providers.choose as c; c.Providers(c.ProviderSettings(anthropic_api_key='x')).provider_for('claude-x')",
        "import holdfast.cli as c\ntry: c.main(['--help'])\nexcept SystemExit: pass",
    ],
    ids=["the protocol", "a provider that is chosen", "holdfast --help"],
)
def test_no_sdk_is_imported_by(statement: str) -> None:
    asked = f"{statement}\nimport sys\nprint('LOADED', [name for name in {SDKS!r} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)

    assert done.stdout.rpartition("LOADED ")[2].strip() == "[]"
