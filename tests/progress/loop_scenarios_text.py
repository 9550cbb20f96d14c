"""What the agent says: messages without an action, and the stream of its own words."""

from __future__ import annotations

from tests.progress.loop_steps import Person, Says, Scenario, Streams, pieces, read, rounds

MESSAGES = [
    Scenario(
        "The agent says the same three times and does nothing", [Says("I will now write the schema.")] * 3, (3, 3)
    ),
    Scenario(
        "The agent says the same with other spaces and capitals",
        [Says("I will now write it."), Says("I will  now write it.\n"), Says("i will now write it.")],
        (3, 3),
    ),
    Scenario(
        "The agent says the same at another time of day",
        [Says(f"At {hour}:00:00 I will write the schema.") for hour in ("10", "11", "12")],
        (3, 3),
    ),
    Scenario(
        "The agent says the same in another order and with other small words",
        [Says("I will now write the schema."), Says("Now I'll write the schema."), Says("Let me write the schema.")],
        (3, 3),
    ),
    Scenario(
        "The agent announces the same plan in ever other words",
        [
            Says("My plan is to read the configuration and to mend the port."),
            Says("Plan:\n1. Open the settings\n2. Correct the port"),
            Says("I'll first look at the file with the settings."),
            Says("Let me start with the port, then."),
        ],
        (4, 4),
    ),
    Scenario(
        "The agent announces something new before each action",
        rounds(8, lambda r: [Says(f"Next I will read file {r}."), read(f"{r}", f"text {r}")]),
    ),
    Scenario(
        "The agent only writes: one verdict after the other",
        [
            Says(f"Review {n}: the tone is {tone}.")
            for n, tone in enumerate(("warm", "cold", "warm", "cold", "warm", "cold"))
        ],
    ),
    Scenario(
        "The agent only writes: a story in parts",
        [
            Says(part)
            for part in (
                "The hero leaves home at dawn and meets a fox.",
                "The fox leads her to the river, where a boat waits.",
                "They cross it and find the old mill abandoned.",
                "Inside, a letter explains everything.",
                "She goes home.",
            )
        ],
    ),
    Scenario(
        "The agent goes back and forth between two announcements",
        [Says("First the schema."), Says("No, first the env file.")] * 3,
        (5, 6),
    ),
    Scenario("The agent answers with nothing three times", [Says("")] * 3, (3, 3)),
    Scenario("The agent says three different things", [Says("One."), Says("Two."), Says("Three."), Says("Four.")]),
    Scenario(
        "The agent says the same before each of many different calls",
        rounds(8, lambda r: [Says("Let me continue."), read(f"{r}", f"text {r}")]),
    ),
    Scenario(
        "The agent greets the person the same way in each conversation",
        rounds(6, lambda r: [Person("hello"), Says("Hello! What shall we do?")]),
    ),
]

CHANT = "I will write the schema to the file. Actually, wait, I need the table first. "
PROSE = (
    "The reader opens the file, counts its lines and hands them on. When a line is too long it is cut, and the cut is "
    "marked so that nobody takes it for the whole. A second pass looks for headings; what stands before the first one "
    "is the preface. Tests cover the empty file, the file without a newline at its end, and one with a million lines. "
    "What remains open is how the reader should treat a byte order mark, because two tools disagree about it. "
)

OUTPUT = [
    Scenario("Two sentences are repeated in the stream", pieces(CHANT * 8, 40), (6, 16)),
    Scenario("The stream arrives letter by letter and repeats itself", pieces(CHANT * 6, 1), (230, 420)),
    Scenario("Words without an end of a sentence are repeated", pieces("please wait for it " * 30, 19), (4, 15)),
    Scenario("A whole paragraph is repeated", [Streams(PROSE)] * 5, (3, 5)),
    Scenario(
        "A paragraph with the same list in it is repeated",
        [
            Streams(
                "Here is what I am going to do next in this file:\n\n- read it\n- edit it\n\n"
                "Let me begin with the first one now.\n\n"
            )
        ]
        * 6,
        (3, 6),
    ),
    Scenario("Long prose that never repeats", pieces(PROSE, 7)),
    Scenario(
        "Repetitive code inside a fence",
        [
            Streams("Here it is:\n\n```python\n"),
            *[Streams("assert check(value) is True\n")] * 40,
            Streams("```\nThat was it.\n"),
        ],
    ),
    Scenario(
        "The marks of the fence are cut in two by the stream",
        [
            Streams("So:\n\n`"),
            Streams("``js\n"),
            *[Streams("push(item);\n")] * 40,
            Streams("`"),
            Streams("``\nDone.\n"),
        ],
    ),
    Scenario(
        "After a closed fence the words begin to repeat",
        [Streams("```\nx = 1\n```\n"), *[Streams("Now I will look at the file again and see. ")] * 8],
        (4, 7),
    ),
    Scenario(
        "A list of equal items", [Streams("Checks:\n\n"), *[Streams("- [x] the test passes on this machine\n")] * 25]
    ),
    Scenario(
        "A numbered list of equal items", [Streams(f"{n}. the test passes on this machine\n") for n in range(1, 26)]
    ),
    Scenario(
        "A table with equal rows",
        [Streams("| case | state |\n|---|---|\n"), *[Streams("| login works | passed |\n")] * 25],
    ),
    Scenario(
        "Lines with a long common beginning",
        [Streams(f"projects/example-project-12345/locations/europe-west1/services/service-{n}\n") for n in range(30)],
    ),
    Scenario(
        "A long rule of dashes and a box",
        [Streams("-" * 200 + "\n"), Streams("╭" + "─" * 150 + "╮\n"), *[Streams("- - - - - - - -\n")] * 20],
    ),
    Scenario("Somebody wanted to see the numbers up to three hundred", [Streams(f"{n}, ") for n in range(1, 301)]),
    Scenario("Placeholders of a statement", [Streams("INSERT INTO t VALUES "), *[Streams("(?, ?, ?), ")] * 60]),
    Scenario(
        "Sections that all begin with the same words and go on differently",
        rounds(
            10, lambda r: [Streams(f"### Call {r}\n\nHere is an example of how to use it:\n\n```\ncall({r})\n```\n\n")]
        ),
    ),
    Scenario(
        "A song with a refrain",
        rounds(
            4,
            lambda r: [
                Streams(f"Verse {r} tells of {('rain', 'snow', 'wind', 'sun')[r - 1]} and goes its own way.\n"),
                Streams("Oh row the boat, row it home.\n"),
            ],
        ),
    ),
    Scenario("A word for emphasis", [Streams("No, no, no, no. That is not it. We really, really, really want it.")]),
    Scenario(
        "The same short sentence before each call",
        rounds(
            9,
            lambda r: [
                Streams("Let me look at the next file in the list and then decide. "),
                read(f"{r}", f"text {r}"),
            ],
        ),
    ),
]
