"""Settings: where each comes from, and who may set it."""

from pathlib import Path

import pytest

from holdfast.config.home import home_folder
from holdfast.config.settings import PROJECT_FILE, TABLE, load_settings
from holdfast.vocabulary.errors import InvalidSetting
from tests.promises import carries


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".holdfast").mkdir(parents=True)
    return tmp_path / "project"


@carries("CONF-1")
def test_a_value_comes_from_the_first_that_has_it(home: Path, project: Path) -> None:
    sources: list[tuple[str, str]] = []

    def look(environ: dict[str, str] | None = None, given: dict[str, object] | None = None) -> None:
        value = load_settings(project, environ or {}, given, home).values["profile"]
        sources.append((value.value, value.source))

    look()
    (home / "config.toml").write_text('profile = "core"\n')
    look()
    (project / PROJECT_FILE).write_text('profile = "fs"\n')
    look()
    look({"HOLDFAST_PROFILE": "simple"})
    look({"HOLDFAST_PROFILE": "simple"}, {"profile": "planner"})
    look(given={"profile": None})

    assert sources == [
        ("coder", "default"),
        ("core", str(home / "config.toml")),
        ("fs", PROJECT_FILE),
        ("simple", "HOLDFAST_PROFILE"),
        ("planner", "the command line"),
        ("fs", PROJECT_FILE),
    ]


@carries("CONF-2")
@pytest.mark.parametrize("name", sorted({each.name for each in TABLE} - {"profile", "model"}))
def test_a_project_may_not_set_what_can_be_used_against_the_person(home: Path, project: Path, name: str) -> None:
    (project / PROJECT_FILE).write_text(f'{name} = "x"\n')

    with pytest.raises(InvalidSetting, match=f"may not set '{name}'"):
        load_settings(project, {}, home=home)


@carries("CONF-2")
def test_a_project_may_choose_profile_and_model(home: Path, project: Path) -> None:
    (project / PROJECT_FILE).write_text('profile = "fs"\nmodel = "ollama/small"\n')

    settings = load_settings(project, {}, home=home)

    assert (settings["profile"], settings["model"]) == ("fs", "ollama/small")


@carries("CONF-3")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour = 1", "there is no setting 'colour'"),
        ('port = "many"', "port in .* does not fit"),
        ("port = -1", "port in .* does not fit"),
        ("port = 65536", "port in .* does not fit"),
        ("port = true", "port in .* does not fit"),
        ("port = 1.5", "port in .* does not fit"),
        ("host = 7", "host in .* does not fit"),
        ('writes_protected = "maybe"', "writes_protected in .* does not fit"),
        ('trust = "blind"', "trust in .* does not fit"),
        ("access_token_minutes = 0", "access_token_minutes in .* does not fit"),
        ("[server]\nport = 1", "there is no setting 'server'"),
        ("port = ", "config.toml: "),
        ("port = 1\nport = 2", "config.toml: "),
    ],
)
def test_what_does_not_fit_is_told_by_its_name(home: Path, text: str, said: str) -> None:
    (home / "config.toml").write_text(text)

    with pytest.raises(InvalidSetting, match=said):
        load_settings(None, {}, home=home)


@carries("CONF-3")
@pytest.mark.parametrize(
    ("variable", "value"), [("HOLDFAST_PORT", "x"), ("HOLDFAST_TRUST", "blind"), ("HOLDFAST_WRITES_PROTECTED", "maybe")]
)
def test_a_variable_that_does_not_fit_is_told_by_its_name_and_not_by_its_value(home: Path, variable: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=variable) as caught:
        load_settings(None, {variable: value}, home=home)

    assert f"'{value}'" not in str(caught.value)


@carries("CONF-3")
@pytest.mark.parametrize("data", [b"\xff\xfe", b"port = \x00"])
def test_a_file_that_cannot_be_read_is_told(home: Path, data: bytes) -> None:
    (home / "config.toml").write_bytes(data)

    with pytest.raises(InvalidSetting, match=r"config\.toml"):
        load_settings(None, {}, home=home)


@carries("CONF-3")
def test_a_folder_in_the_place_of_the_file_is_told(home: Path) -> None:
    (home / "config.toml").mkdir()

    with pytest.raises(InvalidSetting, match=r"config\.toml cannot be read"):
        load_settings(None, {}, home=home)


TOLD = {
    "HOLDFAST_DATABASE_URL": None,
    "HOLDFAST_JWT_SECRET": None,
    "HOLDFAST_ACCESS_TOKEN_MINUTES": 15,
    "HOLDFAST_PROFILE": "coder",
    "HOLDFAST_MODEL": None,
    "HOLDFAST_TRUST": "guided",
    "HOLDFAST_APPROVAL_TIMEOUT": 30,
    "HOLDFAST_SEARXNG_URL": "http://localhost:8080",
    "HOLDFAST_SEARXNG_ENGINES": "bing,duckduckgo,brave",
    "HOLDFAST_BRAVE_KEY": None,
    "HOLDFAST_BRAVE_URL": None,
    "HOLDFAST_COPILOT_TOKEN": None,
    "HOLDFAST_COPILOT_URL": None,
    "ANTHROPIC_API_KEY": None,
    "ANTHROPIC_BASE_URL": None,
    "OPENAI_API_KEY": None,
    "OPENAI_BASE_URL": None,
    "OLLAMA_HOST": None,
}


@carries("CONF-5", "AUTH-8")
def test_every_setting_has_the_name_and_the_default_that_we_have_told(home: Path) -> None:
    known = {each.variable: each.default for each in TABLE}

    assert {name: known.get(name, "missing") for name in TOLD} == TOLD
    assert (known["HOLDFAST_HOST"], known["HOLDFAST_PORT"]) == ("127.0.0.1", 3000)


@carries("CONF-5")
def test_every_variable_is_heard(home: Path) -> None:
    fitting = {"HOLDFAST_TRUST": "supervised", "HOLDFAST_RESUME": "ask"}
    for setting in TABLE:
        text = fitting.get(setting.variable, "true" if isinstance(setting.default, bool) else "7")

        value = load_settings(None, {setting.variable: text}, home=home).values[setting.name]

        assert value.source == setting.variable
        assert value.value in (text, 7, True)


@carries("CONF-5")
def test_no_engines_are_not_the_default_engines(home: Path) -> None:
    assert load_settings(None, {"HOLDFAST_SEARXNG_ENGINES": ""}, home=home)["searxng_engines"] == ""


def test_an_empty_secret_is_none(home: Path) -> None:
    assert load_settings(None, {"HOLDFAST_JWT_SECRET": "", "HOLDFAST_PORT": ""}, home=home)["jwt_secret"] is None


@carries("CONF-5")
def test_the_data_folder_is_named_or_the_users_usual_one(tmp_path: Path) -> None:
    assert home_folder({"HOLDFAST_HOME": str(tmp_path)}) == tmp_path
    assert home_folder({"XDG_DATA_HOME": "/data", "HOME": "/home/anna"}) == Path("/data/holdfast")
    assert home_folder({"HOME": "/home/anna"}) == Path("/home/anna/.local/share/holdfast")
