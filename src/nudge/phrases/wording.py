"""Ways to say something, as rows of words.

    read_row("move|shift -|the {what} to {when}")

A part is one word of several (`move|shift`), a word that may be missing (`-|the`), or a slot that takes one word or
more (`{what}`). Case, punctuation, curly apostrophes and emoji count for nothing. One word of a row may be one slip of
the keyboard away, unless what was typed is a word of its own. `content` says what words are about, whatever their form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Generic, TypeVar

from nudge.phrases.asking import words_of
from nudge.text import one_slip

MOST_WORDS: Final = 60
_SHORTEST_SLIP: Final = 4
"""Letters of a word that may be misspelt on its own; shorter ones only in a longer row."""
_REMEMBERED: Final = 2_000

_OWN_WORDS: Final = frozenset(
    (
        "dad", "mad", "too", "two", "god", "bed", "bus", "car", "dog", "egg", "eggs", "eye", "gym", "ice", "key",
        "kid", "kids", "lab", "leg", "mum", "mom", "oil", "pan", "pen", "pet", "pill", "pot", "sis", "tax", "tea",
        "van", "vet", "bag", "bar", "bath", "beer", "nope", "forgot", "bin", "bins", "boat", "body", "bowl",
        "bread", "cake", "card", "cards", "cash", "chat", "coat", "cold", "desk", "diet", "dish", "duty", "face",
        "farm", "film", "fire", "fish", "flat", "game", "gift", "hair", "half", "hall", "hand", "head", "help", "hour",
        "idea", "jobs", "lamp", "land", "life", "lunch", "meal", "meat", "milk", "nap", "neck", "nail", "park", "plan",
        "plant", "pool", "rent", "rice", "sand", "seen", "shirt", "sick", "sleep", "soup", "swim", "team", "towel",
        "town", "train", "trash", "tyre", "vote", "wage", "walks", "watch", "water", "wifi", "yard", "year", "yoga",
        "ahead", "alive", "alone", "aloud", "around", "ate", "bad", "bake", "ball", "band", "bare", "bark", "base",
        "beak", "bend", "bet", "bid", "bit", "black", "bone", "book", "born", "both", "bud", "bug", "bush", "bust",
        "but", "bye", "call", "came", "can", "cane", "care", "case", "cat", "clean", "code", "come", "cool", "cope",
        "core", "cost", "could", "cut", "date", "day", "deal", "dear", "debug", "did", "dine", "dome", "don", "door",
        "dose", "down", "dream", "drip", "drop", "dry", "dune", "each", "end", "even", "fair", "fast", "fee", "feel",
        "feet", "few", "fill", "find", "fit", "fix", "food", "foot", "for", "form", "fret", "from", "full", "fun",
        "gate", "get", "girl", "give", "goes", "gold", "gone", "got", "had", "hat", "hate", "have", "heal", "heap",
        "hear", "heat", "held", "hell", "hen", "here", "him", "his", "hit", "hold", "hole", "home", "hope", "horse",
        "hot", "house", "how", "huge", "hurt", "is", "it", "job", "keep", "kelp", "kick", "kin", "king", "knee",
        "lack", "lane", "last", "late", "lately", "latter", "leap", "lease", "left", "less", "let", "letter", "lift",
        "like", "line", "lint", "lion", "list", "live", "lone", "long", "look", "loose", "lose", "lot", "loud",
        "love", "made", "mail", "main", "make", "man", "many", "mat", "may", "meant", "meet", "men", "mind", "mine",
        "miss", "mode", "mood", "moon", "more", "most", "mouse", "move", "much", "must", "mute", "name", "near",
        "neat", "need", "new", "news", "nine", "none", "nose", "not", "note", "now", "off", "old", "one", "open",
        "our", "out", "over", "own", "pack", "page", "pain", "part", "past", "pay", "peace", "piece", "pin", "pint",
        "place", "plane", "play", "pose", "post", "quit", "quite", "race", "rack", "rain", "rate", "read", "real",
        "rest", "right", "ring", "road", "role", "room", "rose", "run", "sad", "safe", "said", "sale", "same", "sat",
        "saw", "say", "scan", "sea", "seal", "seat", "see", "seed", "sell", "send", "sent", "set", "shed", "ship",
        "shoe", "shop", "short", "shot", "should", "show", "shy", "side", "sing", "sit", "site", "size", "skin",
        "skip", "sky", "slow", "snow", "soap", "sock", "some", "son", "song", "soon", "sore", "sort", "spend", "spot",
        "star", "stay", "steal", "step", "still", "stop", "store", "story", "such", "sun", "sure", "tack", "take",
        "tale", "talk", "tall", "task", "tell", "ten", "test", "text", "than", "thank", "that", "them", "then",
        "there", "these", "they", "thin", "thing", "think", "this", "those", "time", "tip", "tired", "tone", "took",
        "top", "toy", "tree", "tried", "trip", "try", "tune", "turn", "two", "undid", "use", "user", "very", "view",
        "wait", "wake", "walk", "wall", "want", "ward", "warm", "was", "wash", "way", "ways", "weak", "wear", "week",
        "well", "went", "were", "what", "wheat", "wheel", "when", "where", "while", "white", "who", "whole", "whose",
        "why", "wide", "wife", "will", "win", "wine", "wish", "with", "woke", "won", "wood", "word", "work", "world",
        "worse", "would", "write", "wrote", "yes", "yet", "you", "your",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """One place of a row: the words that may stand there, or the name of a slot."""

    words: frozenset[str] = frozenset()
    slot: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """`needs` are the words without which it cannot fit."""

    parts: tuple[Part, ...]
    needs: tuple[frozenset[str], ...]


_TOGETHER: Final[dict[str, tuple[str, ...]]] = {
    f"{word}{mark}{end}": (word, full)
    for words, end, full in (
        ("what who when where how it that there here name time he she", "s", "is"),
        ("i", "m", "am"),
        ("i we you they", "ve", "have"),
        ("i you we", "ll", "will"),
        ("i you", "d", "would"),
        ("you we they", "re", "are"),
        ("let", "s", "us"),
    )
    for word in words.split()
    for mark in ("'", "")
    if mark or f"{word}{end}" not in ("its", "heres", "ill", "id", "well", "were", "hes", "shes", "names", "times")
}
_SHORT: Final[dict[str, tuple[str, ...]]] = {
    **_TOGETHER,
    "gimme": ("give", "me"),
    "lemme": ("let", "me"),
    "gotta": ("got", "to"),
    "wanna": ("want", "to"),
    "u": ("you",),
    "ur": ("your",),
    "dont": ("don't",),
    "cant": ("can't",),
    "couldnt": ("couldn't",),
    "shouldnt": ("shouldn't",),
    "arent": ("aren't",),
    "wasnt": ("wasn't",),
    "hasnt": ("hasn't",),
    "didnt": ("didn't",),
    "doesnt": ("doesn't",),
    "isnt": ("isn't",),
    "havent": ("haven't",),
    "wont": ("won't",),
}
"""What is written together or cut short, as the words it is."""


@cache
def read_row(spec: str) -> Row:
    parts: list[Part] = []
    for one in spec.split():
        if one.startswith("{"):
            parts.append(Part(slot=one[1:-1]))
            continue
        optional, words = "-" in one.split("|"), [word for word in one.split("|") if word != "-"]
        plain = frozenset(word for word in words if word not in _SHORT)
        pair: tuple[frozenset[str], ...] = (plain,) if plain else tuple(frozenset((word,)) for word in _SHORT[words[0]])
        parts += [Part(part, optional=optional) for part in pair]
    return Row(tuple(parts), tuple(part.words for part in parts if not part.slot and not part.optional))


@dataclass(frozen=True, slots=True)
class Matched:
    """`slots` are the words that stood in them, as they were typed; `slip` is what was misspelt and what it was for."""

    slots: dict[str, str]
    slip: tuple[str, str] | None = None


_DRAWN_OUT: Final = re.compile(r"([a-z])\1{2,}")
"""Letters held down: "heyyy", "sooo"."""
_POLITE_END: Final = re.compile(r"[\s,]+(?:please|pls|plz|thanks|thx|ty|thank you)$", re.IGNORECASE)


class Sentence:
    """A message as words, with where they stand in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = [
            (part, word.start, word.end)
            for word in words_of(text)
            for part in _SHORT.get(word.text, (_DRAWN_OUT.sub(r"\1", word.text),))
        ]
        self._spans = [(start, end) for _, start, end in found[:MOST_WORDS]]
        self.words = [word for word, _, _ in found[:MOST_WORDS]]
        self.vocabulary = frozenset(self.words)
        self.cut = len(found) > MOST_WORDS

    def __len__(self) -> int:
        return len(self.words)

    def span(self, start: int, end: int) -> str:
        """The text from one word up to another, as it was typed."""
        if start >= end:
            return ""
        said = self.text[self._spans[start][0] : self._spans[end - 1][1]].strip(' ,;:.!?"“”')
        return _POLITE_END.sub("", said) if end == len(self) else said


