"""Questions about the time, and about the times the person keeps."""

from __future__ import annotations

from typing import Final

from nudge.coach.intents.intent import Intent, intent, way

CLOCK: Final[tuple[Intent, ...]] = (
    intent(
        "date-of",
        "say which day a date is",
        """
            what day is it tomorrow? · what day is tomorrow · what date is tomorrow · what's the date tomorrow
            what day is the 24th · what day is march 2 · what date is friday · what's the date on friday
            what date is next monday · which day is march 2 · what weekday is march 2 · what day is christmas
            what day is it in 3 days · what date is it in two weeks · what's the date next friday
            what is the date tomorrow · whats the date tomorrow · what day will it be tomorrow
            what day is it on the 24th · which date is next friday · what date is sunday
        """,
        way(
            """
            what|which day|date|weekday is|will -|it -|be -|on {when}
            what's|whats|what is the date|day -|on {when}
            """,
            fixed={"needs": "day"},
        ),
    ),
    intent(
        "time",
        "say what time it is",
        """
            what time is it? · what's the time · do you know what time it is · time? · time please
            what's the time now · what time is it now · what time is it right now · tell me the time · current time
            got the time? · have you got the time? · what's the current time · what time do you have
            what time do we have · how late is it · do you have the time · do you know the time
            could you tell me the time · what is the time · whats the time
        """,
        way(
            """
            have|do you got|have the time
            what time is it -|now|right -|now
            """,
        ),
        way(
            """
            time
            what's|whats|what is the time -|now|right|in -|now
            what time is it -|now|right|there|here|in|where|for -|now|here|there|you|me|i -|am|are
            do you know|have -|what -|the time -|it -|is|it
            tell me the time
            current time
            got the time
            what's the current time
            what time do you|we have
            how late is it
            """,
        ),
    ),
    intent(
        "day",
        "say what day it is",
        """
            what day is it? · what's today's date? · what day is it today · what day of the week is it
            which day is it · what's the date · what's the date today · today's date · date · what date is it
            what date is it today · what date is today · is it the weekend? · is it a weekday · is it wednesday?
            what weekday is it · what is today · what month is it · what year is it · what day is today
            which day is today
        """,
        way(
            """
            is it -|the|a weekday|weekend
            is it -|a monday|tuesday|wednesday|thursday|friday|saturday|sunday -|today
            is today -|a monday|tuesday|wednesday|thursday|friday|saturday|sunday
            what|which day -|of -|the -|week is -|it -|today
            what's|whats|what is the|today's date|day -|today|of|is -|today|it
            -|the|today's date
            what date is -|it|today -|today
            which day -|is -|it|today
            is it -|a weekday|weekend
            what weekday is -|it|today
            day
            what is today
            what month is it
            what year is it
            what week is it
            """,
        ),
    ),
    intent(
        "bedtime",
        "say when your bedtime is",
        """
            what's my bedtime? · when should I go to bed? · when do I go to sleep · when's my bedtime · my bedtime
            bedtime? · what time should I go to bed · what time should I be in bed · when should I be in bed
            when should I sleep · when am I supposed to go to bed · when do I have to go to bed
            what time is my bedtime · what time is bedtime · when is bedtime · when is lights out
            how late can I stay up · how late should I stay up · when should I go to bed tonight
            what's my bedtime tonight · when do I need to be in bed
        """,
        way(
            """
            -|what's|whats|what|when is|'s -|is|are -|my|the bedtime|bedtimes|bed-time|bed -|time|target|today|tonight
            when|what -|time should|do|must|am|is|will|did i -|supposed|meant|want|have|need|going -|to \
            -|go|be|get|say -|to|in bed|sleep|bedtime -|tonight|today|by
            -|my bedtime
            what time is -|my bedtime -|tonight
            what's my bedtime -|tonight|again|set|target|goal -|to
            when is lights out
            how late can|may|should i stay up
            """,
        ),
    ),
    intent(
        "wake",
        "say when your day begins",
        """
            when do I get up · what's my wake time? · when do you start in the morning? · what time do I get up
            when should I get up · when should I wake up · what time should I wake up · when do I wake up
            when's my wake-up time · what's my wake up time · wake time · when does my day start
            when does my day begin · when does my morning start · when do you write in the morning
            when's the morning briefing · when is the morning briefing · when is the daily briefing
            when do I have to get up · what time do I have to get up · when is the morning message
        """,
        way(
            """
            wake|wake-up|wakeup time
            when|what -|time do|should|must|am|will i -|supposed|have|need|want|going -|to -|get|wake|be|start|rise \
            -|up
            -|what's|whats|what|when is|'s -|my|the wake|wakeup|wake-up|waking -|up -|time|target
            when do|does|will you|the|my -|day -|start|begin|write|wake -|to|me -|up -|me in the morning
            when do|does|will the|my day start|begin
            when will you wake me -|up
            when's the morning briefing
            when is the morning|daily briefing|message
            when does my day|morning start|begin
            """,
        ),
    ),
    intent(
        "zone",
        "say which time zone I use",
        """
            what's my time zone? · which timezone am I in · where am I · what time zone am I in · what's my timezone
            my timezone · time zone · timezone · which time zone do you use · what timezone do you use
            what time zone are you using · what timezone do you think I'm in · where do you think I am
            which city am I in · what zone am I in · what's your time zone · which zone are you in
            which time zone is set · what timezone are we in · which time zone am I in · what city am I in
        """,
        way(
            """
            which|what time zone|zones are|do you|we -|think using|use|in|i -|am|are -|in
            which|what timezone are|do you|we -|think using|use|in|i -|am|are -|in
            which|what time zone do you think i am in
            -|what|which -|is -|my|the|your timezone|zone -|am|do|is|are -|i|you|we|it|set -|in|on|use|have|to
            -|what|which -|is -|my|the|your time zone -|am|do|are|is -|i|you|we|it|set -|in|on|use|have|to
            where am|do i|you -|am|think -|i|am -|am
            which|what city am i in
            what zone am i in
            where do you think i am
            """,
        ),
    ),
    intent(
        "quiet-hours",
        "say when your quiet hours are",
        """
            what are my quiet hours? · when are my quiet hours · quiet hours · my quiet hours · show quiet hours
            what's my quiet time · when is my quiet time · what are the quiet hours · when are the quiet hours
            when don't you write · when won't you write · when will you be quiet · when are you quiet
            when are you silent · when won't you message me · when can you not write to me
            when don't you message me at night · which are my quiet hours · what are your quiet hours
            when do you not write · show me my quiet hours
        """,
        way(
            """
            when don't|dont|won't|do|will you -|not write|message|text -|to -|me at night
            -|show|tell -|me -|what -|my|the|your quiet hours -|are
            -|what|when|what's|which are|is|'s -|my|the|your|our quiet hours|times|time
            when are|will you -|be quiet|silent
            when don't|dont|won't you write|message|text -|to -|me
            when do|will you not write|message|text -|to -|me
            when may|can you -|not write|message|text -|to -|me
            -|my|show quiet hours
            """,
        ),
    ),
)
