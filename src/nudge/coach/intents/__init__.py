"""What people want from the coach, in their own words: one table of intents, read without a model.

    reminders, agenda, lists, itself, person, talk    the intents: what each does, examples, rows of words
    intent       what an intent is
    table        all of them, in the order in which they are read, and the help they give
    reading      which intent a message means, and what it is about

To add one: an entry in the file it belongs to, with at least twenty examples, and what it does in
`nudge.coach.wishes` (with the store) or `nudge.coach.answers` (without). The examples are its tests, and its help.
"""