T = TypeVar("T")


class Table(Generic[T]):
    """Rows, each with what it means; the first that fits is read first."""

    def __init__(self, rows: Iterable[tuple[T, str]]) -> None:
        self._rows = [(meaning, read_row(spec)) for meaning, spec in rows]
        self._words = frozenset(word for _, row in self._rows for part in row.parts for word in part.words)
        self._needing: dict[str, list[int]] = {}  # rows by one of the words that they cannot do without
        self._needless: list[int] = []
        for number, (_, row) in enumerate(self._rows):
            for word in min(row.needs, key=len, default=()):
                self._needing.setdefault(word, []).append(number)
            if not row.needs:
                self._needless.append(number)
        self._of_length: dict[int, list[str]] = {}
        for word in self._words:
            self._of_length.setdefault(len(word), []).append(word)
        self._slips = lru_cache(maxsize=_REMEMBERED)(self._near)

    def read(self, text: str) -> Iterator[tuple[T, Matched]]:
        """The ways to read a message: as it stands, then without the politeness around it, then with one slip."""
        sentence = Sentence(text)
        if sentence.cut:
            return
        spans = cores(sentence)
        possible = list(self._possible(sentence.vocabulary))
        for some in (spans[:1], spans[1:]):
            for meaning, row in possible:
                yield from ((meaning, found) for found in _matches(sentence, row, some, {}))
        slips = {word: near for word in sentence.vocabulary if (near := self._slips(word))}
        if slips:
            for meaning, row in self._possible(sentence.vocabulary.union(*slips.values())):
                yield from ((meaning, found) for found in _matches(sentence, row, spans, slips))

    def _possible(self, vocabulary: frozenset[str]) -> Iterator[tuple[T, Row]]:
        """The rows that lack none of the words they need, in order: a quick look before the exact one."""
        numbers = {*self._needless, *(number for word in vocabulary for number in self._needing.get(word, ()))}
        for number in sorted(numbers):
            meaning, row = self._rows[number]
            if not any(needed.isdisjoint(vocabulary) for needed in row.needs):
                yield meaning, row

    def exact(self, text: str) -> T | None:
        """The meaning of a row without slots that takes the whole message, letter by letter."""
        sentence = Sentence(text)
        whole = [(0, len(sentence))]
        for meaning, row in self._possible(sentence.vocabulary):
            fits = not any(part.slot for part in row.parts)
            if fits and next(_matches(sentence, row, whole, {}), None) is not None:
                return meaning
        return None

    def _near(self, typed: str) -> frozenset[str]:
        """The words of the table that this may be a slip of."""
        if typed in self._words or typed in _OWN_WORDS or not typed.isalpha():
            return frozenset()
        lengths = range(max(3, len(typed) - 1), len(typed) + 2)
        words = (word for length in lengths for word in self._of_length.get(length, ()))
        return frozenset(word for word in words if one_slip(typed, word))


