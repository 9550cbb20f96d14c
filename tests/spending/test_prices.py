from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import genai_prices
import pytest
from genai_prices.data import providers
from genai_prices.types import ModelPrice, TieredPrices
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import ConfigError, NotConfiguredError, UsageError
from nudge.home.prices import load_prices
from nudge.spending.money import parse_money
from nudge.spending.prices import KINDS, Caching, PriceTable, lay_over
from nudge.tokens import TokenUse, estimate_tokens, token_use

SHIPPED = load_prices()
READ_AT = datetime(2026, 11, 15, tzinfo=UTC)
SMALL = {
    "read": "2026-11-15",
    "models": {
        "claude-opus-5-5": {"family": "opus", "aliases": ["opus"], "input": "4", "output": "20"},
        "claude-sonnet-5-5": {
            "family": "sonnet",
            "aliases": ["sonnet"],
            "input": "2",
            "output": "10",
            "cache_read": "0.1",
            "cache_write": "2.5",
            "cache_write_1h": "4",
        },
        "claude-haiku-5-5": {
            "family": "haiku",
            "input": "0.1",
            "output": "0.5",
            "long_context": {"over": 100_000, "input": "0.5", "output": "2.5"},
        },
    },
}
TABLE = PriceTable.of(SMALL)
tokens = st.integers(0, 2_000_000)
models = st.sampled_from([*SHIPPED.models, "a-model-nobody-knows"])
caching = st.sampled_from(list(Caching))


@pytest.mark.parametrize("name", SHIPPED.models)
def test_the_shipped_prices_are_those_that_genai_prices_knows(name: str) -> None:
    provider = next(provider for provider in providers if provider.id == _provider(name))
    model = provider.find_model(name)
    assert model is not None
    assert model.id == name
    theirs = model.get_prices(READ_AT)
    ours = SHIPPED.models[name]
    for kind in KINDS:
        stated = _stated(theirs, kind)
        base = stated.base if isinstance(stated, TieredPrices) else stated
        assert getattr(ours.base, kind) == parse_money(base), kind
    assert ours.searches == parse_money(theirs.web_searches_kcount or "10")
    # A tier that starts where the context window ends describes calls that can no longer be made.
    tiers = {
        kind: tier
        for kind in KINDS
        for tier in _tiers(theirs, kind)
        if model.context_window is None or tier.start < model.context_window
    }
    assert (ours.long is not None) == bool(tiers)
    for kind, tier in tiers.items():
        assert (ours.over, getattr(ours.long, kind)) == (tier.start, parse_money(tier.price)), kind


def _provider(name: str) -> str:
    return {"claude": "anthropic", "gemini": "google"}.get(name.split("-")[0], "openai")


def _stated(price: ModelPrice, kind: str) -> Any:
    """OpenAI has one price for writes to its cache, and where it has none they cost as much as plain input."""
    stated = getattr(price, f"{kind}_mtok")
    if kind == "cache_write_1h" and stated is None:
        stated = price.cache_write_mtok
    return price.input_mtok if stated is None else stated


def _tiers(price: ModelPrice, kind: str) -> list[Any]:
    stated = _stated(price, kind)
    return stated.tiers if isinstance(stated, TieredPrices) else []


@given(models.filter(SHIPPED.models.__contains__), *[st.integers(0, 90_000)] * 5)
def test_a_call_costs_what_genai_prices_calculates_rounded_up(
    name: str, plain: int, output: int, read: int, write: int, write_1h: int
) -> None:
    if plain + read + write + write_1h > 190_000:  # above, claude-sonnet-4-5 has tiers for calls that are refused now
        return
    if _provider(name) == "openai":  # has no writes for an hour, and no price for others with most models
        write = write_1h = 0
    usage = genai_prices.Usage(
        input_tokens=plain + read + write + write_1h,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=write + write_1h,
        cache_write_1h_tokens=write_1h,
    )
    theirs = genai_prices.calc_price(usage, name, provider_id=_provider(name), genai_request_timestamp=READ_AT)
    exact = Fraction(theirs.total_price) * 1_000_000
    ours = SHIPPED.cost(name, TokenUse(plain, output, read, write, write_1h))
    assert 0 <= ours - exact < 1


