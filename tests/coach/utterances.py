"""What people say to a coach without a model, and what must follow. Written before the code that reads it.

It is Wednesday 2026-02-18, noon in Toronto. GOALS.md has two lines for today (Write the intro, Book the dentist), one
for the week (Finish chapter two) and one for the quarter (Write every weekday). Three reminders are set: stretch
(weekdays at 15:00), call Mum (Friday at 17:00), take the pills (every day at 21:00, set last).

A key says what changes, and behind the bar what the answer contains (`a/b` means one of them):

    +call bob @ 2026-02-20 17:00    a new reminder and its first time
    call Mum @ 2026-02-21 15:00     the next time of a reminder
    -call Mum                       cancelled
    done stretch                    the reminder that came is handled
    ticked Write the intro          a line of GOALS.md is done
    today+, week+, quarter+, star+  a new line in that list; memory+ in MEMORY.md; -line is taken out
    quiet 14:00, alone, loud        nothing unasked until then, until the person writes, or as usual again
    review, paused                  the weekly review is open, or waits
    asks                            nothing changes and one question is asked
    nothing                         nothing changes
    one & another                   both

`earlier >> later` are two messages; `(stretch)` is the reminder that comes at 15:00.
"""

from __future__ import annotations

from tests.coach.utterances_heard import HEARD

SET = {
    "+call bob @ 2026-02-20 17:00": """
        remind me to call bob friday 5pm
        ping me friday 5pm to call bob
        can you remind me to call bob on friday at 5pm?
        pls remind me friday at 5pm to call bob
        could you please ping me at 5pm on friday to call bob
        set a reminder for friday 5pm: call bob
        I need to call bob on friday at 5pm, remind me
        tell me to call bob friday at 5pm
        hey, remind me to call bob friday 5pm thanks
        remind me to call bob frday 5pm
        don't let me forget to call bob friday 5pm
        give me a nudge friday 5pm to call bob
        """,
    "+wake up @ 2026-02-19 07:00": """
        wake me up at 7am tomorrow
        wake me up tomorrow at 7am
        """,
    "+alarm @ 2026-02-19 07:00": """
        set an alarm for 7am tomorrow
        alarm at 7am tomorrow
        """,
    "+check the oven @ 2026-02-18 12:20": """
        in 20 minutes remind me to check the oven
        remind me to check the oven in 20 min
        20 minutes: check the oven
        nudge me in 20 minutes to check the oven
        """,
    "asks | 6 am or 6 pm": """
        bring 2 bottles at 6
        remind me to feed the cat at 6
        """,
    "asks | when": """
        remind me to call bob
        remind me later to call bob
        """,
    "+call bob @ 2026-02-18 18:00": """
        remind me to call bob at 6 >> pm
        remind me to call bob >> today at 6pm
        """,
}

LIST = {
    "nothing | stretch, call Mum, take the pills": """
        what are my reminders?
        list my reminders
        show reminders
        reminders?
        what reminders do I have
        which reminders are set
        show me all my reminders please
        what have I asked you to remind me of?
        remnders
        what's coming up?
        what are you going to remind me about
        do I have any reminders?
        """,
    "nothing | Write the intro": """
        what's on my list?
        what do I have to do today?
        what's next?
        my to-do list
        show my todos
        what should I do now?
        what's on for today
        what am I supposed to be doing
        """,
    "nothing | call Mum, fri": """
        when is call mum?
        when will you remind me to call mum?
        what time is the mum one?
        what's on friday?
        """,
    "nothing | stretch, take the pills": """
        what's left today
        anything else today?
        what reminders are left today?
        """,
}

MOVE = {
    "call Mum @ 2026-02-21 15:00": """
        move call mum to saturday 3pm
        reschedule call mum to saturday at 3pm
        can you move the mum one to saturday 3pm?
        change call mum to saturday 3pm
        make call mum saturday 3pm instead
        put call mum on saturday at 3pm
        shift the call to mum to saturday 3pm
        call mum should be saturday at 3pm
        mvoe call mum to saturday 3pm
        """,
    "call Mum @ 2026-02-20 18:00": """
        push call mum back an hour
        move call mum to 6pm
        call mum an hour later
        postpone call mum by an hour
        delay call mum by 1 hour
        make it an hour later for call mum
        """,
    "call Mum @ 2026-02-21 17:00": """
        postpone call mum by a day
        move call mum to saturday
        push call mum to saturday
        """,
    "stretch @ 2026-02-18 16:00": """
        move stretch to 4pm
        move the stretching one to 4pm
        change the stretch reminder to 4pm
        """,
    "asks | call mum/to when/when": """
        move call mum
        reschedule call mum
        """,
    "asks | which": """
        move a reminder to 4pm
        """,
}