def is_own_word(typed: str) -> bool:
    """Whether it is a word that is never taken for a slip, nor for a name."""
    return typed in _OWN_WORDS


_Slips = Mapping[str, frozenset[str]]


def _matches(sentence: Sentence, row: Row, spans: Sequence[tuple[int, int]], slips: _Slips) -> Iterator[Matched]:
    """The ways in which the row takes all words of one of the spans, with exactly one slip where there may be one.
    Slots are short first."""
    for start, end in spans:
        for slots, slip in _ways(sentence.words, start, end, row.parts, 0, slips):
            yield Matched({name: sentence.span(*span) for name, span in slots.items()}, slip)


def prefix(sentence: Sentence, rows: Sequence[Row], start: int = 0) -> int:
    """How many words from `start` on the longest of the rows takes; 0 if none fits. Rows here have no slots."""
    best = 0
    for row in rows:
        for length in range(min(len(sentence) - start, len(row.parts)), best, -1):
            if next(_ways(sentence.words, start, start + length, row.parts, 0, {}), None) is not None:
                best = length
                break
    return best


def suffix(sentence: Sentence, rows: Sequence[Row], end: int) -> int:
    """How many words before `end` the longest of the rows takes."""
    best = 0
    for row in rows:
        for length in range(min(end, len(row.parts)), best, -1):
            if next(_ways(sentence.words, end - length, end, row.parts, 0, {}), None) is not None:
                best = length
                break
    return best


_Slots = dict[str, tuple[int, int]]
_Slip = tuple[str, str] | None


def _ways(
    words: Sequence[str], at: int, end: int, row: tuple[Part, ...], part: int, slips: _Slips
) -> Iterator[tuple[_Slots, _Slip]]:
    if part == len(row):
        if at == end and not slips:
            yield {}, None
        return
    place = row[part]
    if place.slot:
        for stop in range(at + 1, end + 1):
            for slots, slip in _ways(words, stop, end, row, part + 1, slips):
                yield {place.slot: (at, stop), **slots}, slip
        return
    if at < end:
        if words[at] in place.words:
            yield from _ways(words, at + 1, end, row, part + 1, slips)
        elif slips and (meant := slips.get(words[at], _NONE) & place.words):
            word = min(meant)
            if len(word) >= (3 if len(row) > 2 else _SHORTEST_SLIP):
                for slots, _ in _ways(words, at + 1, end, row, part + 1, {}):
                    yield slots, (words[at], word)
    if place.optional:
        yield from _ways(words, at, end, row, part + 1, slips)