def test_the_shipped_table_says_when_it_was_read() -> None:
    assert SHIPPED.read == date(2026, 11, 15)
    for model, family in SHIPPED.families.items():
        assert set(family.split("-")) <= set(model.split("-")), "a model of a family carries its name in the id"
    google = {"gemini-argon", "gemini-pro", "gemini-flash", "gemini-flash-lite"}
    assert set(SHIPPED.families.values()) == {"fable", "opus", "sonnet", "haiku", "gpt", *google}


@pytest.mark.parametrize(
    ("now", "age", "stale"),
    [
        pytest.param((2026, 11, 15), 0, False, id="read today"),
        pytest.param((2026, 11, 1), 0, False, id="a clock that is behind"),
        pytest.param((2027, 2, 13), 90, False, id="exactly 90 days is not stale"),
        pytest.param((2027, 2, 14), 91, True, id="91 days is stale"),
    ],
)
def test_prices_age(now: tuple[int, int, int], age: int, stale: bool) -> None:
    moment = datetime(*now, tzinfo=UTC)
    assert (TABLE.age_days(moment), TABLE.is_stale(moment)) == (age, stale)


def test_a_table_without_a_date_is_stale() -> None:
    undated = PriceTable.of({"models": SMALL["models"]})
    assert (undated.age_days(READ_AT), undated.is_stale(READ_AT)) == (None, True)


@pytest.mark.parametrize(
    ("model", "priced_as"),
    [
        pytest.param("claude-sonnet-5-5", "claude-sonnet-5-5", id="its own id"),
        pytest.param("sonnet", "claude-sonnet-5-5", id="an alias"),
        pytest.param("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", id="an id with a date"),
        pytest.param("claude-haiku-4-5@20251001", "claude-haiku-4-5", id="an id with a date after an at sign"),
        pytest.param("claude-opus-5-2026-10-01", "claude-opus-5", id="an id with a written date"),
        pytest.param("claude-opus-5-latest", "claude-opus-5", id="the latest of an id"),
        pytest.param("claude-opus-5.5-20261001", "claude-opus-5-5", id="an alias with a date"),
        pytest.param("claude-opus-5", "claude-opus-5", id="5 is not 5.5"),
        pytest.param("claude-opus-5-6", None, id="a newer version is not guessed from an older one"),
        pytest.param("anthropic.claude-opus-5-5-v1:0", None, id="another seller's id has another price"),
        pytest.param("", None, id="no id at all"),
    ],
)
def test_an_id_finds_its_price(model: str, priced_as: str | None) -> None:
    quote = SHIPPED.quote(model)
    assert quote.known == (priced_as is not None)
    if priced_as is not None:
        assert quote.priced_as == priced_as
        assert quote.price == SHIPPED.models[priced_as]


@given(st.builds(TokenUse, tokens, tokens, tokens, tokens, tokens))
def test_an_unknown_model_is_never_cheaper_than_a_known_one(use: TokenUse) -> None:
    unknown = SHIPPED.cost("a-model-nobody-knows", use)
    assert unknown >= max(SHIPPED.cost(name, use) for name in SHIPPED.models)
    assert unknown > 0 or use == TokenUse()


@pytest.mark.parametrize(
    ("model", "use", "expected"),
    [
        pytest.param("claude-sonnet-5-5", TokenUse(), 0, id="nothing used"),
        pytest.param("claude-sonnet-5-5", TokenUse(input=1), 2, id="one token of input"),
        pytest.param("claude-sonnet-5-5", TokenUse(cache_read=1), 1, id="a tenth of a micro-dollar rounds up"),
        pytest.param("claude-sonnet-5-5", TokenUse(cache_read=11), 2, id="1.1 micro-dollars round up"),
        pytest.param("claude-sonnet-5-5", TokenUse(cache_read=10), 1, id="1 micro-dollar exactly"),
        pytest.param(
            "claude-sonnet-5-5",
            TokenUse(1_000, 100, 10_000, 200, 50),
            2_000 + 1_000 + 1_000 + 500 + 200,
            id="all kinds",
        ),
        pytest.param("claude-haiku-5-5", TokenUse(100_000, 10), 10_005, id="exactly at the long-context bound"),
        pytest.param(
            "claude-haiku-5-5", TokenUse(100_001, 10), 50_026, id="one token above it, all at the higher rate"
        ),
        pytest.param(
            "claude-haiku-5-5", TokenUse(1, 0, 50_000, 50_000), 25_000 + 31_250 + 1, id="cached tokens make it long too"
        ),
    ],
)
def test_the_cost_of_a_call(model: str, use: TokenUse, expected: int) -> None:
    assert TABLE.cost(model, use) == expected