SNOOZE = {
    "stretch @ 2026-02-18 15:30": """
        (stretch) >> snooze 30m
        (stretch) >> snooze
        (stretch) >> in half an hour
        (stretch) >> remind me again in 30 minutes
        (stretch) >> 30 more minutes
        (stretch) >> give me half an hour
        (stretch) >> snooze it for half an hour
        (stretch) >> snoze 30 min
        (stretch) >> ask me again in 30 min
        (stretch) >> half an hour more pls
        (stretch) >> not yet, in 30 minutes
        """,
    "stretch @ 2026-02-18 16:00": """
        (stretch) >> in an hour
        (stretch) >> snooze until 4pm
        (stretch) >> remind me at 4pm instead
        (stretch) >> later, at 4pm
        (stretch) >> snooze for an hour
        """,
    "call Mum @ 2026-02-20 17:30": """
        snooze call mum 30 minutes
        """,
}

CANCEL = {
    "-call Mum": """
        cancel call mum
        cancel the call mum reminder
        delete the reminder about mum
        forget about calling mum
        remove call mum
        please cancel the mum one
        I don't need the call mum reminder anymore
        no need to remind me to call mum
        don't remind me to call mum
        stop reminding me to call mum
        never mind about calling mum
        drop the call mum reminder
        cancl call mum
        get rid of the mum reminder
        scrap call mum
        call off the mum one
        """,
    "-stretch": """
        cancel stretch
        cancel the stretch one
        stop reminding me to stretch
        no more stretching reminders
        (stretch) >> cancel this reminder for good
        """,
    "asks | which": """
        cancel a reminder
        delete reminder
        """,
    "asks | all/three/3": """
        cancel all my reminders
        delete everything
        """,
    "nothing | no reminder/couldn't find/don't see/nothing called": """
        cancel the dentist reminder about teeth whitening
        """,
}

COMPLETE = {
    "ticked Write the intro": """
        done with the intro
        I wrote the intro
        I've written the intro
        finished the intro
        tick off write the intro
        the intro is done
        intro done!
        check off the intro
        mark write the intro as done
        I finished writing the intro
        done: write the intro
        I did the intro
        completed the intro
        """,
    "ticked Book the dentist": """
        dentist booked
        booked the dentist
        I booked the dentist
        the dentist is booked
        done with number 2
        """,
    "done stretch": """
        (stretch) >> done
        (stretch) >> did it
        (stretch) >> finished
        (stretch) >> just did
        (stretch) >> done!
        (stretch) >> I did it
        (stretch) >> all done
        (stretch) >> yep, done
        (stretch) >> stretched
        (stretch) >> doen
        """,
    "nothing | Write the intro": """
        what have I not done yet?
        """,
    "-call Mum": """
        I already called mum
        already called mum
        """,
}

UNDO = {
    "nothing": """
        cancel call mum >> undo
        cancel call mum >> undo that
        cancel call mum >> /undo
        cancel call mum >> oops, undo
        cancel call mum >> take that back
        cancel call mum >> bring it back
        move call mum to saturday 3pm >> undo
        move call mum to saturday 3pm >> put it back
        done with the intro >> undo
        done with the intro >> no wait, I didn't
        busy >> undo
        leave me alone >> undo
        remind me to call bob friday 5pm >> undo
        remind me to call bob friday 5pm >> forget that
        cancel call mum >> cancel stretch >> undo >> undo
        my goal is to learn French >> undo that
        """,
    "-call Mum": """
        cancel call mum >> cancel stretch >> undo
        """,
    "-take the pills | take the pills": """
        undo
        undo the last thing
        revert that
        """,
}

WHY = {
    "nothing | stretch": """
        (stretch) >> why did you write?
        (stretch) >> why?
        (stretch) >> why are you telling me this
        (stretch) >> why did you send me that
        (stretch) >> why now?
        (stretch) >> what was that for
        (stretch) >> how come you messaged me
        (stretch) >> explain that
        (stretch) >> wy did you write
        (stretch) >> why did you remind me
        """,
    "nothing | quiet/nothing/haven't/no": """
        why didn't you write?
        why are you so quiet?
        why have you not said anything
        why didn't you remind me
        why did you not message me today
        """,
}

