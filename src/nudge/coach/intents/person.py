"""The person: name, what to remember, settings, and being left in peace."""

from __future__ import annotations

from typing import Final

from nudge.coach.intents.intent import Intent, Rank, intent, way

PERSON: Final[tuple[Intent, ...]] = (
    intent(
        "name?",
        "say what I call you",
        """
            what's my name? · do you know my name · who am I? · what do you call me · what am I called
            do you remember my name · do you know who I am? · you know my name? · say my name · what is my name
            whats my name · do you know what my name is · tell me my name · what name do you have for me
            how do you call me · which name do you use for me · remember my name? · my name? · have you got my name
            do you still know my name · what was my name again
        """,
        way(
            """
            tell|say -|me my name -|again
            what|which name do|did you -|have|use|got|know -|for|of -|me
            how do you call me
            -|do -|you -|still remember|know my name
            my name
            have you got my name
            what was|is my name again
            do you still know -|what|who -|my|i name|am -|is
            do you know what i am called
            what's|whats|what is my name
            do you know|remember -|what|who -|my|i name|am -|is|i -|am
            who am i
            what do you call me
            what am i called
            do you know my name
            you know my name
            say my name
            """,
        ),
        before="call me Sam",
    ),
    intent(
        "know",
        "say what I know about you",
        """
            what do you know about me? · what do you remember · what do you know · what do you remember about me
            what's in your memory · show your memory · your memory · show me your memory
            what have you learned about me · what have you noted about me · what have you remembered
            what have you stored about me · do you remember me · do you remember anything about me
            what do you have on me · tell me what you know about me · what did you note about me · memory
            what's in my file · read me your memory · list what you know · show what you remember about me
        """,
        way(
            """
            what do you know -|so -|far
            what did|have you note|write|learn|store|noted|written -|down -|about me
            what do|did you -|know|remember|have|think -|about|of|on|noted -|me|us
            what's|what is in|on -|your|my memory|file
            -|show|what|list|tell|read -|me -|is|what -|your|my|you|the memory|know|remember -|about -|me
            what have you -|learned|noted|remembered|stored|learnt -|about -|me
            do you remember -|me|anything -|about -|me
            what do you remember -|about -|me
            """,
        ),
    ),
    intent(
        "name",
        "call you by your name",
        """
            call me Sam · my name is Sam · I'm called Sam · you can call me Sam · please call me Sam · my name's Sam
            I go by Sam · the name is Sam · hi, I'm Sam · just call me Sam · hello, I am Sam · people call me Sam
            everyone calls me Sam · change my name to Sam · from now on call me Sam · please address me as Sam
            I'm named Sam · hey there, I'm Sam · this is Sam · btw my name is Sam · I'm Sam · my names Sam
        """,
        way(
            """
            name's|names {name}
            i'm|im {name}
            i am {name}
            call me {called}
            -|you -|can|may|could|should|just call me {name}
            my name's|names {name}
            -|and|so|the|my name is {name}
            my name is {called}
            my name's|names {called}
            i go by {called}
            i'm|im called|named {called}
            i am called|named {called}
            i'm|im called|named {name}
            i am called|named {name}
            i go by {name}
            it's {name} by the way
            people|everyone|friends call|calls me {name}
            hi|hello|hey -|there i'm|im {name}
            hi|hello|hey i am {name}
            this is {name}
            change my name to {name}
            from now on call me {name}
            please address me as {name}
            address me as {name}
            refer to me as {name}
            """,
            fixed={"needs": "name"},
        ),
    ),
    intent(
        "remember",
        "remember something about you",
        """
            remember that I like tea · remember I like tea · please remember that I like tea · note that I like tea
            note: I like tea · keep in mind that I like tea · keep in mind I like tea · please note that I like tea
            can you remember that I like tea? · don't forget that I like tea · write down that I like tea
            make a note that I like tea · make a note: I like tea · note to self: I like tea
            you should know that I like tea · just so you know, I like tea · fyi I like tea
            for your information, I like tea · remember: I like tea · put in your memory that I like tea
            save that I like tea · store that I like tea
        """,
        way(
            """
            note to self -|that {fact}
            remember -|that {fact}
            note -|that {fact}
            keep in mind -|that {fact}
            don't|dont forget that {fact}
            write|put down -|that {fact}
            make a note -|that|of {fact}
            you should know -|that {fact}
            -|just so you know -|that {fact}
            fyi {fact}
            for your information {fact}
            put in|into your memory -|that {fact}
            save|store that {fact}
            """,
        ),
        rank=Rank.NOTE,
    ),
    intent(
        "forget",
        "forget something I remembered about you",
        """
            forget that I like tea · forget I like tea · please forget that I like tea · forget about I like tea
            remove I like tea from your memory · delete I like tea from your memory · erase that I like tea
            erase I like tea from your memory · you can forget that I like tea · take I like tea out of your memory
            drop I like tea from your memory · no longer remember that I like tea · don't remember that I like tea
            stop remembering that I like tea · forget the note I like tea · delete the note that I like tea
            remove the note that I like tea · could you forget that I like tea? · pls forget i like tea
            delete the note I like tea · strike I like tea from your memory
        """,
        way(
            """
            remove|delete|erase|take|drop|strike {fact} from|off|out -|of -|your|the memory
            forget|delete|remove|erase the|that|this note -|that|about {fact}
            forget -|that|about|this {fact}
            erase that {fact}
            no longer remember -|that {fact}
            don't|dont remember -|that {fact}
            stop remembering -|that {fact}
            """,
        ),
        before="remember that I like tea",
        rank=Rank.NOTE,
    ),
    intent(
        "not-about",
        "stay away from a subject",
        """
            don't message me about sleep · don't text me about sleep · don't write to me about sleep
            don't ask me about sleep · don't ping me about sleep · don't nudge me about sleep
            don't talk to me about sleep · don't nag me about sleep · don't bring up sleep
            stop messaging me about sleep · stop asking me about sleep · stop nagging me about sleep
            stop talking about sleep · never message me about sleep · never ask about sleep
            please don't message me about sleep · please stop asking about my sleep · do not message me about sleep
            I don't want to hear about sleep · I don't want to talk about sleep · no messages about sleep please
            no more questions about sleep
        """,
        way(
            """
            don't|dont|never|stop -|ever {saying} me|to|with me {subject}
            don't|dont|never|stop -|ever {saying} -|me {subject}
            do not -|ever {saying} -|to|with -|me {subject}
            quit {saying} -|to|with -|me {subject}
            """,
        ),
        way(
            """
            i don't|dont want|wanna -|to hear|talk|read {subject}
            i do not want to hear|talk|read {subject}
            no -|more messages|questions|nudges|pings {subject}
            not a word {subject}
            """,
            fixed={"saying": "message"},
        ),
        rank=Rank.NOTE,
    ),
    intent(
        "target",
        "set your bedtime, wake time, quiet hours, time zone or review day",
        """
            set my bedtime to 00:30 · my bedtime is 00:30 · change my bedtime to 00:30 · bedtime 00:30
            bedtime should be 00:30 · I want to go to bed at 00:30 · set bedtime to 12:30 am
            set my wake time to 8am · my wake time is 8:00 · I get up at 8am · wake time 8:00
            change my wake time to 7:30am · I want to get up at 8am · set quiet hours to 22:00-08:00
            quiet hours 22:00-08:00 · my quiet hours are 22:00-08:00 · set my time zone to Europe/Berlin
            time zone Europe/Berlin · my timezone is Europe/Berlin · set the weekly review to sunday 18:00
            weekly review sunday 18:00 · change quiet hours to 23:00-07:00
        """,
        way(
            """
            -|set|change|move|make|put -|my|the|our {field} -|to|is|at|are|should|on -|be|at {value}
            """,
        ),
        way(
            """
            i -|want|like|would|plan|have|need|should|must -|like -|to go to bed|sleep at|by {value} -|from -|now -|on
            -|my|the bedtime should|shall|is|will -|now -|be -|at {value} -|from -|now -|on
            """,
            fixed={"field": "bedtime"},
        ),
        way(
            """
            i -|usually|normally|always|want|like|would|plan|have|need -|like -|to get|wake up at {value} \
            -|from -|now -|on
            my day begins|starts at {value}
            """,
            fixed={"field": "wake time"},
        ),
        rank=Rank.NOTE,
    ),
    intent(
        "busy",
        "leave you to it for a while",
        """
            busy · I'm busy · not now · I'm busy right now · focusing · I need to focus · in a meeting · I'm driving
            can't talk now · in a meeting until 5 · busy until 5pm · busy for an hour · busy till tomorrow
            bad time · not a good time · heads down · I'm working, don't disturb · im busy rn · kinda busy atm
            in meetings till 5 · I'm on the phone · let me focus
        """,
    ),
    intent(
        "leave-alone",
        "stay quiet until you write again, or until a time",
        """
            leave me alone · shut up · stop · stop messaging me · stop texting me · go away
            please stop writing to me · leave me in peace · enough · shut up already · ugh leave me alone
            don't write to me anymore · be quiet · quiet please · do not disturb · quiet until 5
            mute for 60 minutes · no more messages today · leave me alone until tomorrow · give me an hour of peace
            don't write before 5pm · no pings for the next hour
        """,
    ),
    intent(
        "back",
        "write as usual again",
        """
            back · I'm back · not busy anymore · I'm free again · meeting is over · you can write again
            ok I'm done with the meeting · unmute · no longer busy · I'm not busy anymore · you can talk again
            I'm available again · the meeting is over · I'm out of the meeting · write to me again
            start messaging me again · quiet off · I have time now · I'm free now · back at my desk
            I'm done with work · meeting's over
        """,
        before="busy",
    ),
)