@pytest.mark.parametrize(
    ("caching", "expected"),
    [
        pytest.param(Caching.NONE, 2_000 + 5_000, id="without caching the input is plain"),
        pytest.param(Caching.SHORT, 2_500 + 5_000, id="with caching all of it may be written"),
        pytest.param(Caching.LONG, 4_000 + 5_000, id="for an hour"),
    ],
)
def test_the_worst_case_counts_cache_writes(caching: Caching, expected: int) -> None:
    assert TABLE.worst_case("sonnet", 1_000, 500, caching) == expected


@given(models, *[st.integers(0, 300_000)] * 5, st.integers(0, 5_000))
def test_no_call_within_its_estimate_costs_more_than_its_worst_case(
    model: str, plain: int, output: int, read: int, write: int, write_1h: int, unused: int
) -> None:
    use = TokenUse(plain, output, read, write, write_1h)
    assert SHIPPED.cost(model, use) <= SHIPPED.worst_case(model, use.prompt, output + unused, Caching.LONG)
    short = TokenUse(plain, output, read, write)
    assert SHIPPED.cost(model, short) <= SHIPPED.worst_case(model, short.prompt, output + unused, Caching.SHORT)


@given(models, st.integers(0, 300_000), st.integers(0, 20_000_000), st.integers(1, 64_000), caching)
def test_the_clamp_is_the_largest_that_fits(
    model: str, input_tokens: int, available: int, at_most: int, how: Caching
) -> None:
    fits = SHIPPED.fit_max_tokens(model, input_tokens, available, at_most=at_most, caching=how)
    assert 0 <= fits <= at_most
    if fits:
        assert SHIPPED.worst_case(model, input_tokens, fits, how) <= available
    if fits < at_most:
        assert SHIPPED.worst_case(model, input_tokens, fits + 1, how) > available


def test_a_free_model_is_not_clamped() -> None:
    free = PriceTable.of({"models": {"offline": {"input": 0, "output": 0}}})
    assert free.fit_max_tokens("offline", 1_000, 0, at_most=500) == 500
    assert free.worst_case("offline", 1_000, 500) == 0


def test_missing_cache_prices_become_the_highest_they_could_be() -> None:
    rates = TABLE.models["claude-opus-5-5"].base
    assert (rates.cache_read, rates.cache_write, rates.cache_write_1h) == (4_000_000, 5_000_000, 8_000_000)


WEIGHTS = {"opus_output": 5, "opus_input": 1, "sonnet_output": 1, "sonnet_input": Decimal("0.2")}


def test_weights_are_multiples_of_what_the_current_sonnet_charges_for_output() -> None:
    weighted = PriceTable.of({**SMALL, "weights": WEIGHTS}).models
    assert (weighted["claude-opus-5-5"].base.output, weighted["claude-opus-5-5"].base.input) == (50_000_000, 10_000_000)
    assert weighted["claude-sonnet-5-5"] == TABLE.models["claude-sonnet-5-5"]
    assert weighted["claude-haiku-5-5"] == TABLE.models["claude-haiku-5-5"]


def test_the_unit_of_weights_can_be_stated_in_dollars() -> None:
    weighted = PriceTable.of({**SMALL, "weights": {**WEIGHTS, "unit": "15.00"}}).models
    sonnet, opus = weighted["claude-sonnet-5-5"].base, weighted["claude-opus-5-5"].base
    assert (sonnet.input, sonnet.output, opus.input, opus.output) == (3_000_000, 15_000_000, 15_000_000, 75_000_000)
    assert (sonnet.cache_read, sonnet.cache_write, sonnet.cache_write_1h) == (150_000, 3_750_000, 6_000_000)


@pytest.mark.parametrize(
    ("weights", "model", "expected"),
    [
        pytest.param({"opus_output": "5x"}, "opus", 50_000_000, id="written with an x"),
        pytest.param({"opus_output": 0.7}, "opus", 7_000_000, id="a float is what was written"),
        pytest.param({"claude-opus-5-5_output": 3, "opus_output": 5}, "opus", 30_000_000, id="the model's own weight"),
        pytest.param({"opus_output": Decimal("0.33333333")}, "opus", 3_333_334, id="rounded up"),
    ],
)
def test_weights_are_read_as_written(weights: dict[str, Any], model: str, expected: int) -> None:
    assert PriceTable.of({**SMALL, "weights": weights}).quote(model).price.base.output == expected