REVIEW = {
    "review": """
        start the weekly review
        let's do the review
        weekly review
        review
        can we do the weekly review now?
        I want to do my review
        review my week
        let's look back at the week
        begin review
        time for the review
        start the reveiw
        /review
        let's review the week
        could we do a review
        weekly review please
        """,
    "paused": """
        /review >> pause
        /review >> later
        /review >> let's continue later
        /review >> not now
        """,
    "nothing | review": """
        /review >> stop
        /review >> stop the review
        when is the weekly review?
        """,
}

RESTRAINT = {
    "quiet 14:00": """
        busy
        I'm busy
        not now
        I'm busy right now
        focusing
        I need to focus
        quiet please
        be quiet
        I'm working, don't disturb
        do not disturb
        in a meeting
        I'm driving
        bsuy
        can't talk now
        """,
    "quiet 17:00": """
        in a meeting until 5
        busy until 5pm
        quiet until 5
        don't write before 5pm
        no messages until 17:00
        I'm in a meeting till 5pm
        leave me alone until 5
        """,
    "quiet 13:00": """
        busy for an hour
        give me an hour of peace
        don't disturb me for an hour
        quiet for 1h
        mute for 60 minutes
        no pings for the next hour
        """,
    "quiet 2026-02-19 10:00": """
        busy till tomorrow
        no more messages today
        quiet for the rest of the day
        leave me alone until tomorrow
        """,
    "alone | reminders": """
        leave me alone
        shut up
        stop
        stop messaging me
        stop texting me
        go away
        please stop writing to me
        leave me in peace
        enough
        """,
    "loud": """
        busy >> back
        busy >> I'm back
        busy >> not busy anymore
        busy >> I'm free again
        busy >> meeting is over
        busy >> you can write again
        busy >> ok I'm done with the meeting
        leave me alone >> I'm back
        leave me alone >> you can talk again
        quiet until 5 >> quiet off
        busy >> unmute
        busy >> no longer busy
        """,
    "nothing": """
        I'm not busy
        back
        """,
}

ITSELF = {
    "nothing | coach": """
        who are you?
        what are you?
        are you a bot?
        are you human?
        are you an AI
        what's your name?
        tell me about yourself
        """,
    "nothing | 12:00": """
        what time is it?
        what's the time
        do you know what time it is
        time?
        """,
    "nothing | wednesday": """
        what day is it?
        what's today's date?
        what day is it today
        """,
    "nothing | 1:00": """
        what's my bedtime?
        when should I go to bed?
        when do I go to sleep
        """,
    "nothing | 10:00": """
        when do I get up
        what's my wake time?
        when do you start in the morning?
        """,
    "nothing | Toronto": """
        what's my time zone?
        which timezone am I in
        where am I
        """,
    "nothing | today/yet/sent": """
        what did you send today?
        what have you sent me today
        how many messages did you send today
        """,
    "nothing | stretch, 3:00": """
        when will you write next?
        when's your next message
        what comes next from you
        when will I hear from you?
        """,
    "nothing | remind/reminder": """
        what can you do?
        help
        how does this work?
        what do you understand
        hlep
        how do I use you
        """,
    "nothing | model/rules": """
        status
        how are things with you running
        what's your status
        are you working?
        """,
    "nothing | memory/remember/know": """
        what do you know about me?
        what do you remember
        """,
    "nothing | 2:00": """
        what are my quiet hours?
        when are my quiet hours
        """,
}

BUDGET = {
    "nothing | %/$/spent/free/nothing": """
        how much have you spent?
        what's my budget
        how much money is left?
        what did you cost me today
        budget
        budgt
        how much do you cost
        what have you spent this month
        show the budget
        how much is left of the budget
        are you expensive?
        """,
    "nothing | message/ping": """
        ping budget
        how many messages may you send me?
        how many pings are left?
        """,
}

