"""Questions about the coach itself: why it wrote, what it costs, what it can do."""

from __future__ import annotations

from typing import Final

from nudge.coach.intents.intent import Intent, intent, way

ITSELF: Final[tuple[Intent, ...]] = (
    intent(
        "why",
        "say why I wrote, or didn't",
        """
            why? · why did you write? · why now? · why this? · why are you telling me this
            why did you send me that · what was that for · what's that about · how come you messaged me
            explain that · wy did you write · why did you remind me · why did you text me · why didn't you write?
            why are you so quiet · why so quiet · why have you not said anything · what made you write
            what triggered that · what's the reason for that · why the message · why did that come
        """,
        way(
            """
            why
            why now
            why that|this
            why did|do|are|have|would you -|just \
            -|write|text|message|ping|nudge|send|say|tell|remind|ask|writing|telling|texting|messaging|bothering \
            -|me -|that|this|about|now|of|it -|this|that|now|it
            why did|do you {said}
            why are you {said}
            why have you {said}
            why didn't|don't|haven't|aren't|did|do|have|are you -|not {said}
            what was|is that|this -|about|for
            what's that|this about|for
            how come -|you {said}
            explain -|that|this|yourself|it|why
            what made you {said}
            why so quiet|silent
            why the silence|message|reminder|ping
            what triggered that|this
            for what reason
            how so
            why not
            why was that|this sent
            why did that|this|it come
            reason
            what's the reason -|for -|that|this
            """,
        ),
        before="(stretch)",
    ),
    intent(
        "status",
        "say how things are, and what I decided last",
        """
            status · what's your status · are you working? · what are you up to right now · how are you set up
            are you online
            are you running · is everything ok · is everything working · how are things running · how is it running
            status report · system status · show status · give me your status · what's your state
            what mode are you in · are you using a model · which model do you use · what model are you using
            do you still work · are you alive
        """,
        way(
            """
            status
            -|what|show|tell|give -|is -|me -|your|the|my|current status
            how are things -|with -|you -|running|going
            are you -|still working|running|alive|on|up|online|awake
            what are you up to right now
            how are you set up
            how is it running
            is everything -|ok|okay|working|fine|running
            system status
            status report
            what's your state
            what mode are you in
            do you -|still work|run
            are you using -|a|an model|ai
            which model are|do you -|use|using
            what model are|do you -|use|using
            """,
        ),
    ),
    intent(
        "privacy",
        "say what happens to your words",
        """
            do you save what I say? · do you store what I write · what happens to my data · where is my data stored
            is this private? · is our chat private · who can read this · who can read my messages
            who sees what I write · can anyone read this · do you share my data · do you sell my data
            do you record this · are you recording this · do you keep our messages · where do you store my messages
            what do you do with my data · is my data safe · are my messages private · do you spy on me
            do you send my data anywhere
        """,
        way(
            """
            do you save|store|keep|record|log|remember what|everything|all|this|that|it -|i -|say|write|tell|said -|you
            do you save|store|keep|record|log|share|sell -|my|our|the data|messages|words|chats|conversations|chat|texts
            do you send my|our data|messages|words -|anywhere|somewhere|to -|anyone|someone
            what happens to|with my|our data|messages|words|chats
            what do you do with my|our|the data|messages|words|chats
            where is|are|do my|our|you -|keep|store -|my|our data|messages|words|chats -|stored|saved|kept|go
            is|are this|that|it|our|my -|chat|conversation|data|messages|words|chats private|safe|secret|secure
            who can|else -|can see|read|sees|reads -|this|that|my|our|what -|chat|messages|data|words|i -|write|say
            who sees|reads what|this|my|our -|i -|write|say|messages|chat
            can anyone|somebody|someone|others|anybody -|else see|read this|that|my|our|it -|chat|messages|data
            are you recording|listening|spying -|this|that|to|on -|me
            do you spy|listen -|on|to|in -|me
            can|should i trust you
            """,
        ),
    ),
    intent(
        "quiet-later",
        "say that quiet starts right away",
        """
            don't bother me this weekend · don't message me at the weekend · no messages this weekend
            don't write to me on sunday · no messages on sunday · don't text me on weekends · quiet on sundays
            no pings at the weekend · be quiet this weekend · leave me alone this weekend · no messages tomorrow
            don't disturb me tomorrow · leave me alone tomorrow · don't write tomorrow · quiet this weekend
            don't message me on friday · no nudges on sunday · leave me alone on sunday · be quiet on saturday
            don't ping me tomorrow · leave me in peace this weekend
        """,
        way(
            """
            don't|dont $write|disturb|nudge|bug -|to -|me -|on|at|over|during {day}
            do not $write|disturb|nudge|bug -|to -|me -|on|at|over|during {day}
            no -|more messages|pings|nudges|notifications -|on|at|over|during {day}
            -|please -|be|stay quiet -|on|at|over|during {day}
            leave me alone|be -|on|at|over|during {day}
            leave me in peace -|on|at|over|during {day}
            """,
        ),
    ),
    intent(
        "fewer",
        "help when I write too much",
        """
            too many messages · too many reminders · too many notifications · that's too many messages
            you write too much · you message me too much · you text too often · you're writing too often
            you send too many messages · stop sending me so many notifications · stop sending so many messages
            don't send me so many messages · please send fewer messages · fewer messages please · less messages please
            can you write less? · message me less · write less often · text me less often · I get too many pings
            you are too much
        """,
        way(
            """
            -|that|this|these|it -|is|are -|way|far|just too many messages|pings|nudges|notifications|texts|reminders
            you -|are write|message|text|ping|nudge|talk|writing|messaging|texting -|to -|me -|way|far too much|often
            you send|sent -|me -|way|far too many messages|pings|nudges|notifications|texts|reminders
            stop sending -|me so|that many messages|pings|nudges|notifications|texts|reminders
            don't|dont|do -|not send -|me so|that many messages|pings|nudges|notifications|texts|reminders
            -|send -|me fewer|less messages|pings|nudges|notifications|texts|reminders
            write|message|text|ping|nudge -|to -|me less -|often|frequently
            i get -|way|far too many messages|pings|nudges|notifications|texts|reminders
            you are -|a -|bit too much
            """,
        ),
    ),
    intent(
        "ping-budget",
        "say how many messages I may send unasked",
        """
            ping budget · message budget · my ping budget · pings left · messages left
            how many messages may you send me? · how many pings are left? · how many pings do you have left
            how many messages are left today · how many messages do you have left today
            how often may you write to me · how often can you message me · how often do you write?
            how many times may you write me a day · how many more messages can you send · how many nudges are left
            what's your message limit? · how many messages will you send me today · how many pings have you left
            ping allowance · message limit · how many times can you message me per day
        """,
        way(
            """
            -|what's|what is your|my|the ping|message|messages limit|allowance
            -|what's your|my|the message|ping limit
            -|my|the|your ping|pings|message|messages budget|left|allowance|limit
            how many -|unasked|more messages|pings|nudges may|can|will|do|are|have|could you -|still \
            -|left|send|write -|me -|today|unasked|left|still
            how many messages|pings|nudges are|do|have -|you|i -|still|have -|left -|today
            how often may|can|will|do you write|message|text|ping|nudge -|to -|me
            ping-budget
            how many times may|can|will you write|message|text|ping -|me -|a|per -|day
            """,
        ),
    ),
    intent(
        "budget",
        "say how much of the budget is left",
        """
            budget · what's my budget · show the budget · how much have you spent? · how much money is left?
            what did you cost me today · budgt · how much do you cost · what have you spent this month
            how much is left of the budget · are you expensive? · how much have I spent on you
            are you costing me money? · what do you cost · costs · your spending · am I over budget
            what's left of my budget · how expensive are you · is this free? · how much did you spend today
            what does this cost me
        """,
        way(
            """
            how much have|did i|we -|spent|spend|paid|pay on|for you -|so|today|this -|far|month|week
            are|do you costing|cost me -|any|much money|anything
            budget
            -|what's|whats|show|tell|what|is|how|check|see -|me -|is|are|about -|the|my|your|our|today's budget \
            -|like|today|left|looking|status|doing
            how much -|money|budget|cash is|do|have|are|did -|you|i|we -|have|still \
            -|left|spent|spend|used|cost|use -|so -|far -|today|me|of|in|for|this|on|up \
            -|the|this|today|month|week|day|far|budget -|month|week|budget|day
            what do|did|have|does you|it|this -|cost|spend|spent|costs|used -|me -|so -|far -|today|this|me|already \
            -|month|week|day
            how much -|do|does|did|are|is|have|has you|it|this|that -|you \
            -|cost|costs|spend|spent|expensive|used|charge -|me -|so -|far -|today|this|per|a -|month|week|day
            what's|what is the|your|my cost|price|bill|spending|costs|spend -|so -|far -|today|this|month -|month
            are|is you|this|it expensive|free|cheap|costly
            -|the|my|show|your costs|spending|spend
            how expensive are|is you|this|it
            what have|did you spent|spend -|so -|far -|this|today|on -|month|week|me|day
            how much -|of -|the|my|your -|budget|money is -|left|used|gone|spent -|of|in -|the|my|your -|budget
            what did you -|spend|cost -|me -|today|this -|month|week
            am i -|over|under|within|on|in -|my|the budget
            what's left -|of|in|on -|the|my|your budget
            """,
        ),
    ),
    intent(
        "who",
        "say who I am",
        """
            who are you? · what are you? · are you a bot? · are you human? · are you an AI · what's your name?
            tell me about yourself · introduce yourself · who is this · who's this? · am I talking to a robot
            are you real · are you a real person · do you have a name · what should I call you · who made you
            who am I talking to · what kind of coach are you · what exactly are you · who r u · what are you exactly
            are you chatgpt?
        """,
        way(
            """
            who|what exactly are|r you|u
            what|who are|r you|u exactly|really|actually
            who|what are|r you|u
            who|what is this|that
            who's this|that|there
            are you -|a|an|really|actually -|real|a|an \
            bot|robot|human|person|ai|machine|program|chatbot|real|computer|llm|gpt|chatgpt|claude
            am i talking to a|an -|real bot|human|person|robot|machine|ai
            what's|whats|what is your name
            do you have a name
            what should|can|do i call you
            tell me about yourself
            introduce yourself
            who made|built|created you
            who am i talking|speaking|writing|chatting -|to|with
            what kind of -|bot|thing|coach are you
            what exactly are you
            your name
            """,
        ),
    ),
    intent(
        "help",
        "show what you can say",
        """
            help · what can you do? · how does this work? · what do you understand · hlep · how do I use you
            commands · show me your commands · what can I say · what can I ask you · help me · I need help
            how can you help me · what are my options · options · menu · show me what you can do · instructions
            manual · what are you good for · what can I say about snoozing? · help with reminders
            how do I cancel a reminder? · how do I snooze
        """,
        way(
            """
            what can|could|may i|we say|ask|do about|for|on|with|regarding {topic}
            help -|me with|about|on|for {topic}
            help {topic}
            how do|can|could i|we {topic}
            how does {topic} work
            show -|me -|some examples for|of|about {topic}
            """,
        ),
        way(
            """
            what can|could i ask|tell you -|to -|do
            what can|could you do -|for -|me
            help
            -|i|please need|want|get|give|show -|me -|some|more help
            help me -|out|please
            what can|could|do|does you|i|it|this -|do|say|help|understand|ask|offer -|for|me|with|here|how|to \
            -|me|do
            how does|do|can|should this|it|you|i|that -|bot|thing -|work|use|talk|works -|to|this|you|it
            commands
            -|show|list|what -|me|are -|the|all|your commands|features|options|functions
            what do you understand|do|offer
            how do|can i -|use|talk|work|speak -|to|with -|this|you|it
            /help
            instructions
            manual
            what are you good|able|capable for|at|of|to -|do|doing
            what are you for
            what can we do
            how can you help -|me
            show me what you can do
            options
            menu
            what are my options
            """,
        ),
    ),
    intent(
        "sent",
        "say what I sent today",
        """
            what did you send today? · what have you sent me today · how many messages did you send today
            what did you write today · what have you written today · what did you tell me today
            what did you say today · what did you text me today · what was your last message · what did you last say
            what did you just say · what did you just send me · what messages did you send me today
            how many messages have you sent · how many pings did you send today · how often did you write today?
            did you write today · have you written to me today · did you send me anything today
            show me what you sent · list today's messages · what have you said so far today
        """,
        way(
            """
            how often|many -|times did|have you -|already write|written|message|messaged|text -|to -|me -|today
            have you -|already written|messaged|texted -|to -|me -|today|yet
            show|tell -|me what you -|have sent|wrote|said|told -|me -|today
            show|list -|me today's|your messages|pings -|today|of -|today
            what did|have|do you -|already|all \
            -|send|sent|write|written|say|said|message|messaged|text|texted|tell|told -|me|to -|me|so -|far \
            -|today|this|so|already -|morning|far
            how many|much messages|pings|nudges|times did|have|texts you \
            -|already|send|sent|write|written|message|messaged -|me -|send|sent|today|so|already -|far|today
            what was your last message
            what did you last|just say|send|write -|to -|me
            show|list me -|what -|you -|sent|today's|your messages -|today|of|from -|today
            what messages did you send -|me -|today
            did|have you -|already write|send|message|text|written|sent|messaged -|me -|anything|something -|today|yet
            """,
        ),
    ),
    intent(
        "next-message",
        "say when I write next",
        """
            when will you write next? · when's your next message · what comes next from you
            when will I hear from you? · when do I hear from you again · when will you write again
            when do you write next · when is your next message · when's the next reminder · when is my next reminder
            next reminder · what's the next reminder · which reminder comes next · which reminder is next
            when will you message me again · when will you text me next · when will you ping me next
            what's next from you · when are you going to write to me · what will you send next
            when do you write again · when is the next ping
        """,
        way(
            """
            when do|will|are you -|going -|to write|writing|message|text|ping|nudge -|to -|me -|again|next
            when|what -|time will|do|are|is|would|can you|i|we -|going|be -|to \
            -|write|message|text|hear|ping|contact|talk|speak|send|nudge|say|expect \
            -|to|from|me|something|anything|a|your -|me|you|message|again|next -|next|again|message|something|from \
            -|from|you|next
            when's|when is your|the next message|ping|nudge|one|reminder|text -|due|coming|from -|from|you
            what comes|is|will|are next from you
            what's|what is|what will|what do -|are|you -|your|you|the -|next|going|send|write|say \
            -|message|to|next|me -|send|write|me -|next|from -|you
            what comes next -|from -|you
            when will|do i hear from you -|again|next
            what's next from you
            when do you write -|again|next|to -|me
            what's the next reminder
            which reminder is|comes next
            when is my next reminder
            next reminder
            """,
        ),
    ),
)