def test_a_weight_moves_the_long_context_price_with_it() -> None:
    haiku = PriceTable.of({**SMALL, "weights": {"haiku_output": Decimal("0.1")}}).models["claude-haiku-5-5"]
    assert haiku.long is not None
    assert (haiku.base.output, haiku.long.output, haiku.long.input) == (1_000_000, 5_000_000, 500_000)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        pytest.param({}, "at least one model", id="empty"),
        pytest.param({"models": {"m": {"input": 1}}}, "both `input` and `output`", id="no output price"),
        pytest.param({"models": {"m": {"input": 1, "output": -1}}}, "not a price", id="negative"),
        pytest.param({"models": {"m": {"input": 1, "output": "dear"}}}, "not a price", id="words"),
        pytest.param({"models": {"m": {"input": 1, "output": float("nan")}}}, "not a price", id="not a number"),
        pytest.param({"models": {"m": {"inptu": 1, "output": 1}}}, "unknown key 'inptu'", id="a misspelt key"),
        pytest.param({"models": {"m": 3}}, "section", id="a number for a model"),
        pytest.param({"modles": {}}, "unknown key 'modles'", id="a misspelt section"),
        pytest.param({**SMALL, "read": "yesterday"}, "not a day", id="a read date in words"),
        pytest.param(
            {"models": {"m": {"input": 1, "output": 1, "long_context": {"input": 1, "output": 1}}}},
            "needs `over`",
            id="a long-context price without its bound",
        ),
        pytest.param(
            {"models": {n: {"input": 1, "output": 1, "aliases": ["x"]} for n in "ab"}},
            "Two models",
            id="one alias, two models",
        ),
        pytest.param({**SMALL, "weights": {"opus": 5}}, "kind of tokens", id="a weight for no kind"),
        pytest.param(
            {**SMALL, "weights": {"gpt_output": 5}}, "not in the price table", id="a weight for an unknown family"
        ),
        pytest.param({**SMALL, "weights": {"opus_output": -1}}, "not a weight", id="a negative weight"),
        pytest.param({**SMALL, "weights": {"opus_output": "heavy"}}, "not a weight", id="a weight in words"),
        pytest.param({**SMALL, "weights": {"unit": "x", "opus_output": 1}}, "unit", id="a unit in words"),
        pytest.param(
            {"models": {"m": {"input": 1, "output": 1}}, "weights": {"m_output": 1}},
            "need a unit",
            id="no unit to be had",
        ),
    ],
)
def test_a_broken_table_says_what_is_wrong(table: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        PriceTable.of(table)


def test_the_usage_of_a_reply_is_priced_as_it_came() -> None:
    usage = {"input_tokens": 1_000, "output_tokens": 180}
    assert SHIPPED.cost("claude-sonnet-5-5", usage) == SHIPPED.cost("claude-sonnet-5-5", TokenUse(1_000, 180)) == 3_800


def test_an_overlay_changes_single_numbers_and_adds_models() -> None:
    overlay = {"models": {"claude-opus-5-5": {"output": 30}, "offline": {"input": 0, "output": 0}}}
    table = PriceTable.of(lay_over(SMALL, overlay))
    assert table.models["claude-opus-5-5"].base.output == 30_000_000
    assert table.models["claude-opus-5-5"].base.input == 4_000_000
    assert table.quote("offline").known
    assert table.read == date(2026, 11, 15)
    assert PriceTable.of(lay_over(SMALL, {"read": "2027-01-01"})).read == date(2027, 1, 1)


def test_the_home_is_laid_over_the_shipped_table_and_a_named_file_over_both(tmp_path: Path) -> None:
    home, named = tmp_path / ".nudge", tmp_path / "mine.toml"
    home.mkdir()
    assert load_prices(home) == SHIPPED
    (home / "prices.toml").write_text("[models.claude-opus-5-5]\noutput = 0.1\ninput = 0.3\n")
    named.write_text("read = 2026-12-01\n[models.claude-opus-5-5]\noutput = 0.2\n[weights]\nsonnet_output = 2\n")
    table = load_prices(home, named)
    assert (table.models["claude-opus-5-5"].base.output, table.models["claude-opus-5-5"].base.input) == (
        200_000,
        300_000,
    )
    assert table.models["claude-sonnet-5-5"].base.output == 20_000_000
    assert table.read == date(2026, 12, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("[models", "not valid TOML", id="not TOML"),
        pytest.param("[models.m]\ninput = 1\n", "set both", id="half a price"),
        pytest.param("models = 3", "models must be a section", id="a number for all models"),
        pytest.param("[models]\nopus = 3", "opus must be a section", id="a number for a model"),
        pytest.param("weights = 5", "weights must be a section", id="a number for the weights"),
        pytest.param(
            '[models.m]\ninput = 1\noutput = 1\naliases = "proxy"', "must be a list", id="an alias without a list"
        ),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=rf"mine\.toml: .*{says}"):
        load_prices(override=path)


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotConfiguredError, match=r"gone\.toml"):
        load_prices(tmp_path, tmp_path / "gone.toml")