GOALS = {
    "quarter+learn French": """
        my goal is to learn French
        my goal: learn French
        I want to learn French this quarter
        add learn French to this quarter
        add learn French to my goals
        new goal: learn French
        goal for the quarter: learn French
        put learn French on this quarter's list
        one of my goals is to learn French
        """,
    "today+call the bank": """
        add call the bank to today
        put call the bank on today's list
        add call the bank to my list
        today: call the bank
        add "call the bank" to my to-do list
        I also have to call the bank today
        """,
    "week+ship the report": """
        add ship the report to this week
        this week: ship the report
        put ship the report on this week's list
        my goal for this week is to ship the report
        """,
    "nothing | Write every weekday": """
        what are my goals?
        show my goals
        goals
        my goals please
        what am I working towards
        gaols
        remind me of my goals
        what did I want to achieve this quarter
        """,
    "ticked Finish chapter two": """
        I finished chapter two
        chapter two is done
        finished chapter two!
        """,
    "week-Finish chapter two": """
        remove finish chapter two from this week
        take finish chapter two off my list
        """,
    "bedtime 00:30": """
        set my bedtime to 00:30
        my bedtime is 00:30
        change bedtime to half past midnight
        """,
}

NAMES = {
    "memory+Sam | Sam": """
        call me Sam
        my name is Sam
        I'm called Sam
        you can call me Sam
        please call me Sam
        my name's Sam
        I go by Sam
        the name is Sam
        hi, I'm Sam
        just call me Sam
        """,
    "memory+Sam | you're Sam": """
        call me Sam >> what's my name?
        call me Sam >> do you know my name
        call me Sam >> who am I?
        """,
    "nothing | don't know/call you": """
        what's my name?
        do you know who I am?
        """,
}

TROUBLE = {
    "trouble": """
        I want to die
        I want to kill myself
        I'm going to kill myself
        I don't want to live anymore
        I can't go on anymore, I want to end it
        I'm thinking about suicide
        I feel suicidal
        I want to hurt myself
        I've been cutting myself
        I took too many pills on purpose
        life isn't worth living
        everyone would be better off without me
        my husband is hitting me
        someone is trying to hurt me
        I'm not safe at home
        I want to end my life
        there's no point in living
        I wish I was dead
        I wish I were dead
        i wanna die
        thinking of ending it all
        kms
        I want to kil myself
        he threatened to kill me
        """,
    "nothing": """
        this deadline is killing me
        I'm dying of laughter
        I could murder a burger
        my phone died
        """,
}

SADNESS = {
    "kind": """
        I'm sad
        I feel awful today
        I feel lonely
        I had a terrible day
        I'm so tired of everything
        I'm stressed
        I'm really anxious
        everything is too much
        I feel like a failure
        my grandma died
        I feel down
        I'm overwhelmed
        today was horrible
        I cried all morning
        I'm depressed
        we broke up
        I can't do this
        nothing works out
        I feel hopeless
        I'm exhausted
        """,
}

SMALL_TALK = {
    "nothing | hi/hello/hey/morning/afternoon/evening": """
        hi
        hello there
        good morning
        hey coach
        yo
        """,
    "nothing | welcome/any time/glad/sure/pleasure": """
        thanks
        thank you so much
        thx
        cheers, that helped
        """,
    "nothing": """
        ok
        cool
        haha
        👍
        sounds good
        nice one
        great
        lol
        I see
        """,
    "nothing | night/sleep": """
        good night
        going to bed
        off to sleep
        """,
    "nothing | well/fine/good/you": """
        how are you?
        how's it going?
        what's up
        """,
    "nothing | bye/later/soon/you": """
        bye
        see you tomorrow
        talk later
        """,
    "nothing | joke/not my/can't/don't": """
        tell me a joke
        what's the weather like?
        who won the game last night?
        """,
}