_NONE: Final[frozenset[str]] = frozenset()


_BEFORE: Final = tuple(
    read_row(one)
    for one in (
        " "
        "hey|hi|hello|yo|ok|okay|so|also|oh|well|and|then|coach|nudge|just|kindly|alright|right|please|pls|plz|sorry|oops|now|yes|yeah|yep|hm|hmm|um|uh|ah|btw|ugh|honestly|anyway|omg|listen|gosh",
        "can|could|would|will|can't|couldn't you|u",
        "can|could|may|shall|should we|i",
        "would you mind",
        "do you mind",
        "i want|need|would|wish|like you|u to",
        "i'd|id like|love -|you to",
        "i would like|love -|you to",
        "i want|need to",
        "you should|must|could|can|may",
        "let's|lets",
        "let us",
        "no worries",
        "go ahead and",
    )
)
_AFTER: Final = tuple(
    read_row(one)
    for one in (
        "please|pls|plz|thanks|thx|ty|cheers|now|coach|nudge|then|ok|okay|again|sorry|today|mate|man|dude|will|anymore|already|yay|lol|tho|though|btw|rn|atm",
        "thank you",
        "right now",
        "for me",
        "if you can|could|would",
        "thanks a lot",
        "thank you so|very much",
        "at the moment",
        "for now",
        "would you",
    )
)
_MOST_POLITE: Final = 4


def cores(sentence: Sentence) -> list[tuple[int, int]]:
    """Where the message itself may begin and end, without politeness around it; the whole of it first."""
    starts, ends = [0], [len(sentence)]
    for _ in range(_MOST_POLITE):
        count = prefix(sentence, _BEFORE, starts[-1])
        if not count or starts[-1] + count >= len(sentence):
            break
        starts.append(starts[-1] + count)
    for _ in range(_MOST_POLITE):
        count = suffix(sentence, _AFTER, ends[-1])
        if not count or ends[-1] - count <= starts[-1]:
            break
        ends.append(ends[-1] - count)
    return [(start, end) for start in starts for end in ends if end > start]


_SAYS_LITTLE: Final = frozenset(
    (
        "a", "an", "the", "to", "of", "in", "on", "at", "by", "for", "and", "or", "my", "me", "your", "you", "i",
        "it", "is", "are", "be", "with", "from", "this", "that", "about", "one", "reminder", "reminders", "alarm",
        "thing", "any", "more", "task", "number", "today", "please", "up", "out", "again", "anymore", "already",
        "just", "finally", "now",
    )
)  # fmt: skip
_IRREGULAR: Final = {
    "wrote": "write", "written": "write", "bought": "buy", "sent": "send", "paid": "pay", "ran": "run", "took": "take",
    "taken": "take", "made": "make", "went": "go", "gone": "go", "fed": "feed", "met": "meet", "got": "get",
    "gave": "give", "told": "tell", "swam": "swim", "ate": "eat", "eaten": "eat", "drank": "drink", "slept": "sleep",
    "brought": "bring", "built": "build", "rang": "call", "drove": "drive", "swept": "sweep", "did": "do",
    "read": "read", "put": "put", "cut": "cut", "spoke": "speak", "saw": "see", "sold": "sell", "wore": "wear",
}  # fmt: skip


_SAME: Final = {
    "get": "buy",
    "grab": "buy",
    "fetch": "buy",
    "ring": "call",
    "phone": "call",
    "telephone": "call",
    "mom": "mum",
    "mummy": "mum",
    "mother": "mum",
}
"""Other words for the same."""


@lru_cache(maxsize=10_000)  # bounded: there is always a new word
def stem(word: str) -> str:
    """One stem for "book", "booked", "booking" and "books"."""
    word = _IRREGULAR.get(word, word).removesuffix("'s")
    word = _SAME.get(word, word)
    for ending in ("ching", "ing", "ied", "ed", "ies", "es", "s", "e", "y"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            word = word[: -len(ending)] + ("ch" if ending == "ching" else "")
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def content(words: str) -> frozenset[str]:
    """The stems of the words that say what something is about."""
    found = re.findall(r"[\w']+", words.casefold().replace("’", "'"))
    return frozenset(stem(word) for word in found if word not in _SAYS_LITTLE)


def is_past(word: str) -> bool:
    """Whether it says that something was done: "wrote", "booked"."""
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 4)
