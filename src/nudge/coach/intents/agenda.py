"""What comes and what is open: reminders, lists, goals."""

from __future__ import annotations

from typing import Final

from nudge.coach.intents.intent import About, Intent, intent, way

AGENDA: Final[tuple[Intent, ...]] = (
    intent(
        "list",
        "show your reminders",
        """
            what are my reminders? · list my reminders · show reminders · reminders · what reminders do I have
            which reminders are set · show me all my reminders please · what have I asked you to remind me of?
            remnders · what's coming up? · what are you going to remind me about · do I have any reminders?
            any reminders? · my reminders · what alarms do I have · how many reminders do I have?
            what do you have for me? · what's scheduled? · list of reminders · what will you remind me about?
            what did I ask you to remind me about · upcoming reminders · what reminders do you have for me
        """,
        way(
            """
            what|which reminders|alarms do you have -|for -|me
            reminders
            -|show|list|see|give|tell|display|check|read -|me -|all -|of -|my|the|your|active|current $rem
            what|which are -|all my|the reminders|alarms
            what|which reminders|alarms are -|there|set|active|coming|on
            what|which reminders|alarms do|have i -|have|got|set
            what|which reminders|alarms have i -|set|got
            do i have -|any reminders|alarms -|set|today
            have i -|got any reminders|alarms -|set
            are there any reminders|alarms -|set
            what have i asked you to remind me -|of|about
            what did i ask you to remind me -|of|about
            what are|will you -|going -|to remind|reminding me -|about|of
            what's|whats|what is coming -|up|next
            -|is -|there anything|something coming -|up|next -|soon
            anything -|else planned|scheduled|upcoming
            do i have anything|something coming -|up
            what is|are coming up
            what's ahead
            what's scheduled -|for -|me
            my reminders
            any reminders|alarms -|set
            reminder list
            list of reminders
            upcoming -|reminders
            what do you -|still have for me
            what's on the schedule
            what will you remind me -|of|about
            what have you got -|for -|me
            how many reminders -|do -|i -|have
            """,
        ),
    ),
    intent(
        "today-left",
        "show what is left today",
        """
            what's left today? · what's left · what's left to do today · anything else today?
            is there anything else today · anything else for today · what else is there today · what else for today
            what reminders are left today? · what reminders are left · any reminders left today
            which reminders are still left · what's still to come today · what's still to come
            what's coming up later today · today's reminders · reminders for today · reminders today
            which reminders are for today · what reminders are on today · what do I still have to do
            what's still open today
        """,
        way(
            """
            do you have anything|something -|else for me -|today
            reminders -|for|on today
            what|which reminders are -|on|for|there today
            what do i still have|need to do -|today
            what's|what is still open -|for today
            what's|what is still -|left to do -|today
            what's|whats|what is left -|for|to -|do -|today
            what's|whats|what is left
            anything else -|for -|today
            -|is -|there anything else -|left -|for -|today
            what else -|is -|there|left|on -|for -|today
            what|which|any reminders are -|still left -|for -|today
            what reminders are left
            what|which reminders are -|on|for -|today
            what's still to come -|today
            what's coming -|up -|later today
            any reminders left -|today
            reminders -|for today
            today's reminders
            """,
        ),
    ),
    intent(
        "when",
        "say when a reminder comes",
        """
            when is call mum? · when's call mum · when's the mum one · when is the stretch reminder
            when will you remind me to call mum? · what time is the mum one? · what time is call mum
            what time is stretch · when do I stretch · when do I have to call mum? · when am I supposed to call mum
            when am I calling mum? · when are the pills due · what time do I take the pills · when does stretch come
            is call mum set? · have I set call mum · when did I set call mum? · what about call mum?
            show me call mum · tell me about the mum one · at what time is call mum
        """,
        way(
            """
            when was|am i supposed|meant|going to {what} -|again
            when is|are|was|do $the {what} $rem -|set|due|for|coming
            when is|are|do {what} -|set|due|for|coming
            when's {what}
            when will|do|are you -|going -|to remind|reminding me -|to|about|of {what}
            what time is|are|do|for {what} -|set|due|at
            what time's {what}
            at what time is {what}
            when do i -|have|need -|to {what}
            when did i set {what}
            when am i -|supposed -|to {what}
            when does {what} come|fire|start|happen|go
            is {what} set
            have i set {what}
            show me {what}
            tell me about {what}
            what about {what}
            what's {what} about
            """,
            About.REMINDER,
        ),
        way(
            """
            when is|are my|the {what} thing|appointment|meeting|reminder|one
            when is|are my {what}
            """,
            About.REMINDER,
            sure=True,
        ),
    ),
    intent(
        "on-day",
        "show what is on one day",
        """
            what's on friday? · what's on tomorrow · what's happening on friday? · what's planned for friday
            what do I have on friday · what have I got on friday? · anything on friday?
            do I have anything on friday? · reminders on friday · what reminders do I have on friday
            what's up on friday · what's on for saturday · what do I have tomorrow? · what's planned tomorrow
            anything tomorrow? · what's happening tomorrow · am I free on friday? · how does friday look?
            what does friday look like · what reminders are there for friday? · show me friday
        """,
        way(
            """
            do i have anything|something -|planned|on|for -|on|for {when}
            have i -|got anything|something -|planned|on|for -|on|for {when}
            am i -|free|busy -|on|for {when}
            how does {when} look -|like
            what does {when} look like
            show -|me {when}
            how busy am i -|on {when}
            what's|whats|what is on -|for -|on {when}
            what's|whats|what is happening|planned|up -|for|on {when}
            what do i have -|on|for {when}
            what have i -|got -|on|for {when}
            anything -|on|for {when}
            reminders -|on|for {when}
            what reminders -|are|do|have -|there|i -|have -|on|for {when}
            """,
            fixed={"needs": "day"},
        ),
    ),
    intent(
        "next",
        "say what is next",
        """
            what's next? · what now? · what should I do now? · what should I do first? · what shall I do next
            where do I start? · where should I start · what should I start with · next · what's my next task
            what's my next step · what's first · what comes first? · what's up next · what am I supposed to be doing
            what should I be doing? · what should I be working on · what's most important today
            give me something to do · what to do next · so what's next? · what was I doing
        """,
        way(
            """
            what's|what is first -|on -|my|the -|list
            what should|do|must i -|be work|working|focus|focusing on
            what do i do now|next|first
            -|so|and what's|whats|what is next -|up|today|on|for -|me
            what now
            what should|shall|do|can|must i do -|now|next|first|today
            what should|do i start with
            what next
            next
            what's my next -|task|thing|step
            where do|should i start
            what to do -|now|next|first
            what's first
            what comes first
            what's up next
            what's the next thing
            what am i -|supposed|meant -|to -|be -|do|doing
            what was i doing
            what should i be doing
            what's most important -|now|today
            give me something to do
            """,
        ),
    ),
    intent(
        "today",
        "show today's list",
        """
            what's on my list? · what do I have to do today? · my to-do list · show my todos · what's on for today
            what's on today · show me my tasks · what are my tasks for today · what's the plan for today?
            what's my plan · today · show today's list · what's on my plate today · what's on my agenda
            what have I not done yet? · what haven't I done yet · what's not done yet · what's still open
            how does my day look? · what does my day look like · what do I need to do today · my plan
        """,
        way(
            """
            what was i meant|supposed to do -|today
            read -|me my|the list
            what's|whats|what is -|still on -|my|the|today's list|agenda|plate
            what's|whats|what is -|still left|open|missing on|from -|my|the|today's list|agenda|plate
            what|which is|are -|still left on my|the list
            what's|whats|what is on -|for -|today
            -|show|see|list|tell -|me -|my|the|today's to-do|todo|todos|to-dos|tasks|plan|agenda|list -|list|for \
            -|today
            what do|did i have -|to -|do -|for today
            what do i need to do -|today
            what have i got -|on -|for today
            what's|whats|what is -|my|the plan -|for|today -|today
            what are my tasks|todos -|for -|today
            -|my|show to do list
            -|show today
            today
            today's list
            what have|did i not done|do -|yet
            what haven't i done -|yet
            what's not done -|yet
            what's open
            what is|are -|still open
            my -|day|plan
            how does my day look
            what does my day look like
            what's on today
            what's today about
            what's my day -|like|looking|look
            """,
        ),
    ),
    intent(
        "week",
        "show this week's list, and what comes this week",
        """
            week · this week · what's on this week · what's on for this week · show me this week · show my week
            what's the plan for this week · what's the plan for the week · what are my goals for this week
            what are my goals for the week · what do I have to do this week · this week's goals · this week's list
            my week · what's this week · show this week · what's coming up this week · what have I got on this week
            what's my plan for this week · my goals for this week · what do I have this week?
            how does my week look?
        """,
        way(
            """
            what's|what is my|the plan this week
            what did i want to do this week
            what's|what is coming -|up this week
            what's|what is -|my|the plan for this|the week
            what have i got -|on|for -|to -|do this week
            -|show -|me my goals|tasks|list for this|the week
            how does my|the|this week look -|like
            what does my|the|this week look like
            what's|what is happening|up|planned this week
            week
            -|show -|me -|my -|this week
            what's -|on -|for this week
            what's the plan for the|this week
            -|my week's list
            what are my goals for -|this|the week
            what do i have -|to -|do this week
            this week's goals|list
            """,
        ),
    ),
    intent(
        "goals",
        "show your goals",
        """
            what are my goals? · show my goals · goals · my goals please · what am I working towards · gaols
            remind me of my goals · what did I want to achieve this quarter · what's my goal · list my goals
            tell me my goals · what's my north star? · north star · what are my goals for this quarter
            this quarter · what am I aiming for · what matters most to me · how are my goals doing
            read me my goals · remind me what my goals are · what are my goals again · what's my goal this quarter
        """,
        way(
            """
            what's|what is my|the goal -|for this|the quarter
            -|show|see|list|tell|read -|me -|all -|of -|my|the|your|current goals|goal
            what's|whats|what are|is my|the goals|goal
            remind me of|about|what my goals -|are
            what am i -|working|aiming -|towards|toward|for|at|on
            what do|did i want to achieve|do|reach -|this|the -|quarter|year|month
            what are my goals -|for -|this|the -|quarter
            what's my north star
            my north star
            north star
            what's on -|for this|the quarter
            this quarter
            what are we working on|towards
            where do i want to go
            what matters -|most -|to -|me
            how are my goals -|doing
            """,
        ),
    ),
    intent(
        "commitments",
        "show what you promised",
        """
            commitments · show my commitments · my commitments · my open commitments · show open commitments
            promises · my promises · show my promises · what did I promise? · what have I promised
            what did I commit to · what have I committed to? · what do I owe people · what do I owe
            show me my commitments · show me my promises · which promises have I made? · what promises did I make
            did I promise anything? · have I promised anything · what did I say I would do? · open promises
        """,
        way(
            """
            what|which promises|commitments have|did i -|made|make|got|have
            did|have i -|promise|promised|commit|committed -|to anything|something|anyone -|anything
            what did i say -|that i would|will do
            -|show -|me -|my|open commitments|promises
            what did|have i promise|promised|commit|committed -|to
            my -|open commitments
            what do i owe -|people|anyone
            """,
        ),
    ),
    intent(
        "review-when",
        "say when the weekly review is",
        """
            when is the weekly review? · when's the review · when's my review · when is my review
            when is the next review · when is our weekly review · when is our review due · when do we do the review
            when do we have our weekly review · when will the review be · when does the review happen
            what day is the review · what day is the weekly review · when's the weekly review
            when's our next review · which day is the review? · when is review day? · what time is the weekly review
            when are we doing the review? · when do I do my review · when is the next weekly review due
        """,
        way(
            """
            what|which day is|are -|we the|my|our|doing -|next|weekly|the review
            when is|are review|reviews day -|again
            what time is|are the|my|our -|weekly review
            when are|do|will we|i doing|do|have -|the|my|our -|next|weekly review
            when is the|my|our -|next|weekly -|weekly review -|due|again
            when is|are|do|will|does -|we|the|my|our -|do|have -|next|the|weekly review -|be|happen|due
            when's the|my|our -|next|weekly review
            what day is the -|weekly review
            when do we -|do|have -|the|our -|weekly review
            """,
        ),
    ),
)