REFERENCES = {
    "+call bob @ 2026-02-24 17:00": """
        remind me to call bob monday 5pm >> no, I meant tuesday
        remind me to call bob monday 5pm >> tuesday, sorry
        remind me to call bob monday 5pm >> actually tuesday
        remind me to call bob monday 5pm >> make it tuesday
        remind me to call bob monday 5pm >> no, tuesday
        remind me to call bob monday 5pm >> not monday, tuesday
        remind me to call bob monday 5pm >> change it to tuesday
        remind me to call bob monday 5pm >> I mean tuesday
        remind me to call bob monday 5pm >> move it to tuesday
        """,
    "+call bob @ 2026-02-23 18:00": """
        remind me to call bob monday 5pm >> no, 6pm
        remind me to call bob monday 5pm >> make that 6pm
        remind me to call bob monday 5pm >> an hour later
        remind me to call bob monday 5pm >> 6pm rather
        """,
    "+call rob @ 2026-02-23 17:00": """
        remind me to call bob monday 5pm >> no, call rob
        remind me to call bob monday 5pm >> I meant call rob
        """,
    "nothing": """
        remind me to call bob monday 5pm >> cancel it
        remind me to call bob monday 5pm >> delete that one
        remind me to call bob monday 5pm >> never mind
        remind me to call bob monday 5pm >> not that
        """,
    "-call Mum": """
        when is call mum? >> cancel it
        when is call mum? >> cancel that one
        when is call mum? >> delete that
        what are my reminders? >> cancel the third one
        cancel stretch >> not that one, call mum
        cancel stretch >> no, I meant call mum
        """,
    "call Mum @ 2026-02-21 17:00": """
        when is call mum? >> move it to saturday
        when is call mum? >> move that one to saturday
        """,
    "-take the pills": """
        cancel the pills one
        cancel the last one
        """,
}

NONSENSE = {
    "nothing": """
        asdf
        fjdkslfj
        42
        ???
        .
        banana
        purple monkey dishwasher
        colorless green ideas sleep furiously
        the quick brown fox
        lorem ipsum dolor sit amet
        1+1
        aaaaaaa
        hjkl hjkl
        move
        it
        the one with the thing
        why is the sky blue
        cancelled flights are the worst
        I read a review of the film
        my sister is done with school
        he told me to stop smoking
        she said she is busy tomorrow
        the undo button is broken in my editor
        quiet people are interesting
        """,
}

