"""Words that ask for nothing, and words that need care."""

from __future__ import annotations

from typing import Final

from nudge.coach.intents.intent import Intent, Rank, intent, way

KIND = (
    "I'm sorry. That sounds heavy. Do you want to tell me what happened?",
    "That sounds hard, and I'm glad you told me. What's weighing on you most?",
    "I'm sorry it's like that right now. Is there someone you could be with today?",
    "That's a lot. Nothing on your lists matters right now. What would help a little?",
)
WELL = ("I'm fine, thanks. How are you?", "All good here. And you?", "Running well. How's your day?")
GLAD = ("Love to hear that. What made it so good?", "That's great! Enjoy it.", "Nice, that makes my day too.")
PROUD = ("Congratulations! You earned that.", "Yes! Well done, really.", "Brilliant. Take a moment to enjoy it.")
SORRY = (
    "Sorry about that. Tell me what you need and I'll try again: “help” shows what I understand.",
    "Fair enough. What did you want me to do? “help” shows what I understand.",
)
BYE = ("See you.", "Bye. I'm here when you need me.", "Talk soon. Take care of you.")
NOT_MINE = (
    "I can't do that. I remind, keep lists and help you plan: “help” shows how.",
    "That's not my thing, and I don't have a language model for it. “help” shows what I can do.",
)
THANKS = ("Any time.", "Glad to.", "You're welcome.")
FINE = ("Good.", "Alright.", "👍")
HELLO = ("Hey. What's the plan?", "Hi! What are you on?", "Hello. What's next for you?")
NIGHT = ("Sleep well.", "Good night. See you in the morning.", "Night. Well done today.")