def test_the_shipped_file_states_every_kind_of_token() -> None:
    text = resources.files("nudge").joinpath("spending", "prices.toml").read_text()
    for name, model in tomllib.loads(text)["models"].items():
        assert set(KINDS) <= set(model), name


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(TokenUse(1, 2), TokenUse(1, 2), id="our own"),
        pytest.param({"input": 1, "output": 2, "cache_write": 4}, TokenUse(1, 2, 0, 4), id="our own as JSON"),
        pytest.param({"input_tokens": 0, "output_tokens": 0}, TokenUse(), id="a zero that was said is zero"),
        pytest.param(SimpleNamespace(input_tokens=1, output_tokens=2), TokenUse(1, 2), id="an object without a cache"),
        pytest.param(
            SimpleNamespace(
                input_tokens=1,
                output_tokens=2,
                cache_read_input_tokens=3,
                cache_creation_input_tokens=9,
                cache_creation=SimpleNamespace(ephemeral_5m_input_tokens=5, ephemeral_1h_input_tokens=4),
            ),
            TokenUse(1, 2, 3, 5, 4),
            id="an Anthropic reply's, with writes for an hour",
        ),
        pytest.param(
            {"input_tokens": 1, "output_tokens": 2, "cache_creation": {"ephemeral_1h_input_tokens": 4}},
            TokenUse(1, 2, 0, 0, 4),
            id="JSON that states only the parts",
        ),
        pytest.param(
            {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": None, "cache_creation": None},
            TokenUse(1, 2),
            id="nothing cached",
        ),
        pytest.param(
            {"input_tokens": 1, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 7}},
            TokenUse(1, 9, reasoning=7),
            id="an Anthropic reply's that thought",
        ),
        pytest.param(
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 15,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            TokenUse(6, 5, 4, reasoning=3),
            id="a chat completion's",
        ),
        pytest.param(
            SimpleNamespace(prompt_tokens=10, completion_tokens=5, prompt_tokens_details=None),
            TokenUse(10, 5),
            id="a local server's chat completion",
        ),
        pytest.param(
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 18,
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            TokenUse(10, 8, reasoning=3),
            id="a chat completion's that counts reasoning beside the output",
        ),
        pytest.param(
            SimpleNamespace(
                input_tokens=10,
                output_tokens=5,
                input_tokens_details=SimpleNamespace(cached_tokens=4),
                output_tokens_details=SimpleNamespace(reasoning_tokens=3),
            ),
            TokenUse(6, 5, 4, reasoning=3),
            id="an OpenAI response's",
        ),
    ],
)
def test_a_usage_is_read_in_the_form_it_comes(usage: object, expected: TokenUse) -> None:
    assert token_use(usage) == expected


@pytest.mark.parametrize(
    "usage",
    [
        None,
        17,
        {},
        {"input_tokens": 5},
        {"prompt_tokens": 5},
        {"output_tokens": 5},
        {"input_tokens": 5, "output_tokens": None},
        {"input_tokens": "5", "output_tokens": 1},
        {"input": -1, "output": 0},
        {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 6}},
    ],
)
def test_a_usage_that_cannot_be_read_is_refused_rather_than_free(usage: object) -> None:
    with pytest.raises(UsageError):
        token_use(usage)


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_an_estimate_is_a_token_for_every_four_characters_begun(text: str, expected: int) -> None:
    assert estimate_tokens(text) == expected


def test_a_month_of_the_coach_stays_within_ten_dollars() -> None:
    heartbeats = 30 * 32 * SHIPPED.cost("haiku", TokenUse(input=2_100, output=150))
    conversations = 30 * 10 * SHIPPED.cost("sonnet", TokenUse(input=4_500, output=300))
    briefings = 30 * 4 * SHIPPED.cost("sonnet", TokenUse(input=4_500, output=300))
    assert heartbeats + conversations + briefings < parse_money("$10")