AS_TYPED = {
    "+take out the trash @ 2026-02-18 20:00": """
        remind me tonight at 8 to take out the trash
        hey could u remind me to take out the trash at 8 tonight, thx
        """,
    "+ring the plumber @ 2026-02-19 09:00": """
        tmrw 9am ring the plumber
        I have to ring the plumber tomorrow at nine in the morning, please remind me
        """,
    "+water the plants @ 2026-02-22 10:00": """
        water the plants sunday 10am
        """,
    "+renew passport @ 2026-03-02 09:00": """
        remind me to renew passport on march 2 at 9am
        2nd of march 9am remind me: renew passport
        """,
    "+move the car @ 2026-02-18 12:45": """
        in three quarters of an hour remind me to move the car
        """,
    "+drink water @ 2026-02-18 13:00": """
        remind me to drink water every hour
        tell me to drink water hourly
        """,
    "+yoga @ 2026-02-19 18:30": """
        yoga every tuesday and thursday at 6.30pm
        remind me of yoga tuesdays and thursdays at 18:30
        """,
    "+pay rent @ 2026-03-01 09:00": """
        remind me on the 1st of every month at 9am to pay rent
        every first of the month 9am: pay rent
        """,
    "+check the laundry @ 2026-02-18 13:30": """
        in an hour and a half check the laundry
        remind me to check the laundry in 90 minutes
        """,
    "asks": """
        remind me about the meeting
        remind me sometime next week to email Tom
        wake me at 7
        can you remind me about something
        remind me at 4 to stretch my back
        """,
    "call Mum @ 2026-02-21 17:00": """
        can we do call mum on saturday instead
        push the call with mum to saturday
        id rather call mum saturday
        change call mum to sat
        """,
    "call Mum @ 2026-02-20 18:30": """
        call mum at 6:30pm instead of 5
        make the mum one 6.30pm
        """,
    "stretch @ 2026-02-18 16:00": """
        stretch an hour later today
        push stretching back an hour
        can stretch come at 4pm today
        """,
    "take the pills @ 2026-02-18 22:00": """
        make that 10pm
        no wait, 10pm is better
        pills at 10pm from now on please
        """,
    "-call Mum": """
        i already called mum so u can cancel that reminder
        scrap the mum thing
        no need to call mum anymore
        pls delte the call mum reminder
        you can drop the one about mum
        remove the mum one pls
        """,
    "-take the pills": """
        get rid of that pill reminder
        delete it
        """,
    "call Mum @ 2026-02-19 17:00": """
        when do i call mum? >> do it tomorrow instead
        when's the mum one >> move that to thursday
        """,
    "+call bob @ 2026-02-24 17:00": """
        remind me to call bob monday 5pm >> oops tuesday
        remind me to call bob monday 5pm >> sorry tuesday i mean
        remind me to call bob monday 5pm >> tuesday not monday
        """,
    "+call rob @ 2026-02-23 17:00": """
        remind me to call bob monday 5pm >> i meant rob
        remind me to call bob monday 5pm >> *call rob
        """,
    "nothing": """
        remind me to call bob monday 5pm >> forget that
        cancel the stretch one >> no wait bring it back
        cancel call mum >> oh no wrong one, undo
        add milk to today >> hmm no take that off again
        (stretch) >> ugh not again
        remind me to call bob monday 5pm >> sorry scrap that
        add buy milk to today >> undo that please
        the meeting was cancelled
        i moved to a new flat
        my boss is so annoying
        """,
    "done stretch": """
        (stretch) >> yep did it
        (stretch) >> did my stretches
        (stretch) >> all done thanks
        (stretch) >> ✅
        (stretch) >> just finished
        (stretch) >> done and done
        (stretch) >> ok did that
        (stretch) >> stretched!
        (stretch) >> thats done
        (stretch) >> yes i did
        """,
    "stretch @ 2026-02-18 15:30": """
        (stretch) >> ask me again in half an hour
        (stretch) >> gimme 30 min
        (stretch) >> half an hour pls
        """,
    "stretch @ 2026-02-18 15:15": """
        (stretch) >> 15 more mins
        (stretch) >> quarter of an hour
        (stretch) >> in 15
        """,
    "nothing | call Mum": """
        whats coming up this week
        what reminders do u have for me
        do i have anything on friday
        when do i need to ring mum
        whens mum
        whats happening friday
        """,
    "nothing | 9:00 PM/21:00": """
        what time do i take my pills
        when are the pills due
        """,
    "nothing | nudge": """
        who r u
        are you human
        what are you exactly
        am i talking to a robot
        do you have a name?
        """,
    "nothing | 12:00": """
        whats the time
        time please
        """,
    "nothing | wednesday": """
        is it wednesday?
        """,
    "nothing | toronto": """
        what timezone do you think im in
        which time zone are you using
        """,
    "nothing | write the intro": """
        whats on my plate today
        what should i be working on
        what do i still have to do
        show me my todos
        """,
    "nothing | write every weekday": """
        what are my goals again
        remind me what my goals are
        whats my goal this quarter
        """,
    "nothing | budget/model/%": """
        how much have i spent on you
        are you costing me money
        """,
    "nothing | stretch": """
        (stretch) >> what did you send me today
        whats up for this afternoon
        """,
    "quarter+Run a half marathon": """
        my goal is to run a half marathon
        new goal: run a half marathon
        i want to run a half marathon this quarter
        can you add run a half marathon to my goals
        """,
    "today+Buy milk": """
        put buy milk on todays list
        add buy milk for today
        i need to buy milk today
        """,
    "week+Clean the garage": """
        this week i want to clean the garage
        add clean the garage to this week
        """,
    "ticked Write the intro": """
        i wrote the intro!!
        intro's done
        tick off the intro
        check off write the intro please
        ok the intros done
        wrote the intro :)
        """,
    "ticked Book the dentist": """
        called and booked the dentist
        dentist is booked
        got the dentist booked
        dentist done
        """,
    "today-Book the dentist": """
        take the dentist off my list
        remove book the dentist from today
        """,
    "ticked Finish chapter two": """
        finished chapter two yay
        """,
    "memory+Goes by Sam": """
        call me Sam please
        btw my name is Sam
        I'm Sam
        my names Sam
        """,
    "memory+Mary": """
        remember that Mary is my sister
        note to self: Mary likes tulips
        """,
    "quiet 14:00": """
        im busy rn
        kinda busy atm
        cant talk now
        busy!
        im driving atm
        on a call
        """,
    "quiet 17:00": """
        in meetings till 5
        dont bug me before 5pm
        """,
    "alone": """
        ugh leave me alone
        please just stop texting me
        shut up already
        omg stop
        please leave me alone for a while
        """,
    "quiet 13:00": """
        no messages for the next hour please
        quiet for an hr
        """,
    "loud": """
        leave me alone >> ok im back
        busy till 5 >> im free now
        mute >> you can talk again
        busy >> ok meeting done
        busy >> free now
        """,
    "kind": """
        im feeling really down today
        i had such a shitty day
        i feel so alone
        honestly im exhausted and everything sucks
        my dog died yesterday
        i got fired
        i failed my exam
        im so stressed out
        my gf left me
        i cant cope anymore
        """,
    "trouble": """
        i dont want to live anymore
        i keep thinking about killing myself
        my boyfriend hits me
        i want to end it all
        sometimes i think about killing myself
        """,
    "nothing | any time/glad/welcome": """
        thanks a bunch
        cheers mate
        ty!!
        thank u
        thanks coach
        """,
    "nothing | sleep/night": """
        good night coach
        off to bed now, night
        """,
    "nothing | hey/hi/hello": """
        morning!
        heyyy
        hiii
        good morning!
        """,
    "nothing | help": """
        what can you do for me
        can you order me a pizza
        """,
    "+call bob @ 2026-02-20 17:00 & +buy bread @ 2026-02-18 18:00": """
        remind me to call bob friday 5pm and to buy bread today at 6pm
        """,
    "ticked Write the intro & today+Buy milk": """
        finished the intro, add buy milk to today
        done with the intro and put buy milk on today
        """,
    "-stretch & -call Mum": """
        cancel stretch and call mum
        delete the stretch and the mum reminder
        """,
    "bedtime 23:00": """
        set my bedtime to 11pm
        bedtime should be 11 pm
        """,
    "review": """
        lets do the weekly review
        start my review
        can we do the review now
        can we do my weekly review
        id like to do the review
        """,
    "+take the bins out @ 2026-02-19 19:00": """
        can u pls remind me 2 take the bins out tomorrow at 7pm
        """,
    "+feed the cat @ 2026-02-18 18:00": """
        remind me to feed the cat at 6 this evening
        """,
    "+submit the form @ 2026-02-20 12:00": """
        remind me friday at noon to submit the form
        """,
    "+call the vet @ 2026-02-18 14:00": """
        in 2 hrs call the vet
        two hours from now remind me to call the vet
        """,
    "+meditate @ 2026-02-19 08:00": """
        meditate every morning at 8
        remind me to meditate daily at 8am
        """,
    "call Mum @ 2026-02-22 17:00": """
        lets call mum on sunday instead
        can you push mum to sunday
        """,
    "stretch @ 2026-02-18 17:00": """
        stretch at 5pm today instead of 3
        hey could you shift my stretch to 5pm
        """,
    "-stretch": """
        i dont want to stretch anymore
        please stop the stretching
        stop bugging me about stretching
        """,
    "stretch @ 2026-02-18 15:10": """
        (stretch) >> 10 mins
        (stretch) >> ten more minutes please
        """,
    "nothing | 01:00": """
        what time am i supposed to sleep
        """,
    "quarter+Learn the piano": """
        i wanna learn the piano this quarter
        my new goal is learn the piano
        put learn the piano in my goals
        """,
    "today+Email Tom": """
        todo email Tom
        could you put email Tom on my list for today
        """,
    "memory+Goes by Alex": """
        call me alex
        im Alex btw
        you can just call me Alex ok
        """,
    "memory+coffee": """
        remember i hate coffee
        please note: no coffee after 3
        """,
    "quiet 16:00": """
        dont message me til 4
        in class til 4
        """,
    "nothing | see/bye/soon": """
        ok bye
        """,
    "ticked Write the intro & ticked Book the dentist": """
        done with the intro and the dentist
        finished the intro. booked the dentist
        """,
    "bedtime 23:30": """
        my bedtime should be 11:30pm
        change my bedtime to half past eleven pm
        """,
    "-stretch & call Mum @ 2026-02-21 17:00": """
        cancel stretch and move call mum to saturday
        """,
    "+call bob @ 2026-02-20 17:00 & today+Buy milk": """
        remind me to call bob friday 5pm. also add buy milk to today
        """,
}

GROUPS = {
    "set": SET,
    "list": LIST,
    "move": MOVE,
    "snooze": SNOOZE,
    "cancel": CANCEL,
    "complete": COMPLETE,
    "undo": UNDO,
    "why": WHY,
    "review": REVIEW,
    "restraint": RESTRAINT,
    "itself": ITSELF,
    "budget": BUDGET,
    "goals": GOALS,
    "names": NAMES,
    "trouble": TROUBLE,
    "sadness": SADNESS,
    "small talk": SMALL_TALK,
    "references": REFERENCES,
    "nonsense": NONSENSE,
    "as typed": AS_TYPED,
    "heard": HEARD,
}
