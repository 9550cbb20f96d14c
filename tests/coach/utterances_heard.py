"""More of what people type to their coach, with what they expect: the same table as `tests.coach.utterances`.

These were written without a look at the code that reads them. `nothing` without words behind it stands where a kind
refusal is all that anybody could expect, and where a wrong effect would be worse.
"""

from __future__ import annotations

HEARD = {
    "+check the oven @ 2026-02-18 12:20": """
        20 minutes: check the oven
        """,
    "+call back @ 2026-02-18 12:10": """
        ok so in like 10 minutes remind me to call back
        """,
    "+stir @ 2026-02-18 12:45": """
        45 mins remind me to stir
        """,
    "asks": """
        at half 3 call the bank
        dentist thursday 3ish
        mum -> sunday
        need to leave for the airport at 4, remind me
        10min tea
        tea 4 min
        can u remind me 2moro at 8 to take the bins out
        in a few minutes turn off the heating
        later remind me to text anna
        sometime this week fix the bike
        remind me before bed to lock the door
        when i wake up remind me to stretch
        yo remind me bout the thing at 6
        nudge me in 15 to get up
        ping me at quarter past four about the invoice
        wake me at 6.45
        alarm 7
        i have a meeting at 3pm
        i've got to pay the electricity bill by friday
        i need to buy stamps
        buy milk
        remind me to call mum
        remind me
        remind me at 5
        remind me tomorrow
        too many messages
        stop sending me so many notifications
        are you there?
        hows it going
        whats my name
        i want to learn spanish
        you're useless
        good morning
        i need to take my pills at 8pm
        laundry 40 min
        remind me twice a day to stretch
        remind me on my birthday to call mum
        pills at 10 instead
        you there
        i'd like to drink less coffee
        """,
    "+call bob @ 2026-02-18 15:00 | which one": """
        remind me at 3pm to call bob >> move the 3pm one to 5pm
        """,
    "ticked Book the dentist & ticked Call the dentist": """
        add call the dentist to my list >> called and booked the dentist
        """,
    "+check the laundry @ 2026-02-18 13:30": """
        in an hour and a half check the laundry
        """,
    "+the parcel @ 2026-02-18 14:00": """
        remind me about the parcel in 2h
        """,
    "+timer @ 2026-02-18 12:25": """
        set a timer for 25 minutes
        """,
    "+pasta @ 2026-02-18 12:09": """
        pasta timer 9 minutes
        """,
    "+email lisa @ 2026-02-19 09:00": """
        remind me tmrw morning to email lisa
        """,
    "+take meds @ 2026-02-18 21:00": """
        tonight at 9 take meds
        """,
    "+take my pills @ 2026-02-18 22:00": """
        every night at 10 take my pills
        """,
    "+water the plants @ 2026-02-19 07:00": """
        every other day at 7am water the plants
        """,
    "+walk the dog @ 2026-02-19 08:30": """
        on weekdays at 8:30 walk the dog
        """,
    "+gym @ 2026-02-18 18:00": """
        mon wed fri 6pm gym
        """,
    "+pay rent @ 2026-03-01 09:00": """
        first of every month pay rent
        """,
    "+renew my passport @ 2026-12-01 10:00": """
        remind me on the 1st of december at 10 to renew my passport
        """,
    "+car inspection @ 2026-12-03 09:00": """
        dec 3 9am car inspection
        """,
    "+pick up the cake @ 2026-12-23 17:00": """
        23/12 at 5pm pick up the cake
        """,
    "+meeting with karen @ 2026-02-24 14:00": """
        next tuesday 14:00 meeting with karen
        """,
    "+check the mole @ 2026-02-25 12:00": """
        a week from today at noon check the mole
        """,
    "+ask about the refund @ 2026-02-21 12:00": """
        in 3 days ask about the refund
        """,
    "+check on dad @ 2026-02-18 14:00": """
        in a couple of hours check on dad
        """,
    "+breathe @ 2026-02-18 13:00": """
        remind me to breathe every hour between 9 and 5
        """,
    "nothing": """
        every 30 minutes drink water until 6pm
        (stretch) >> ugh ok fine
        i passed my exam!!
        hm
        asdfgh
        did i already set something for bob
        (stretch) >> nope not today
        forgot to book the dentist
        i havent written the intro yet
        i dont feel like it
        can you stop messaging me after 9pm
        how old are you
        ugh mondays
        rmnd me at 4pm to pay sam
        """,
    "+phone the surgery @ 2026-02-19 11:00": """
        Please could you possibly remind me tomorrow at 11am to phone the surgery? Thanks!
        """,
    "+the milk @ 2026-02-18 17:00": """
        dont let me forget the milk at 5pm
        """,
    "+passport @ 2026-02-19 07:00": """
        don't forget: passport, 7am tomorrow
        """,
    "+leave @ 2026-02-18 17:30": """
        half an hour before 6pm remind me to leave
        """,
    "+call nan @ 2026-02-18 14:30": """
        give me a shout at 2.30pm to call nan
        """,
    "+alarm @ 2026-02-19 05:30": """
        alarm for 5:30am tomorrow pls
        """,
    "today+Ring the plumber": """
        todo: ring the plumber
        """,
    "today+Eggs": """
        put eggs on my list
        """,
    "today+Bread and butter": """
        add bread and butter to the list
        """,
    "nothing | Today": """
        what do i have today
        what's left on my list
        """,
    "nothing | Thursday": """
        whats on tomorrow
        am i free tomorrow
        """,
    "nothing | • stretch (3": """
        anything coming up?
        show me my reminders
        """,
    "nothing | Friday": """
        do i have anything on friday
        """,
    "nothing | I couldn't find a reminder like": """
        when is my dentist thing
        cancel bob and remind me at 4pm to call sue
        """,
    "+call bob @ 2026-02-18 15:00 | 3:00 pm": """
        remind me at 3pm to call bob >> when do i need to call bob
        """,
    "+call bob @ 2026-02-18 16:00": """
        remind me at 3pm to call bob >> actually make it 4pm
        remind me at 3pm to call bob >> push it back an hour
        """,
    "+call bob @ 2026-02-19 15:00": """
        remind me at 3pm to call bob >> no tomorrow
        """,
    "+call bill @ 2026-02-18 15:00": """
        remind me at 3pm to call bob >> i meant bill not bob
        """,
    "+call bob @ 2026-02-18 15:00": """
        remind me at 3pm to call bob >> sorry, 3:30
        remind me at 3pm to call bob >> remind me at 5pm to feed the cat >> forget about the cat
        remind me at 3pm to call bob >> cancel the bob one >> oops bring that back
        remind me at 3pm to call bob >> thanks!
        """,
    "+call bob @ 2026-02-18 14:00": """
        remind me at 3pm to call bob >> an hour earlier
        """,
    "nothing | Undone": """
        remind me at 3pm to call bob >> never mind
        remind me at 3pm to call bob >> undo that please
        """,
    "nothing | Cancelled": """
        remind me at 3pm to call bob >> scrap that
        remind me at 3pm to call bob >> delete the bob one
        """,
    "+call bob @ 2026-02-18 15:00 & +feed the cat @ 2026-02-18 17:00": """
        remind me at 3pm to call bob >> remind me at 5pm to feed the cat >> cancel everything
        remind me at 3pm to call bob >> remind me at 5pm to feed the cat >> swap cat to 6
        remind me at 3pm to call bob and at 5pm to feed the cat
        """,
    "+feed the cat @ 2026-02-18 17:00": """
        remind me at 1pm to call bob >> remind me at 5pm to feed the cat >> cancel the first one
        """,
    "nothing | Done ✓ call bob": """
        remind me at 3pm to call bob >> already called him
        remind me at 3pm to call bob >> i already did that
        remind me at 3pm to call bob >> bob is sorted
        """,
    "ticked Buy milk": """
        add buy milk to my list >> got the milk
        add buy milk to my list >> milk done
        add buy milk to my list >> bought milk
        add buy milk to my list >> cross off milk
        add buy milk to my list >> tick off the milk pls
        """,
    "+the milk @ 2026-02-18 18:00 & today+Buy milk": """
        add buy milk to my list >> remind me about the milk at 6pm
        """,
    "nothing | Today is now": """
        add buy milk to my list >> i dont need milk anymore
        """,
    "stretch @ 2026-02-18 15:10": """
        (stretch) >> snooze 10
        """,
    "quiet 15:30 & stretch @ 2026-02-18 15:30": """
        (stretch) >> not now, in half an hour
        """,
    "stretch @ 2026-02-18 15:30": """
        (stretch) >> later
        (stretch) >> in a bit
        """,
    "stretch @ 2026-02-18 15:05": """
        (stretch) >> give me 5 more minutes
        (stretch) >> 5 more min
        """,
    "done stretch": """
        (stretch) >> done!
        (stretch) >> yep did it
        (stretch) >> skip
        (stretch) >> ok done
        (stretch) >> did my stretches
        """,
    "stretch @ 2026-02-18 20:00": """
        (stretch) >> remind me again tonight at 8
        """,
    "stretch @ 2026-02-19 09:00": """
        (stretch) >> ask me again tomorrow
        """,
    "quiet 17:00": """
        (stretch) >> cant right now
        """,
    "alone": """
        shut up
        fuck off
        """,
    "quiet 18:00": """
        leave me alone until 6
        """,
    "nothing | I can't plan quiet ahead yet": """
        dont bother me this weekend
        """,
    "quiet 14:00": """
        do not disturb for 2 hours
        im driving
        im at the cinema
        """,
    "quiet 15:00": """
        im in a meeting til 3
        """,
    "nothing | Sleep well": """
        going to sleep
        """,
    "quiet 13:00": """
        gonna take a nap for an hour
        leave me alone for an hour
        """,
    "quiet 2026-02-23 09:00": """
        on holiday until monday
        """,
    "nothing | Good": """
        leave me alone >> ok im back
        leave me alone >> you can talk again
        im back from lunch
        lol ok
        """,
    "nothing | I'm nudge": """
        who made you
        are you a bot
        """,
    "nothing | Just write as you talk": """
        what can you do
        how does this work
        what do you do
        what can i say
        """,
    "nothing | What you write stays in the files and the database on the machine I run on": """
        do you save what i say
        """,
    "nothing | I answer by simple rules here": """
        how much did this cost me so far
        """,
    "nothing | I haven't written to you unasked yet": """
        why did you message me
        """,
    "nothing | It's 12": """
        what time is it in here
        """,
    "nothing | It's Wednesday": """
        whats the date today
        """,
    "nothing | That's Thursday": """
        what day is it tomorrow
        """,
    "memory+Goes by Jo": """
        call me jo
        """,
    "memory+Goes by Alex": """
        my name's Alex btw
        """,
    "bedtime 23:00": """
        i go to bed at 11pm
        set bedtime to 11
        """,
    "nothing | 06:00": """
        i usually get up at 6
        """,
    "call Mum @ 2026-02-20 12:00 & stretch @ 2026-02-19 10:00 & take the pills @ 2026-02-18 16:00": """
        im in lisbon now
        """,
    "quarter+Run a 10k": """
        my goal this quarter is to run a 10k
        """,
    "quarter+Read 12 books": """
        new goal: read 12 books
        """,
    "nothing | This quarter": """
        what are my goals
        """,
    "ticked Run a 10k": """
        my goal is to run a 10k >> i ran the 10k!
        """,
    "nothing | This Quarter is now": """
        my goal is to run a 10k >> drop the 10k goal
        """,
    "kind": """
        im so tired today
        had a terrible day
        im stressed about work
        im lonely
        """,
    "nothing | That's great": """
        i feel great!
        """,
    "+buy milk, call mum @ 2026-02-18 18:00 & +pay rent @ 2026-02-19 09:00": """
        buy milk, call mum at 6pm and remind me tomorrow 9am to pay rent
        """,
    "+take the chicken out @ 2026-02-18 16:00 & +turn on the oven @ 2026-02-18 17:00": """
        remind me to take the chicken out at 4pm, then at 5pm turn on the oven
        """,
    "+cal the vet @ 2026-02-19 10:00": """
        remnid me tomorow at 10am to cal the vet
        """,
    "+haircut @ 2026-02-20 14:00": """
        remind me fryday at 2pm haircut
        """,
    "+chek the rice @ 2026-02-18 12:10": """
        rmeind me in 10 mintues to chek the rice
        """,
    "nothing | I can't do that": """
        tell me a joke
        whats the weather like
        """,
    "nothing | Good night": """
        night night
        """,
    "review": """
        start my weekly review
        """,
    "+take the cake out @ 2026-02-18 12:30": """
        30 min - take the cake out
        """,
    "+move the car @ 2026-02-18 13:00": """
        1h: move the car
        """,
    "+get dressed @ 2026-02-18 19:00": """
        remind me 1 hour before 8pm to get dressed
        """,
    "+call grandma @ 2026-02-18 18:00": """
        call grandma @ 6pm
        6pm call grandma
        """,
    "+lunch w/ pete @ 2026-02-19 12:00": """
        thursday noon lunch w/ pete
        """,
    "+book flights @ 2026-02-23 09:00": """
        remind me next week to book flights
        """,
    "+water the plants @ 2026-02-18 18:00": """
        remind me this evening to water the plants
        """,
    "+leave @ 2026-02-18 17:15": """
        gotta leave by 5:15pm
        """,
    "+eggs @ 2026-02-18 12:07": """
        eggs timer 7 min
        """,
    "+the train @ 2026-02-18 17:42": """
        don't let me miss the train at 17:42
        """,
    "+football @ 2026-02-21 10:00": """
        sat 10am football
        """,
    "+bins out @ 2026-02-23 09:00": """
        every monday bins out
        """,
    "+plan the week @ 2026-02-22 18:00": """
        every sunday evening plan the week
        """,
    "nothing | This week": """
        what have i got on this week
        """,
    "-take the pills": """
        cancel the pills
        cancel the 9pm one
        """,
    "-stretch": """
        no more stretch reminders
        """,
    "take the pills @ 2026-02-18 22:00": """
        move pills to 10pm
        """,
    "call Mum @ 2026-02-21 17:00": """
        push mum to saturday
        """,
    "call Mum @ 2026-02-22 17:00": """
        mum can wait till sunday
        """,
    "nothing | Alright": """
        (stretch) >> doing it now
        """,
    "ticked Write the intro": """
        wrote the intro finally
        """,
    "ticked Book the dentist & ticked Write the intro": """
        i finished the intro and booked the dentist
        """,
    "today-Book the dentist": """
        take the dentist off my list
        """,
    "nothing | stays in the files": """
        can i trust you
        """,
    "nothing | That's Friday": """
        whats the date on friday
        """,
    "call Mum @ 2026-02-20 11:00 & stretch @ 2026-02-19 09:00 & take the pills @ 2026-02-18 15:00": """
        i live in berlin
        """,
    "memory+Goes by Boss": """
        call me boss
        """,
    "quarter+Save 2000 bucks": """
        my goal is to save 2000 bucks
        """,
    "+call ann @ 2026-02-18 16:00 & +email tom @ 2026-02-18 14:00": """
        remind me to email tom at 2pm and to call ann at 4pm
        """,
    "+buy bread and butter @ 2026-02-18 17:00": """
        remind me at 5pm to buy bread and butter
        """,
    "+go shopping @ 2026-02-18 18:00 & today+Milk and eggs": """
        add milk and eggs to my list and remind me at 6pm to go shopping
        """,
}
