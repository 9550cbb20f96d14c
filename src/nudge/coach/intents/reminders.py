"""Setting and changing reminders, and taking back what was changed."""

from __future__ import annotations

from typing import Final

from nudge.coach.intents.intent import About, Intent, intent, way

REMINDERS: Final[tuple[Intent, ...]] = (
    intent(
        "remind",
        "set a reminder",
        """
            remind me to call bob friday 5pm · ping me friday 5pm to call bob
            can you remind me to call bob on friday at 5pm? · pls remind me friday at 5pm to call bob
            set a reminder for friday 5pm: call bob · tell me to call bob friday at 5pm
            I need to call bob on friday at 5pm, remind me · don't let me forget to call bob friday 5pm
            call bob friday 5pm · give me a nudge friday 5pm to call bob · wake me up at 7am tomorrow
            set an alarm for 7am tomorrow · in 20 minutes remind me to check the oven
            nudge me in 20 minutes to check the oven · remind me to drink water every hour
            every weekday at 9am check the mail · remind me on the 1st of every month at 9am to pay rent
            tmrw 9am ring the plumber · yoga every tuesday and thursday at 6:30pm
            remind me tonight at 8 to take out the trash · in an hour and a half check the laundry
            remind me to renew the passport on march 2 at 9am
        """,
    ),
    intent(
        "correct",
        "change what the last message set",
        """
            no, I meant tuesday · tuesday, sorry · actually tuesday · make it tuesday · no, tuesday
            not monday, tuesday · I mean tuesday · no, 6pm · make that 6pm · 6pm rather · no, call rob
            I meant call rob · oops, tuesday · sorry, tuesday I mean · tuesday, not monday · no wait, tuesday
            tuesday instead · I said tuesday · it should be tuesday · no, it's tuesday · tuesday is better
            I meant rob
        """,
        before="remind me to call bob monday 5pm",
    ),
    intent(
        "undo",
        "undo the last thing I changed",
        """
            undo · undo that · undo it · undo the last thing · take that back · take it back · revert that
            bring it back · put it back · restore it · reverse that · oops, undo · scratch that · that was a mistake
            no, undo that · wait, undo · can you undo that? · please undo that · I didn't mean that · go back
            undo what you just did · no wait, bring it back
        """,
        way(
            """
            -|no|oh wait no i -|still need that|it -|one -|bring -|it|that -|back
            -|no|oh|hm wait bring|put|take it|that back
            -|no|oh -|no|wait wrong one undo -|that|it
            -|hm|hmm|no no|wait|actually take that|it off|back -|again
            no bring|put it|that back
            undo -|it|that|this|please
            undo -|the last -|thing|change|one|action
            take -|it|that|this back
            take back that|it
            revert -|that|it|this
            roll -|that|it back
            bring it|that back
            put it|that back
            restore it|that
            undo what you -|just did
            reverse that|it
            that was a|my mistake
            that was wrong
            wait undo -|that|it
            no undo -|that|it
            i didn't mean that|it
            i did not mean that|it
            unundo
            no -|wait i didn't
            wait i didn't
            undo the cancel|move|tick|review|pause|reminder
            scratch that
            strike that
            can you undo that|it|this
            go back
            """,
        ),
        before="cancel call mum",
    ),
    intent(
        "cancel-all",
        "cancel all reminders, after a yes",
        """
            cancel all my reminders · delete all reminders · remove all my reminders · clear all reminders
            cancel everything · delete everything · remove everything · clear everything
            get rid of all my reminders · get rid of all reminders · drop all my reminders · scrap all reminders
            cancel every reminder · delete every reminder · kill all reminders · please cancel all my reminders
            can you delete all my reminders? · cancel all of my reminders · erase all reminders
            bin all my reminders · cancel all · no more reminders at all
        """,
        way(
            """
            $cancel all -|of -|my|the -|$rem
            $cancel every $rem
            delete|remove|cancel|clear everything
            get rid of all -|my|the $rem
            no more $rem at all
            $cancel all $rem
            """,
        ),
    ),
    intent(
        "cancel",
        "cancel a reminder",
        """
            cancel call mum · cancel the call mum reminder · delete the reminder about mum
            forget about calling mum · remove call mum · please cancel the mum one
            I don't need the call mum reminder anymore · scrap call mum · no need to remind me to call mum
            don't remind me to call mum · stop reminding me to stretch · never mind about calling mum
            drop the call mum reminder · get rid of the mum reminder · call off the mum one · cancel the stretch one
            no more stretching reminders · turn off the stretch reminder · cancl stretch · cancel the last one
            I don't need the pills one any more · no need to call mum anymore · you can drop the one about mum
        """,
        way(
            """
            stop|quit bugging|nagging|pinging|messaging|bothering|texting|nudging me about|to|with {what}
            -|i don't need|have|want to {what} any longer
            -|i don't need|have|want to {what} -|anymore
            no need to {what} -|anymore|any -|more
            i don't need|want {what} any more
            i -|have|just|already {what} so -|you -|can cancel|delete|remove|drop the|that|this|it -|reminder
            stop|quit reminding me to|about|of {what}
            no need to remind me to|about|of {what}
            don't|dont|never remind me to|about|of {what}
            do not remind me to|about|of {what}
            no more {what} reminders|reminder|alarms
            no more reminders|reminder about|to|for {what}
            you don't need|have to remind me to|about|of {what}
            i don't need|want to be reminded to|about|of {what}
            i don't need|want $the {what} $rem
            i don't need|want $the $rem about|for|to {what}
            i don't need|want {what}
            get rid of $the {what} $rem
            get rid of $the $rem about|for|to {what}
            get rid of {what}
            $cancel $the $rem about|for|to|of|called {what}
            $cancel $the {what} $rem
            turn off $the {what} $rem
            turn off {what}
            switch off {what}
            call off {what}
            $cancel {what} for good
            $cancel {what}
            """,
            About.REMINDER,
        ),
        way(
            """
            forget about {what}
            forget {what}
            never mind about {what}
            nevermind about {what}
            never mind {what}
            stop|quit {what}
            """,
            About.REMINDER,
            fixed={"by": "name"},
        ),
        way(
            """
            cancel|delete $the $rem about|for|to|of|called {what}
            cancel|delete|remove $the {what} $rem
            cancel {what}
            """,
            About.REMINDER,
            sure=True,
        ),
        way(
            """
            $cancel a|an|one|some -|of -|my $rem
            $cancel $rem
            $cancel one
            cancel something
            """,
            fixed={"ask": "which"},
        ),
    ),
    intent(
        "later",
        "move a reminder by some time",
        """
            push call mum back an hour · call mum an hour later · postpone call mum by an hour
            delay call mum by 1 hour · postpone call mum by a day · move call mum back by 2 hours
            snooze call mum 30 minutes · snooze call mum for an hour · make call mum an hour later
            delay stretch by 20 minutes · push stretch back 30 minutes · stretch half an hour later
            move stretch by an hour · postpone the pills by an hour · delay the mum one by a day · an hour later
            30 minutes later · make it an hour later · push it back an hour · shift call mum by two hours
            delay call mum for an hour
        """,
        way(
            """
            $move {what} back|forward by {length}
            $move {what} by {length}
            push|move {what} back {length}
            {what} {length} later
            make {what} {length} later
            make it {length} later for {what}
            do {what} {length} later
            give me {length} more for {what}
            delay|postpone|snooze {what} for {length}
            delay|postpone|snooze {what} {length}
            snooze {what}
            """,
            About.REMINDER,
        ),
        way(
            """
            {length} later
            make it|that {length} later
            push it|that back {length}
            """,
            About.REMINDER,
            fixed={"what": "it"},
        ),
    ),
    intent(
        "earlier",
        "move a reminder to an earlier time",
        """
            call mum an hour earlier · make call mum an hour earlier · move call mum forward an hour
            bring call mum forward an hour · move call mum an hour earlier · move call mum up an hour
            bring the mum one forward 30 minutes · an hour earlier · stretch half an hour earlier
            make stretch 30 minutes earlier · move stretch up 30 minutes · the pills an hour earlier
            make the pills an hour earlier · bring the pills forward an hour · make it an hour earlier
            move it up an hour · 30 minutes earlier · can you move call mum up an hour?
            please make stretch half an hour earlier · pills an hour earlier please
            move the mum one two hours earlier
        """,
        way(
            """
            {length} earlier
            make it|that {length} earlier
            """,
            About.REMINDER,
            fixed={"what": "it"},
        ),
        way(
            """
            {what} {length} earlier
            make {what} {length} earlier
            move|bring {what} forward {length}
            move {what} {length} earlier
            move|bring {what} up {length}
            """,
            About.REMINDER,
        ),
    ),
    intent(
        "move",
        "move a reminder to another time",
        """
            move call mum to saturday 3pm · reschedule call mum to saturday at 3pm
            can you move the mum one to saturday 3pm? · change call mum to saturday 3pm
            make call mum saturday 3pm instead · put call mum on saturday at 3pm · shift call mum to sunday
            call mum should be saturday at 3pm · mvoe call mum to saturday · push call mum to saturday
            move stretch to 4pm · change the stretch reminder to 4pm · make the stretch one 4pm
            I'd rather call mum on saturday · can we do call mum on saturday instead · call mum at 6pm instead
            postpone call mum to sunday · set call mum to saturday 3pm · move it to 10pm · make it 10pm
            pills at 10pm from now on · call mum at 6pm instead of 5
        """,
        way(
            """
            make {what} one {when}
            make {what} {when}
            id|i'd rather {what} -|on|at {when}
            i would rather {what} -|on|at {when}
            i'd prefer {what} -|on|at {when}
            {what} -|at|on {when} from now on
            {what} -|at|on {when} instead of {old}
            can|could|should|let {what} come|be|happen -|at|on {when}
            do {what} {when} instead|rather
            {what} to {when}
            {what} can wait -|until|till|til|to {when}
            $move {what} to|until|till|for|on|at {when} instead|rather
            $move {what} to|until|till|on|at|for {when}
            make {what} {when} instead|rather
            {what} should be|happen -|at|on|to {when}
            {what} at|on {when} instead|rather
            do {what} at|on {when} instead|rather
            set {what} to|for {when}
            make {what} at|on {when}
            snooze {what} until|till|to {when}
            remind me {when} instead of {what}
            i'd rather do|have {what} at|on {when}
            $move $the $rem for|about {what} to {when}
            """,
            About.REMINDER,
        ),
        way(
            """
            $move a|one -|of -|my $rem to {when}
            $move a|one $rem
            """,
            fixed={"ask": "which"},
        ),
        way(
            """
            move|reschedule|shift|postpone $the $rem about|for|to {what}
            move|reschedule|shift|postpone {what}
            """,
            About.REMINDER,
            fixed={"ask": "when"},
        ),
    ),
    intent(
        "again",
        "snooze the reminder that came last",
        """
            snooze · snooze 30m · snooze it · snooze 20 minutes · snooze for an hour · snooze until 4pm
            snooze it for half an hour · snoze 30 min · in half an hour · in an hour · 30 more minutes
            give me half an hour · give me 20 more minutes · another hour · ask me again in 30 min
            remind me again in 30 minutes · remind me again later · half an hour more pls · not yet, in 30 minutes
            later, at 4pm · remind me at 4pm instead · gimme 30 min · quarter of an hour · in 15
        """,
        way(
            """
            hang|hold on {length}
            gimme|give me {length}
            in {minutes}
            -|maybe|not|yet later -|please|pls
            in a -|little bit|while|moment|minute|sec
            snooze -|it|this|that -|for|by {minutes} -|min|mins|minutes
            remind|ask|ping|tell|nudge|poke me again -|at|in|on|about -|it {when}
            -|remind|ask -|me again {when}
            can't|cannot -|do -|it|this|that -|right now -|in|at|until {when}
            -|not now -|remind|ask -|me -|again -|in|at|until {when}
            -|not now -|in {length}
            snooze
            snooze -|it|this|that -|for|by {length}
            snooze -|it|this|that -|until|till|to {when}
            snooze it|this|that
            remind|ask|ping|tell|nudge|poke me again -|in|at {length}
            remind|ask|ping|tell|nudge me -|again at|in {when} instead|rather
            -|remind -|me again in {length}
            -|not -|yet later -|at|in {when}
            -|not yet -|in {length}
            give me {length} -|more|longer
            {length} more|longer -|please|pls
            -|another {length}
            in {length}
            later at {when}
            not yet -|at|until {when}
            -|no not now -|at|in {when}
            remind me -|again later
            ask me -|again later
            -|i need {length} more
            try again in {length}
            come back in|at {length}
            wait {length}
            remind me at|in {when} again
            again at|in {when}
            can it wait -|until|till|for {when}
            do that -|at|in {when}
            """,
        ),
        before="(stretch)",
    ),
    intent(
        "skip",
        "skip the reminder that came last, this time",
        """
            skip · skip it · skip this · skip that · skip this one · skip that one · skip this time
            skip it this time · not this time · not today · I'll skip it · I'll skip it today · I'll skip this one
            I'll skip that · pass on it · pass on that · leave it for today · no, skip it · skip today
            please skip it · let's skip it · can we skip this one?
        """,
        way(
            """
            i'll|i will skip this|that|it -|one|time -|today
            skip -|it|this|that|today
            skip -|this|that one|time
            skip this|that one|time
            not this time
            not today
            i'll skip -|it|this|that|one -|today
            pass on -|it|this|that
            leave it for today
            skip it this time
            no skip it|that
            """,
        ),
        before="(stretch)",
    ),
)
