"""Changing the lists: tasks, goals, promises, and the weekly review."""

from __future__ import annotations

from typing import Final

from nudge.coach.intents.intent import About, Intent, Rank, intent, way

LISTS: Final[tuple[Intent, ...]] = (
    intent(
        "done",
        "mark a reminder or a task as done",
        """
            done · did it · finished · just did · all done · yep, done · I did it · already done · stretched
            done with the intro · I wrote the intro · finished the intro · the intro is done · tick off the intro
            check off the intro · mark write the intro as done · I finished writing the intro · dentist booked
            I booked the dentist · the dentist is booked · I finished chapter two · chapter two is done
            done with number 2 · got the dentist booked
        """,
        way(
            """
            -|yes|yep|yeah|yup -|i -|have|just|already did|done it|that|this -|one -|already
            -|i -|have|just|already took|taken care of it|that|this
            it|that|this -|one is|has -|been -|already|all|now done|sorted|handled|finished
            """,
            fixed={"it": "last"},
        ),
        way(
            """
            yes|yep|yeah|yup i did -|it|that
            done
            -|yep|yes|and|now|just -|i|it|that|all -|am|is|have|was -|all|now|just|already|finally \
            done|finished|completed
            -|i -|just|already|have did it|that|this
            -|i -|have just did
            i've done it|that|this
            i've -|just|already -|done|did -|it|that
            finished it|that|this
            done it|that|this
            done and dusted
            mission accomplished
            check
            ticked
            completed
            complete
            just did it|that
            all done
            it is done
            did
            finished
            i finished
            mark it -|as done
            already did -|it|that
            already done
            consider it done
            """,
        ),
        way(
            """
            got|have|had {what} -|all done
            done with {what}
            done {what}
            finished -|with {what}
            finish|complete {what}
            i'm|im|i am -|all|finally|now done|finished|through with {what}
            -|i -|have|finally|just|already finished|completed|did {what}
            i've -|just|finally|already finished|completed|done {what}
            completed {what}
            tick|check|cross|mark|strike off {what}
            tick|check|cross|mark|strike {what} off -|my|the -|list|today
            mark {what} as -|done|complete|completed|finished
            mark {what} done|complete|completed|finished
            set {what} to done
            {what} is|are|was -|now|all|finally done|finished|complete|completed|over
            {what} done|finished|complete|completed|sorted
            {what} is|are|was|has -|been -|now|all|already sorted|handled|settled
            took|taken care of {what}
            i -|have|just|already took|taken care of {what}
            {what} is|are|was taken care of
            {what} -|is|are|was ✓|check
            tick {what}
            did {what}
            i got {what} done
            got {what} done
            that's {what} done
            {what} -|is|are off the|my list
            """,
            About.ANYTHING,
        ),
        way(
            """
            -|i -|have|finally got the|my {thing} {verb}
            i|i've|ive|we -|have|just|already|finally|also -|just|already {what}
            -|already|just|finally {what}
            {what} -|already|now
            the {thing} is|are|was -|already|now|finally {verb}
            {thing} is|are|was -|already|now|finally {verb}
            """,
            About.ANYTHING,
            fixed={"tense": "past"},
        ),
        before="(stretch)",
    ),
    intent(
        "add",
        "put something on a list",
        """
            add call the bank to today · put call the bank on today's list · add call the bank to my list
            today: call the bank · add "call the bank" to my to-do list · I also have to call the bank today
            I need to call the bank today · new task: call the bank · todo: call the bank · add task call the bank
            add ship the report to this week · this week: ship the report · put ship the report on this week's list
            my goal for this week is to ship the report · this week I want to ship the report
            my goal is to learn French · my goal: learn French · I want to learn French this quarter
            add learn French to this quarter · add learn French to my goals · new goal: learn French
            one of my goals is to learn French · I'd like to learn French by the end of the quarter
        """,
        way(
            """
            -|please add|put|write|note|get|set|include {line} to|on|in|onto|for|into|down -|for -|my|the|this \
            -|to-do|todo|to -|do list|today|today's|todos|tasks|plan -|list|tasks|plan|for -|today
            today i -|will|want|need|have|must|should -|to {line}
            i -|also|still need|have|want|must|got -|to {line} today
            add|put|new|another {line} as -|a|my task|todo|to-do -|for|today -|today
            new|another|add -|a task|todo|to-do -|for -|today -|is|to {line}
            task|todo|to-do -|for -|today -|is {line}
            on|for my|the list -|for -|today {line}
            add|put task|todo {line}
            my|the most important -|thing|task -|for -|today is -|to {line}
            today is about {line}
            """,
            fixed={"list": "today"},
        ),
        way(
            """
            -|please add|put|write|set|include {line} to|on|in|onto|for|into -|my|the|this|this|our \
            week|week's|weeks|weekly -|list|goals|goal|plan|tasks
            -|my|a|one|the|new goal|goals|task|plan for -|this|the|my week is|are -|to {line}
            this week i -|will|want|need|have|must|should|would -|like -|to {line}
            goal|goals -|for|of -|this|the week {line}
            this week's goal -|is -|to {line}
            i want|need|have|plan|must -|to {line} this week
            weekly goal -|is -|to {line}
            """,
            fixed={"list": "week"},
        ),
        way(
            """
            -|please add|put|write|set|include {line} to|on|in|onto|for|into|as|among -|my|the|this|our|a \
            quarter|quarter's|quarters|quarterly|goals|goal -|list|goals|goal
            -|my|a|one|another|the|main|new|big -|main|big|next|new goal|aim|objective -|for|this|now -|this|the \
            -|quarter is|will -|be -|to {line}
            one of my goals is -|to {line}
            add|set a -|new goal to {line}
            i want|need|have|plan|intend|mean|would -|like to {line} this|by|over|in quarter|the -|this|next|end \
            -|of -|the|this -|quarter
            this quarter i -|will|want|need|have|must|should|would -|like -|to {line}
            quarterly goal -|is -|to {line}
            i'm|im working|aiming towards|toward|on|for {line} this quarter
            my goals are {line}
            """,
            fixed={"list": "quarter"},
        ),
        way(
            """
            {list} {line}
            """,
            fixed={"needs": "colon"},
        ),
        way(
            """
            -|my|a|new|another|next -|new goal -|for -|the|this -|quarter {line}
            """,
            fixed={"list": "quarter", "needs": "colon"},
        ),
    ),
    intent(
        "offer",
        "ask whether to remind you of what you mention",
        """
            I have a meeting at 3pm · I've got a dentist appointment tomorrow at 4pm · I need to buy stamps · buy milk
            I have to pay the electricity bill by friday · I must renew my passport · I should call the bank
            10min tea · tea 4 min · eggs 7 minutes · mum -> sunday · fix the bike · water the plants
            I want to learn Spanish · I'd like to read more · gotta pick up the parcel · order new shoes
            in a few minutes turn off the heating · send the invoice · I need to leave at 4pm · book a table
            I've got a call at 2:30pm
        """,
    ),
    intent(
        "north-star",
        "set your north star",
        """
            my north star is to write a novel · my north star is: write a novel · set my north star to write a novel
            change my north star to write a novel · make write a novel my north star
            the north star is to write a novel · north star: write a novel · my north star: write a novel
            my north star should be to write a novel · my north star will be to write a novel
            set the north star to write a novel · change the north star to write a novel
            please set my north star to write a novel · can you set my north star to write a novel?
            I want my north star to be write a novel · my new north star is to write a novel
            new north star: write a novel · in the long run I want to write a novel
            my life goal is to write a novel · my big dream is to write a novel · my dream is to write a novel
            long term I want to write a novel
        """,
        way(
            """
            -|set|change|my|the|new -|my|the -|new north star -|is|to|as|will|should -|now -|be -|to {line}
            make {line} my -|new north star
            i want my north star to be -|to {line}
            in the long run i -|want|would -|like -|to {line}
            long term i -|want|would -|like -|to {line}
            my -|big|life's|biggest dream|life-goal is -|to {line}
            my life|life's goal is -|to {line}
            """,
        ),
    ),
    intent(
        "drop",
        "take something off a list",
        """
            remove finish chapter two from this week · take finish chapter two off my list
            drop chapter two from this week · delete chapter two from my list · take the dentist off my list
            remove book the dentist from today · take the dentist off today · remove the goal write every weekday
            drop the goal write every weekday · remove the task book the dentist · delete the task book the dentist
            remove the intro from today's list · take the intro off today's list · drop the dentist
            remove the dentist · I'm giving up on chapter two · give up on chapter two
            chapter two is no longer a goal · drop chapter two · take chapter two off this week's list
            remove chapter two from my goals · please take the intro off my list
            can you remove the dentist from my list?
        """,
        way(
            """
            i am -|giving|dropping|abandoning up on {what}
            -|please remove|drop|delete|take|cross|get|strike|scratch|erase {what} from|off|of|out -|of \
            -|my|the|this|today's|this -|to-do|todo|week|week's|today|today's|quarter|quarter's|goals|list|plan \
            -|list|goals
            -|please remove|drop|delete -|the|my goal|task {what}
            i'm|im -|no|not|giving|dropping|abandoning -|longer|up|going -|on|to -|do|doing {what} anymore
            {what} is -|no not|no longer a|my|relevant -|goal|task
            -|please remove|drop|delete|cancel|scrap -|the|my {what} goal|task
            i -|really don't|do need|want -|not {what} -|anymore|any -|more
            i -|really don't|do need|want -|not to {what} -|anymore|any -|more
            no need for {what} -|anymore|any -|more
            i am not -|gonna|going -|to -|do {what} -|anymore|any -|more
            -|i -|want|to -|to give up -|on {what}
            drop|remove {what}
            """,
            About.TASK,
        ),
    ),
    intent(
        "promise",
        "note something you promised",
        """
            I promised Mary to send the photos · I promised to send the photos · I've promised to send the photos
            I promised to send the photos by friday · commitment: send the photos · promise: send the photos
            commitment: send the photos by friday · I have promised to send the photos
            I promised her to send the photos · I said I would send the photos · I said I'd send the photos
            I told Mary I'd send the photos · I promised Mary I would send the photos
            I promised that I'd send the photos · I promised I would send the photos
            I committed to send the photos · I agreed to send the photos · I gave my word to send the photos
            new commitment: send the photos · new promise: send the photos · add a commitment: send the photos
            note a promise: send the photos
        """,
        way(
            """
            i -|have|also|just promised|committed|agreed -|to|that -|i -|would|will {fact} by|until {due}
            i -|have|also|just promised {who} to {fact} by|until {due}
            i -|have|also|just promised|committed|agreed to {fact}
            i -|have|also|just promised -|that i would|will {fact}
            i -|have|also|just promised|told {who} -|that i would|will {fact}
            i -|have|also|just promised {who} to {fact}
            i said -|that i would|will {fact}
            i gave -|him|her|them my word to {fact}
            """,
        ),
        way(
            """
            -|a|new|another|add|note -|a|new commitment|promise {fact} by|until {due}
            -|a|new|another|add|note -|a|new commitment|promise {fact}
            """,
            fixed={"needs": "colon"},
        ),
        rank=Rank.NOTE,
    ),
    intent(
        "review",
        "start or continue the weekly review",
        """
            start the weekly review · let's do the review · weekly review · review
            can we do the weekly review now? · I want to do my review · review my week · let's look back at the week
            begin review · time for the review · start the reveiw · let's review the week · could we do a review
            weekly review please · continue the review · I'm ready for the review · go over my week
            reflect on my week · how was my week? · sum up my week · let's talk about my week · start my review
        """,
        way(
            """
            -|weekly review
            -|start|begin|do|open|launch|run|have|continue|resume|finish|let's|take -|do|start|begin|continue|with \
            -|the|my|a|our|this -|weekly|week's review -|now|together|then
            review -|my|the|this|our week
            -|let's|let|can look|looking back -|on|at -|my|the|this -|past|last week
            time for|to -|do -|the|my|our|a -|weekly review
            i'm|im|i am ready for|to -|do -|the|my|our -|weekly review
            do|start|begin -|a|the|my -|weekly|week review -|of|my|the|this -|my|the|this -|week
            go over|through my|the week
            reflect on -|my|the|this week
            look back on -|my|the|this week
            weekly reflection|retrospective|check-in
            how was my week
            do -|my|a week in review
            sum up -|my|the|this week
            let's talk about -|my|the|this week
            """,
        ),
    ),
)