TALK: Final[tuple[Intent, ...]] = (
    intent(
        "trouble",
        "be there when you are in danger",
        """
            I want to die · I want to kill myself · I'm going to kill myself · I don't want to live anymore
            I can't go on anymore, I want to end it · I'm thinking about suicide · I feel suicidal
            I want to hurt myself · I've been cutting myself · I took too many pills on purpose
            life isn't worth living · everyone would be better off without me · my husband is hitting me
            someone is trying to hurt me · I'm not safe at home · I want to end my life · there's no point in living
            I wish I was dead · i wanna die · thinking of ending it all · he threatened to kill me
        """,
    ),
    intent(
        "sad",
        "listen when you are low",
        """
            I'm sad · I feel awful today · I feel lonely · I had a terrible day · I'm so tired of everything
            I'm stressed · I'm really anxious · everything is too much · I feel like a failure · my grandma died
            I feel down · I'm overwhelmed · today was horrible · I cried all morning · I'm depressed · we broke up
            I can't do this · nothing works out · I feel hopeless · I'm exhausted · I got fired · I failed my exam
            im feeling really down today
        """,
        way(
            """
            feeling -|so|really|pretty|very|quite|a -|bit sad|lonely|down|low|stressed|anxious|awful -|tbh|today|lately
            today|it|this|everything|life -|just|really sucked
            i -|have|just|really failed|flunked|messed|screwed -|up -|my|the|an exam|test|class|interview|everything
            im|i $feel -|a|so -|bit|really down -|today|lately
            -|so|really|very|just sad|awful|lonely|stressed|anxious|down|overwhelmed|depressed|hopeless -|today|now
            -|so|really|very|just exhausted|terrible|miserable|tired|upset|unhappy|drained -|today|now
            everything|life|today|this|it -|just|really sucks
            -|and|today i $feel \
            sad|awful|lonely|stressed|anxious|down|overwhelmed|depressed|hopeless|exhausted|terrible|miserable|\
tired|bad|low|upset|unhappy|horrible|worthless|useless|scared|afraid|worried|heartbroken|empty|numb|lost|alone|\
ashamed|guilty|burned|burnt|drained|frustrated|angry|crying|blue|rubbish|shit|crap|sick|nervous \
            -|today|now|right|lately|again|out|of|these -|now|everything|days|it|all
            i $feel stressed|anxious|worried|nervous|sad|upset|angry|tired|scared|overwhelmed|exhausted|frustrated \
            about|by|because|from|with|of|over {what}
            i have -|been a|an|such|so|really -|bad|rough|terrible|hard stressed|anxious|sad|down|low|day|time|week \
            -|lately|today
            had a|an|such -|a|really|very terrible|horrible|bad|awful|rough|hard|tough|shitty|difficult|sad|crap|shit \
            day|time|week|morning|night -|today
            work|school|everything|life is -|so|really|too stressful|exhausting|overwhelming|hard|much -|today|lately
            i feel like -|a|an|i -|am|total|complete \
            -|a|failure|crap|shit|failure|crying|loser|fraud|giving|nothing|am -|up|failing
            i had|have -|had|having a|such -|a|really|very \
            terrible|horrible|bad|awful|rough|hard|tough|shitty|difficult|sad -|day|time|week|morning|night \
            -|day|today
            -|my|this|the|today day|today|week|morning|it was|is|has|been -|been|really|so|just \
            horrible|terrible|awful|bad|hard|rough|tough|shit|the -|worst|today
            everything is|feels|has|got -|just|going|become|gone -|so|too \
            much|wrong|hard|terrible|pointless|falling -|for|apart|me
            nothing -|ever|is|seems works|goes|helps|working|going|to -|out|right|work|well -|for -|me
            my -|dear|best|old {who} died|passed -|away|today|yesterday|last -|night|week|away
            -|my|our {who} -|just|has died|dead -|today|yesterday
            we broke|split up
            {who} -|just|has broke|left|dumped|split -|up|me -|with -|me
            i -|just|got|was|have -|been lost|fired|dumped|laid|rejected -|my|off -|job|off
            i cried|cry|wept -|all|a|the|lot|for -|morning|day|night|lot|hours -|today
            i can't|cant|cannot do|take|handle|cope|stand -|this|it|with -|anymore|any|this|it -|more
            i hate|despise myself|everything|my -|life|job
            i miss {who}
            nobody|no likes|loves|cares|understands|one -|likes|loves|cares|understands|about -|me|about -|me
            i have no|nobody|noone one|friends|energy|hope|motivation -|to|left -|talk -|to
            life is hard|unfair|tough|too -|hard|much
            not -|a|doing|feeling good|great|well|so -|day|good|well|today -|today
            i am not -|doing|feeling|ok|okay|well|good|fine|great|happy|so -|ok|okay|well|good|great|so \
            -|good|well|great
            i am struggling -|with|today|a -|lot|everything|this
            so sad|lonely|stressed|tired|exhausted
            i am so tired of everything|this|life|it -|all
            it is all -|too|just -|much|pointless|too -|much
            i am a failure|mess|loser|disaster|burden
            rough|bad|hard|tough|awful|terrible day|week|night|morning
            i'm going through a hard|rough|tough|bad|difficult time|patch
            """,
        ),
        rank=Rank.TALK,
        says=KIND,
    ),
    intent(
        "glad",
        "be glad with you",
        """
            I feel great! · I'm so happy · I'm happy today · I feel good · feeling great · feeling good today
            I had a great day · had a good day · today was great · today went well · best day ever · what a day!
            life is good · I'm in a good mood · I'm excited · I'm so excited · great day today · I feel fantastic
            I feel much better · feeling better now · I'm feeling better
        """,
        way(
            """
            -|i -|am feeling -|so|really|very|just|pretty|much|quite|a -|bit|lot|much \
            great|happy|good|fantastic|wonderful|amazing|excited|better|awesome|proud|energetic|motivated \
            -|today|now|again|right -|now|today
            i am|feel|felt -|so|really|very|just|pretty|much|quite|a -|bit|lot|much \
            happy|fantastic|wonderful|amazing|excited|better|awesome|proud|energetic|motivated -|today|now|again
            i feel|felt -|so|really|very|just|pretty|much|quite -|much great|good -|today|now|again
            -|i had|having a|an|such|the -|a|really|very great|good|lovely|wonderful|amazing|nice|best|fun \
            day|time|week|morning|night|weekend -|today|ever|so -|far
            -|my|the|today|this day|today|week|morning|it was|is|went -|really|so|very|just great|good|well|lovely|fun
            best day -|ever
            what a -|great|lovely day
            life is -|so good|great|beautiful
            i am in a -|really good|great mood
            -|a great|good|lovely day -|today
            """,
        ),
        rank=Rank.TALK,
        says=GLAD,
    ),
    intent(
        "proud",
        "celebrate with you",
        """
            I passed my exam! · I passed · I got the job · I got a promotion · I got promoted · I made it · I got hired
            I won · we won · I won the game · I ran a marathon · I aced my test · I nailed it · I nailed the interview
            I got a raise · I got accepted · I quit smoking · I got engaged · we're having a baby · I finished school
            I broke my record
        """,
        way(
            """
            i -|have|just|finally|actually passed|aced|nailed|crushed|smashed -|my|the|it|that|an|a \
            -|driving|final|math|job exam|test|class|interview|course|finals|presentation|it
            i -|have|just|finally|actually passed|aced|nailed|crushed|smashed -|it|everything -|all
            i -|just|finally|actually got the|a|an|my|into|in -|new job|promotion|raise|offer|licence|license|degree
            i -|just|finally|actually got promoted|accepted|engaged|hired|married|in
            we are having a baby
            i -|just|finally|really made it
            i|we -|just|finally|actually won -|the|my|our -|game|match|race|prize|it
            i -|just|finally|actually ran -|a|my -|first|half marathon|race
            i -|just|finally quit|stopped smoking|drinking
            i -|just|finally finished|graduated -|from school|college|university
            i -|just broke my -|personal record
            """,
        ),
        rank=Rank.TALK,
        says=PROUD,
    ),
    intent(
        "sorry",
        "take criticism",
        """
            you're useless · you are stupid · you suck · you're not helpful · you are no help · this is useless
            that's stupid · this is stupid · that's wrong, stupid · you don't understand me · you don't get it
            you never understand · you're dumb · you're an idiot · stupid bot · bad bot · dumb bot · I hate you
            you're terrible · this doesn't work · that's not helpful
        """,
        way(
            """
            you are -|so|really|such|pretty|a|an|completely|just|very|too -|a|an|totally \
            useless|stupid|dumb|terrible|idiot|awful|rubbish|crap|pathetic|bad|slow|unhelpful|worthless|shit|trash
            you are not -|very|really|at|being helpful|useful|smart|good|all -|helpful
            you are no|of -|no help|use -|at -|all
            you -|really|just|totally suck
            this|that|it is -|so|really|just|completely|not|wrong useless|stupid|dumb|terrible|helpful|rubbish|crap
            you -|really don't|never|do|can't -|not understand|get|listen -|me|it|anything|to -|me
            stupid|bad|dumb|useless bot|thing|coach|app|program|machine
            i -|really hate you|this
            this|it|that -|really|just does|doesn't|don't -|not work
            """,
        ),
        rank=Rank.TALK,
        says=SORRY,
    ),
    intent(
        "night",
        "say good night",
        """
            good night · going to bed · off to sleep · goodnight · night night · night · gn · sleep well
            I'm going to bed · I'm off to bed · heading to bed · off to bed · time for bed · time to sleep
            calling it a day · calling it a night · done for today · I'm turning in · good night coach
            off to bed now, night · off to bed, good night
        """,
        way(
            """
            good night -|coach|nudge|all|then
            gn
            night -|coach|then|all
            -|i'm off to bed now night
            goodnight
            night -|night
            -|i'm going|off|heading|gonna -|up to bed|sleep
            sleep well|tight
            i am turning in
            done for today|tonight|the -|day
            calling it a day|night
            bedtime for me
            i am off to bed|sleep
            time -|for|to bed|sleep
            """,
        ),
        rank=Rank.TALK,
        says=NIGHT,
    ),
    intent(
        "hello",
        "say hello",
        """
            hi · hello there · good morning · hey coach · yo · hello · hey · hi there · hiya · howdy · morning
            good evening · good afternoon · heyyy · evening · I'm here · I'm up · good morning coach · hello again
            hey buddy · hi nudge · greetings · are you there? · are you still there?
        """,
        way(
            """
            hey
            hi
            hello|hey|hi|yo|hiya|howdy|heya|morning|evening|afternoon|greetings|sup|hallo \
            -|there|coach|nudge|you|again|everyone|buddy|friend|man|mate
            good morning|afternoon|evening|day -|coach|nudge|to|there -|you
            good to see you
            i am here|up|awake
            anyone|anybody there|home
            are you -|still there|here|around
            you -|still there|here
            """,
        ),
        rank=Rank.TALK,
        says=HELLO,
    ),
    intent(
        "thanks",
        "answer your thanks",
        """
            thanks · thank you so much · thx · cheers, that helped · thank you · thanks a lot · ty · cheers
            thanks for that · thanks for your help · that helped · much appreciated · I appreciate it · you're great
            you're the best · good bot · good job · well done · thanks a bunch · cheers mate · ty!!
            that was helpful
        """,
        way(
            """
            well done -|coach|you
            thanks|thank|cheers|thx -|you for your|the|all -|the|your help|support|time|reminder|message
            thanks|thx a bunch|million|ton|lot
            that|this|it was|is -|so|very|really helpful|useful|great|kind|nice
            -|ok|okay|great|cool|perfect|nice thanks|thx|ty|cheers|tnx|thank|merci|danke|thankyou \
            -|a|so|for|you|very|that|to|loads|very -|lot|much|you|helped|everything|that|the|so|very|all \
            -|much|help|helped|reminder|was|helpful|this|it -|much|helpful
            that helped|helps -|a|me|thanks -|lot
            much|really appreciated|appreciate -|it|that
            i appreciate -|it|that|you|your -|help
            you are|were -|so|very|really|a|the -|great|helpful|kind|nice|best|star|sweet|awesome|good|amazing
            good bot|job|coach
            well done
            appreciate it
            bless you
            """,
        ),
        rank=Rank.TALK,
        says=THANKS,
    ),
    intent(
        "fine",
        "nod",
        """
            ok · cool · haha · sounds good · nice one · great · lol · I see · okay · sure · fine · alright · got it
            will do · makes sense · no problem · understood · perfect · on it · that works · good · no worries
        """,
        way(
            """
            -|that|it|all|i|very|ok|okay|oh|yes|sounds|looks|and|well -|is|am|sounds|looks|really \
            ok|okay|k|kk|sure|fine|alright|right|yes|yep|yeah|yup|good|great|cool|nice|perfect|awesome|excellent|\
understood|noted|agreed|fair|true|exactly|indeed|wow|haha|hahaha|lol|lmao|hehe|ha|hm|hmm|ah|aha|oh|super|brilliant|\
lovely|yay|woohoo|interesting|later|soon|absolutely|definitely|correct \
            -|one|then|enough|me|it|good|great|thanks|by|with|yes|for -|me
            all right
            got it
            will|can do
            on it
            i see
            not yet
            going -|now
            ok going|later|soon|thanks
            sounds good|great|fine|like|right -|a -|plan|to|me -|me
            makes sense
            no problem|worries|rush
            i know|understand|agree|guess|suppose|think -|so
            never mind
            nevermind
            nvm
            that works
            let's|let go|us -|go
            same -|here
            me too
            maybe
            perhaps
            we will see
            i will -|try|do|see|think -|it|my|about -|best|it
            doing it -|now
            i am on it
            yes yes
            almost
            nearly done
            working on it
            in a -|minute|bit|sec
            one moment|sec|second
            no
            nope
            nah
            no thanks
            not really
            nothing
            nothing much
            i am fine|good|ok|okay|great|well|happy -|thanks|today
            good luck
            """,
        ),
        rank=Rank.TALK,
        says=FINE,
    ),
    intent(
        "how-are-you",
        "say how I am",
        """
            how are you? · how's it going? · what's up · how are you doing · how are you today · how are you feeling
            how is your day · how do you do · how's everything · how's life · how have you been · wassup · you ok?
            are you ok · are you happy · how was your day · what are you up to · what are you doing · how goes it
            do you sleep · do you have feelings
        """,
        way(
            """
            how are|r|is|have you|things|u|it|everything|your|life|been \
            -|doing|going|today|feeling|day|been|keeping|with|all -|today|now|you|so|going|been -|far
            how do you do
            what is up
            whats up
            wassup
            sup
            how goes it
            how you doing
            you ok|okay|good|alright
            are you ok|okay|good|fine|happy|well|tired
            how was your day|night|weekend
            what are you -|up doing|to -|now|up|today
            do you sleep|dream|feel|eat|have -|feelings|ever|emotions
            """,
        ),
        rank=Rank.TALK,
        says=WELL,
    ),
    intent(
        "bye",
        "say goodbye",
        """
            bye · see you tomorrow · talk later · goodbye · bye bye · bye for now · see you · see you later · see ya
            cya · ttyl · talk to you later · talk soon · until tomorrow · have a nice day · have a good evening
            take care · catch you later · gotta go · got to run · I'm off · brb
        """,
        way(
            """
            bye -|bye|now|coach|for|then -|now
            goodbye
            see you|ya -|later|tomorrow|soon|then|around|next -|week
            cu|cya|ttyl|later|laters
            talk -|to -|you|later|soon|tomorrow -|later|soon|tomorrow
            until|till tomorrow|later|then|next -|time
            have a good|nice|great|lovely day|evening|night|weekend|one|time
            take care
            catch you later
            i am off|leaving|out|heading -|now|out|home
            gotta|got|have -|to -|go|run|leave
            brb|afk
            """,
        ),
        rank=Rank.TALK,
        says=BYE,
    ),
    intent(
        "not-mine",
        "say what I can't do",
        """
            tell me a joke · what's the weather like? · who won the game last night? · tell me a story
            do you know a joke · how's the weather today · is it going to rain tomorrow · will it rain today
            what is the capital of France · sing me a song · write me a poem · write an essay about dogs
            translate hello · play some music · google cheap flights · search for a hotel · order me a pizza
            book me a flight · recommend a film · what's the news · do my homework · can you order me a pizza
        """,
        way(
            """
            tell me -|a|another|some -|good|funny|bad joke|jokes|story|something
            -|do|got|know|make -|you|me -|know|have|laugh -|a|any joke|jokes
            what is|was -|will|the|be -|weather -|be|like|today|tomorrow|outside|going -|like|today|tomorrow|to \
            -|be -|like
            how is the weather -|today|outside|tomorrow
            will|is it -|going|gonna rain|raining|snow|sunny|cold|hot|to -|rain|snow|today|tomorrow|outside \
            -|today|tomorrow
            who|what won|is|was|wins -|the {who}
            what is the capital|meaning|population|price|score|news|stock of|for|today|in|on -|life|the|a|today|{x}
            what is the capital of {who}
            sing -|me|a|for -|a|me -|song
            write -|me a|an|my poem|story|song|essay|letter|email|code|mail -|for|about|to -|me|{x}
            write -|me a|an poem|story|song|essay|letter|email about|to|for {who}
            translate {who}
            what do you think -|of|about {who}
            recommend|suggest -|me a|some|an {who}
            play -|some|a music|song|game
            search|google -|for {who}
            what is the news
            do|can|could -|you -|you my homework
            book me a|an {who}
            order -|me a|an|some {who}
            call|email|text {who} for me
            """,
        ),
        rank=Rank.TALK,
        says=NOT_MINE,
    ),
)
