"""What people type to set a reminder, and what it must become. Now is Wednesday 2026-02-18, noon in Toronto.

A reading is the text and the first times on the clock; a question is the one a single word answers.
"""

from __future__ import annotations

SPELLED_OUT = """
remind me to call bob at half past six tomorrow | ? 6:30 am or 6:30 pm?
remind me to call bob at half past six in the morning | call bob | 2026-02-19 06:30
remind me tomorrow at quarter to eight pm to take the bins out | take the bins out | 2026-02-19 19:45
remind me at ten to nine tonight to lock up | lock up | 2026-02-18 20:50
remind me at twenty past three pm to stretch | stretch | 2026-02-18 15:20
friday at seven call bob | ? 7 am or 7 pm?
friday at seven pm call bob | call bob | 2026-02-20 19:00
the day after tomorrow at half past six water the plants | ? 6:30 am or 6:30 pm?
the day after tomorrow at half past six in the evening water the plants | water the plants | 2026-02-20 18:30
remind me at seven thirty pm to start the movie | start the movie | 2026-02-18 19:30
remind me at nine fifteen tomorrow morning to join the call | join the call | 2026-02-19 09:15
remind me to eat at quarter past one this afternoon | eat | 2026-02-18 13:15
remind me to leave at five to two this afternoon | leave | 2026-02-18 13:55
call mum at eight o'clock tonight | call mum | 2026-02-18 20:00
call mum at 8 o'clock | ? 8 am or 8 pm?
remind me in half an hour to check the oven | check the oven | 2026-02-18 12:30
remind me in an hour and a half to leave | leave | 2026-02-18 13:30
remind me in two and a half hours to leave | leave | 2026-02-18 14:30
remind me in three quarters of an hour to leave | leave | 2026-02-18 12:45
remind me in a quarter of an hour to turn the potatoes | turn the potatoes | 2026-02-18 12:15
remind me in twenty five minutes to take a break | take a break | 2026-02-18 12:25
half six tomorrow evening pick up anna | pick up anna | 2026-02-19 18:30
remind me at five past midnight to submit the form | submit the form | 2026-02-19 00:05
remind me at quarter past noon tomorrow to eat | eat | 2026-02-19 12:15
"""

PARTS_OF_THE_DAY = """
remind me first thing tomorrow to email the landlord | email the landlord | 2026-02-19 09:00
remind me first thing in the morning to email the landlord | email the landlord | 2026-02-19 09:00
email the landlord first thing on monday | email the landlord | 2026-02-23 09:00
remind me around 4 to stretch | ? 4 am or 4 pm?
remind me around 4pm to stretch | stretch | 2026-02-18 16:00
remind me about 4 this afternoon to stretch | stretch | 2026-02-18 16:00
remind me to stretch at 4ish | ? 4 am or 4 pm?
remind me to stretch at 4pm or so | stretch | 2026-02-18 16:00
remind me in an hour or so to stretch | stretch | 2026-02-18 13:00
remind me in about 20 minutes to stretch | stretch | 2026-02-18 12:20
remind me later today to call the bank | ? What time today?
remind me later to call the bank | ? When?
remind me at lunchtime tomorrow to call the bank | call the bank | 2026-02-19 12:00
call the bank tomorrow after lunch | call the bank | 2026-02-19 13:00
tomorrow after lunch call the bank | call the bank | 2026-02-19 13:00
remind me after lunch to call the bank | call the bank | 2026-02-18 13:00
remind me at lunch on friday to buy a card | buy a card | 2026-02-20 12:00
remind me tonight to put the bins out | put the bins out | 2026-02-18 20:00
put the bins out tonight at 9 | put the bins out | 2026-02-18 21:00
put the bins out this evening | put the bins out | 2026-02-18 18:00
remind me this afternoon to ring the vet | ring the vet | 2026-02-18 15:00
remind me tomorrow night to pack | pack | 2026-02-19 20:00
remind me friday evening at 7 to feed the cat | feed the cat | 2026-02-20 19:00
remind me at 7 in the evening to feed the cat | feed the cat | 2026-02-18 19:00
remind me at 7 tomorrow evening to feed the cat | feed the cat | 2026-02-19 19:00
remind me tomorrow at noon to eat | eat | 2026-02-19 12:00
remind me at midday tomorrow to eat | eat | 2026-02-19 12:00
remind me after work to buy milk | ? What time is “after work”?
remind me before bed to floss | ? What time is “before bed”?
remind me at the end of the day to write notes | write notes | 2026-02-18 17:00
remind me by end of day to send the report | send the report | 2026-02-18 17:00
remind me eod friday to send the report | send the report | 2026-02-20 17:00
remind me today at 5 to leave | leave | 2026-02-18 17:00
remind me at 5 today to leave | leave | 2026-02-18 17:00
remind me mid-morning tomorrow to eat fruit | ? What time is “mid-morning”?
remind me this weekend to clean the car | ? Saturday or Sunday?
"""

DAYS = """
remind me a week from friday to book the hotel | book the hotel | 2026-02-27 09:00
remind me a week from friday at 3pm to book the hotel | book the hotel | 2026-02-27 15:00
remind me two weeks from monday to book the hotel | book the hotel | 2026-03-09 09:00
remind me a week from today at 5pm to check in | check in | 2026-02-25 17:00
remind me a week from tomorrow at 5pm to check in | check in | 2026-02-26 17:00
remind me in a fortnight to renew the pass | renew the pass | 2026-03-04 12:00
remind me in a fortnight at 8am to renew the pass | renew the pass | 2026-03-04 08:00
remind me this time tomorrow to take a photo | take a photo | 2026-02-19 12:00
remind me this time next week to take a photo | take a photo | 2026-02-25 12:00
remind me same time tomorrow to take a photo | take a photo | 2026-02-19 12:00
remind me the day after tomorrow to buy flowers | buy flowers | 2026-02-20 09:00
remind me the day after tomorrow at 4pm to buy flowers | buy flowers | 2026-02-20 16:00
remind me to buy flowers day after tomorrow | buy flowers | 2026-02-20 09:00
remind me on friday to pay rent | pay rent | 2026-02-20 09:00
remind me next friday at 5pm to pay rent | pay rent | 2026-02-27 17:00
remind me this friday at 5pm to pay rent | pay rent | 2026-02-20 17:00
remind me in 3 days at 9am to water the fern | water the fern | 2026-02-21 09:00
remind me in two weeks' time to call the dentist | call the dentist | 2026-03-04 12:00
remind me three days from now at 10am to call the dentist | call the dentist | 2026-02-21 10:00
remind me two days before christmas to wrap presents | wrap presents | 2026-12-23 09:00
remind me the day before christmas at 10am to wrap presents | wrap presents | 2026-12-24 10:00
remind me on the 20th to pay rent | pay rent | 2026-02-20 09:00
remind me on march 3rd at 2pm to go to the dentist | go to the dentist | 2026-03-03 14:00
remind me on the 3rd of march at 2pm to go to the dentist | go to the dentist | 2026-03-03 14:00
remind me 20 feb 15:00 to call | call | 2026-02-20 15:00
pay taxes 2026-04-30 | pay taxes | 2026-04-30 09:00
remind me thursday week at 3pm to call | call | 2026-02-26 15:00
remind me tuesday next week at 3pm to call | call | 2026-02-24 15:00
remind me next week on tuesday at 3pm to call | call | 2026-02-24 15:00
"""

ENDS_AND_ORDINALS = """
remind me at the end of march to cancel the trial | cancel the trial | 2026-03-31 17:00
cancel the trial end of march | cancel the trial | 2026-03-31 17:00
remind me at the end of the month to send invoices | send invoices | 2026-02-28 17:00
remind me at the end of next month to send invoices | send invoices | 2026-03-31 17:00
remind me at the end of the week to tidy my desk | tidy my desk | 2026-02-20 17:00
remind me on the first monday of march to order filters | order filters | 2026-03-02 09:00
remind me the first monday of march at 10am to order filters | order filters | 2026-03-02 10:00
remind me on the last friday of april to order filters | order filters | 2026-04-24 09:00
remind me the last day of march at 4pm to order filters | order filters | 2026-03-31 16:00
remind me on the second tuesday of next month to order filters | order filters | 2026-03-10 09:00
remind me at the beginning of april to file taxes | file taxes | 2026-04-01 09:00
remind me at the start of next month to file taxes | file taxes | 2026-03-01 09:00
remind me on the first of april to file taxes | file taxes | 2026-04-01 09:00
remind me at the end of the year to back up photos | back up photos | 2026-12-31 17:00
remind me mid march to book flights | ? What day is “mid march”?
"""

HOLIDAYS = """
remind me on christmas eve at 4pm to call grandma | call grandma | 2026-12-24 16:00
remind me on christmas to call grandma | call grandma | 2026-12-25 09:00
remind me on christmas day to call grandma | call grandma | 2026-12-25 09:00
remind me on new year's eve at 11pm to call grandma | call grandma | 2026-12-31 23:00
remind me on new years day to call grandma | call grandma | 2027-01-01 09:00
remind me on halloween at 5pm to buy candy | buy candy | 2026-10-31 17:00
remind me on valentine's day to buy roses | buy roses | 2027-02-14 09:00
remind me on st patrick's day to wear green | wear green | 2026-03-17 09:00
remind me on april fools day to hide the coffee | hide the coffee | 2026-04-01 09:00
remind me on boxing day at noon to go for a walk | go for a walk | 2026-12-26 12:00
remind me on the 4th of july to buy sparklers | buy sparklers | 2026-07-04 09:00
remind me on easter to buy eggs | ? What day is “easter”?
remind me on thanksgiving to buy a turkey | ? What day is “thanksgiving”?
remind me a week before christmas to post the cards | post the cards | 2026-12-18 09:00
every christmas at 10am call grandma | call grandma | 2026-12-25 10:00 | 2027-12-25 10:00
"""

AGAIN_AND_AGAIN = """
remind me every day at 8am to take my pill | take my pill | 2026-02-19 08:00 | 2026-02-20 08:00
remind me every day at 8 to take my pill | ? 8 am or 8 pm?
remind me every weekday at 8:30 to leave | leave | 2026-02-19 08:30 | 2026-02-20 08:30 | 2026-02-23 08:30
remind me every monday and thursday at 6pm to go to the gym | go to the gym | 2026-02-19 18:00 | 2026-02-23 18:00
remind me on mondays, wednesdays and fridays at 18:00 to swim | swim | 2026-02-18 18:00 | 2026-02-20 18:00
remind me tuesdays at 7pm to put the bins out | put the bins out | 2026-02-24 19:00 | 2026-03-03 19:00
gym mon/wed/fri 6pm | gym | 2026-02-18 18:00 | 2026-02-20 18:00 | 2026-02-23 18:00
gym tue & thu at 6pm | gym | 2026-02-19 18:00 | 2026-02-24 18:00
stretch every 50 minutes on weekdays from 9 to 5 | stretch | 2026-02-18 12:20 | 2026-02-18 13:10 | 2026-02-18 14:00
every 50 minutes on weekdays from 9 to 5 stretch | stretch | 2026-02-18 12:20 | 2026-02-18 13:10 | 2026-02-18 14:00
stretch every hour from 9am to 5pm | stretch | 2026-02-18 13:00 | 2026-02-18 14:00
stretch every 30 minutes between 1pm and 3pm on weekdays | stretch | 2026-02-18 13:00 | 2026-02-18 13:30
drink water every 2 hours from 8am to 8pm | drink water | 2026-02-18 14:00 | 2026-02-18 16:00
drink water hourly on weekdays between 9 and 5 | drink water | 2026-02-18 13:00 | 2026-02-18 14:00
drink water every 45 minutes on saturdays from 10am to noon | drink water | 2026-02-21 10:00 | 2026-02-21 10:45
every 20 minutes look away from the screen | look away from the screen | 2026-02-18 12:20 | 2026-02-18 12:40
every other tuesday at 7pm put the recycling out | put the recycling out | 2026-02-24 19:00 | 2026-03-10 19:00
remind me on the 1st of every month to pay rent | pay rent | 2026-03-01 09:00 | 2026-04-01 09:00
remind me every first monday of the month at 10am to check the alarm | check the alarm | 2026-03-02 10:00
remind me on the last day of every month to send invoices | send invoices | 2026-02-28 09:00 | 2026-03-31 09:00
remind me every morning to meditate | meditate | 2026-02-19 09:00 | 2026-02-20 09:00
remind me every morning at 7 to meditate | meditate | 2026-02-19 07:00 | 2026-02-20 07:00
remind me every night at 10 to floss | floss | 2026-02-18 22:00 | 2026-02-19 22:00
remind me nightly at 10pm to floss | floss | 2026-02-18 22:00 | 2026-02-19 22:00
remind me twice a day to drink water | ? What times?
remind me every day at 8am and 8pm to take my pill | take my pill | 2026-02-18 20:00 | 2026-02-19 08:00
remind me every weekend at 10am to call dad | call dad | 2026-02-21 10:00 | 2026-02-22 10:00 | 2026-02-28 10:00
remind me saturdays and sundays at 10am to call dad | call dad | 2026-02-21 10:00 | 2026-02-22 10:00
remind me weekly on friday at 4pm to fill in my timesheet | fill in my timesheet | 2026-02-20 16:00 | 2026-02-27 16:00
remind me every two weeks on friday at 4pm to fill in my timesheet | fill in my timesheet | 2026-02-20 16:00
remind me every year on march 1 to renew the domain | renew the domain | 2026-03-01 09:00 | 2027-03-01 09:00
remind me each sunday at 7 to call mum | ? 7 am or 7 pm?
every day at lunchtime take a walk | take a walk | 2026-02-19 12:00 | 2026-02-20 12:00
every weekday after lunch take a walk | take a walk | 2026-02-18 13:00 | 2026-02-19 13:00
every 3 months change the filter | ? On which day?
"""

TYPOS = """
thrusday 5pm call bob | call bob | 2026-02-19 17:00
call bob firday at 5pm | call bob | 2026-02-20 17:00
remind me tommorow at 8am to call bob | call bob | 2026-02-19 08:00
remind me tomorow at 8am to call bob | call bob | 2026-02-19 08:00
remind me tmrw 8am to call bob | call bob | 2026-02-19 08:00
remind me on wendesday at 5pm to call bob | call bob | 2026-02-18 17:00
remind me on wensday at 5pm to call bob | call bob | 2026-02-18 17:00
remind me in 20 minuts to call bob | call bob | 2026-02-18 12:20
remind me tonigth to call bob | call bob | 2026-02-18 20:00
remind me every wekday at 9am to call bob | call bob | 2026-02-19 09:00 | 2026-02-20 09:00
remnid me at 6pm to call bob | call bob | 2026-02-18 18:00
remind me tomorrow moring to call bob | call bob | 2026-02-19 09:00
remind me on febuary 20 at 5pm to call bob | call bob | 2026-02-20 17:00
remind me satuday at noon to call bob | call bob | 2026-02-21 12:00
"""

NUMBERS_THAT_ARE_NO_TIMES = """
bring 2 bottles at 6 | ? 6 am or 6 pm?
bring 2 bottles at 6pm | bring 2 bottles | 2026-02-18 18:00
remind me at 6pm to bring 2 bottles | bring 2 bottles | 2026-02-18 18:00
buy 3 apples tomorrow at 5pm | buy 3 apples | 2026-02-19 17:00
remind me to call 555 1234 at 6pm | call 555 1234 | 2026-02-18 18:00
pay 20 dollars to sam on friday | pay 20 dollars to sam | 2026-02-20 09:00
remind me tonight to read chapter 7 | read chapter 7 | 2026-02-18 20:00
remind me in 5 minutes to do 20 push-ups | do 20 push-ups | 2026-02-18 12:05
take 2 pills every day at 9pm | take 2 pills | 2026-02-18 21:00 | 2026-02-19 21:00
remind me tomorrow at 3pm to take bus 42 | take bus 42 | 2026-02-19 15:00
remind me to buy 1 kg of flour and 6 eggs on saturday at 10am | buy 1 kg of flour and 6 eggs | 2026-02-21 10:00
remind me to pay invoice #2026 on friday at noon | pay invoice #2026 | 2026-02-20 12:00
"""

ANY_PHRASING = """
ping me at 6pm to call mum | call mum | 2026-02-18 18:00
ping me in 10 minutes about the laundry | the laundry | 2026-02-18 12:10
wake me up at 6:30am | wake up | 2026-02-19 06:30
wake me up tomorrow at 7am | wake up | 2026-02-19 07:00
tell me to drink water at 3pm | drink water | 2026-02-18 15:00
tell me at 3pm to drink water | drink water | 2026-02-18 15:00
set an alarm for 7am | alarm | 2026-02-19 07:00
set an alarm for 7 tomorrow morning | alarm | 2026-02-19 07:00
set a reminder for 6pm to call mum | call mum | 2026-02-18 18:00
set a reminder to call mum at 6pm | call mum | 2026-02-18 18:00
set a timer for 10 minutes | timer | 2026-02-18 12:10
add a reminder to call mum tomorrow at 6pm | call mum | 2026-02-19 18:00
create a reminder: call mum, tomorrow 6pm | call mum | 2026-02-19 18:00
new reminder call mum tomorrow 6pm | call mum | 2026-02-19 18:00
can you remind me to call mum tomorrow at 6pm? | call mum | 2026-02-19 18:00
could you please remind me tomorrow at 6pm to call mum? | call mum | 2026-02-19 18:00
would you mind reminding me to call mum at 6pm? | call mum | 2026-02-18 18:00
pls remind me 2 call mum at 6pm | call mum | 2026-02-18 18:00
hey, remind me to call mum at 6pm please | call mum | 2026-02-18 18:00
hi! please remind me to call mum at 6pm, thanks! | call mum | 2026-02-18 18:00
i want you to remind me to call mum at 6pm | call mum | 2026-02-18 18:00
i need a reminder to call mum at 6pm | call mum | 2026-02-18 18:00
don't let me forget to call mum at 6pm | call mum | 2026-02-18 18:00
make sure i call mum at 6pm | call mum | 2026-02-18 18:00
nudge me at 6pm to call mum | call mum | 2026-02-18 18:00
poke me in an hour to call mum | call mum | 2026-02-18 13:00
message me at 6pm about the parcel | the parcel | 2026-02-18 18:00
at 6pm remind me to call mum | call mum | 2026-02-18 18:00
tomorrow at 6pm remind me to call mum | call mum | 2026-02-19 18:00
in 20 minutes tell me to check the oven | check the oven | 2026-02-18 12:20
REMIND ME TO CALL MUM AT 6PM | CALL MUM | 2026-02-18 18:00
Remind me to call Mum at 6 P.M. | call Mum | 2026-02-18 18:00
remind me to call mum 🎂 tomorrow at 6pm 🙏 | call mum 🎂 | 2026-02-19 18:00
⏰ 6pm call mum | call mum | 2026-02-18 18:00
call mum @ 6pm | call mum | 2026-02-18 18:00
call mum, 6pm | call mum | 2026-02-18 18:00
call mum (6pm) | call mum | 2026-02-18 18:00
6pm: call mum | call mum | 2026-02-18 18:00
remind me that the parcel arrives at 6pm | the parcel arrives | 2026-02-18 18:00
remind me about the parcel tomorrow | the parcel | 2026-02-19 09:00
remind me of the parcel tomorrow at noon | the parcel | 2026-02-19 12:00
reminder: dentist tomorrow 3pm | dentist | 2026-02-19 15:00
dentist tomorrow 3pm | dentist | 2026-02-19 15:00
i have to call mum at 6pm, remind me | call mum | 2026-02-18 18:00
remind me to call mum | ? When?
remind me tomorrow at 6pm | ? About what?
"""

MORE = """
remind me to water the roses at twenty to seven tomorrow evening | water the roses | 2026-02-19 18:40
remind me at a quarter past eight pm to call nana | call nana | 2026-02-18 20:15
remind me at eleven tomorrow to send the invoice | send the invoice | 2026-02-19 11:00
dinner with tom on saturday at 8 | ? 8 am or 8 pm?
remind me at 12 to eat | ? 12 am or 12 pm?
remind me at three thirty to pick up the kids | ? 3:30 am or 3:30 pm?
pick up the kids at 3:30pm | pick up the kids | 2026-02-18 15:30
remind me at noon on sunday to call dad | call dad | 2026-02-22 12:00
remind me at 23:15 to switch off the router | switch off the router | 2026-02-18 23:15
remind me in 45 min to move the car | move the car | 2026-02-18 12:45
remind me to move the car in an hour | move the car | 2026-02-18 13:00
remind me 2 hours from now to move the car | move the car | 2026-02-18 14:00
remind me in a couple of hours to move the car | move the car | 2026-02-18 14:00
remind me in 10 days to renew my card | renew my card | 2026-02-28 12:00
remind me in two months to renew my card | renew my card | 2026-04-18 12:00
remind me a month from now to renew my card | renew my card | 2026-03-18 12:00
remind me next month to renew my card | renew my card | 2026-03-01 09:00
remind me next week to renew my card | renew my card | 2026-02-23 09:00
remind me on monday morning to send the slides | send the slides | 2026-02-23 09:00
remind me monday at 10 to send the slides | send the slides | 2026-02-23 10:00
remind me on the last monday of march at noon to send the slides | send the slides | 2026-03-30 12:00
remind me on the third of april at 9am to send the slides | send the slides | 2026-04-03 09:00
remind me on december 24 at 5pm to light the candles | light the candles | 2026-12-24 17:00
remind me on new year's eve to buy fireworks | buy fireworks | 2026-12-31 09:00
remind me three weeks before christmas to order the tree | order the tree | 2026-12-04 09:00
remind me the day after christmas at 11am to take the tree down | take the tree down | 2026-12-26 11:00
remind me on mother's day to call mum | ? What day is “mother's day”?
remind me on good friday at 10am to bake buns | ? What day is “good friday”?
remind me at the end of april to cancel netflix | cancel netflix | 2026-04-30 17:00
remind me at the end of next week to tidy up | tidy up | 2026-02-27 17:00
remind me at the beginning of june to book the campsite | book the campsite | 2026-06-01 09:00
remind me every day at noon to stand up | stand up | 2026-02-19 12:00
remind me every evening at 9 to write my diary | write my diary | 2026-02-18 21:00
remind me every night to set the alarm | set the alarm | 2026-02-18 20:00
remind me every tuesday and thursday at 7pm to train | train | 2026-02-19 19:00
remind me on weekdays at 5:45pm to go home | go home | 2026-02-18 17:45
remind me every other day at 8am to water the cactus | water the cactus | 2026-02-19 08:00
remind me every 90 minutes to look up | look up | 2026-02-18 13:30
remind me every half hour from 9am to noon to stretch | stretch | 2026-02-19 09:00
remind me every 25 minutes between 10 and 4 on weekdays to stretch | stretch | 2026-02-18 12:05
remind me every hour on weekdays from 9 to 5 to stand up | stand up | 2026-02-18 13:00
remind me every 15th of the month to pay the card | pay the card | 2026-03-15 09:00
remind me on the first friday of every month at 3pm to pay the card | pay the card | 2026-03-06 15:00
remind me monthly on the 10th at 9am to pay the card | pay the card | 2026-03-10 09:00
remind me yearly on july 9 to buy a present | buy a present | 2026-07-09 09:00
remind me mon-fri at 7am to take vitamins | take vitamins | 2026-02-19 07:00
remind me three times a day to do eye drops | ? What times?
remind me three times a day at 8am, 2pm and 8pm to do eye drops | do eye drops | 2026-02-18 14:00
remind me tuseday at 4pm to ring the plumber | ring the plumber | 2026-02-24 16:00
remind me saterday at 4pm to ring the plumber | ring the plumber | 2026-02-21 16:00
remind me tomorrrow at 4pm to ring the plumber | ring the plumber | 2026-02-19 16:00
remind me this afernoon to ring the plumber | ring the plumber | 2026-02-18 15:00
remid me at 4pm to ring the plumber | ring the plumber | 2026-02-18 16:00
ring the plumber on novmber 3 at 4pm | ring the plumber | 2026-11-03 16:00
order 12 eggs and 2 loaves on friday at 5pm | order 12 eggs and 2 loaves | 2026-02-20 17:00
remind me to run 5k tomorrow at 7am | run 5k | 2026-02-19 07:00
remind me to book a table for 4 at 7 tonight | book a table for 4 | 2026-02-18 19:00
pay £30 to jo tomorrow | pay £30 to jo | 2026-02-19 09:00
remind me at 5pm to watch episode 9 of season 2 | watch episode 9 of season 2 | 2026-02-18 17:00
read pages 20 to 40 tonight | read pages 20 to 40 | 2026-02-18 20:00
could u pls remind me 2 feed the fish at 6pm thx | feed the fish | 2026-02-18 18:00
Hey coach, wake me at 6:45am please! | wake up | 2026-02-19 06:45
alarm for 6am tomorrow | alarm | 2026-02-19 06:00
timer 25 minutes | timer | 2026-02-18 12:25
set a timer for an hour and a half | timer | 2026-02-18 13:30
set me a reminder for friday at noon to post the letter | post the letter | 2026-02-20 12:00
can you set a reminder for me to post the letter on friday at noon? | post the letter | 2026-02-20 12:00
please ping me about the laundry in half an hour | the laundry | 2026-02-18 12:30
let me know at 4pm to leave for the train | leave for the train | 2026-02-18 16:00
tell me tomorrow at 8am to take the umbrella | take the umbrella | 2026-02-19 08:00
i need to be reminded to call the vet tomorrow at 10am | call the vet | 2026-02-19 10:00
don't let me forget the cake on saturday at 2pm | the cake | 2026-02-21 14:00
make sure I take the meds at 9pm | take the meds | 2026-02-18 21:00
tomorrow 5pm - gym | gym | 2026-02-19 17:00
gym, tomorrow, 5pm | gym | 2026-02-19 17:00
5pm gym tomorrow | gym | 2026-02-19 17:00
on friday remind me to call the landlord at 3pm | call the landlord | 2026-02-20 15:00
tonight around 10pm remind me to move the laundry | move the laundry | 2026-02-18 22:00
remind me tonight at ten to lock the door | lock the door | 2026-02-18 22:00
remind me to lock the door before I leave | ? When?
remind me to thank ann for monday's dinner tomorrow at 9am | thank ann for monday's dinner | 2026-02-19 09:00
remind me about friday's meeting tomorrow at 4pm | friday's meeting | 2026-02-19 16:00
remind me to prepare for the 3pm call in an hour | prepare for the 3pm call | 2026-02-18 13:00
remind me to call bob after the meeting | ? When?
remind me when i get home to feed the cat | ? What time is “when i get home”?
remind me asap to call the bank | ? When?
remind me to buy milk on my way home at 5:30 this evening | buy milk on my way home | 2026-02-18 17:30
remind me sunday night at 8 to iron shirts | iron shirts | 2026-02-22 20:00
remind me early tomorrow morning to run | ? What time is “early”?
remind me sometime tomorrow to call the bank | ? What time?
remind me by 3pm today to submit the form | submit the form | 2026-02-18 15:00
remind me in exactly 3 minutes to flip the steak | flip the steak | 2026-02-18 12:03
remind me at 5 o'clock in the afternoon to leave | leave | 2026-02-18 17:00
"""
"""Written after the grammar, to measure it."""

NOT_REMINDERS = """
what time do you wake up?
i usually get up at 7am
my alarm went off at 6am
the alarm at 7 was too loud
ok see you at 5
call me Sam
call me maybe
what's the weather tomorrow
tell me a joke
tell me about my goals for this week
tell me what's on tomorrow
ask me about gym tomorrow
text me less
don't message me about sleep
stop pinging me at night
wake up
let's talk tomorrow
dinner was great at 8
my goal is to run 5k by june
add buy milk to today
i'm done with the report for today
i have a meeting at 3pm
meeting got moved to 4pm
quiet for 2h
quiet until 5pm
i'll be back at 5
set my bedtime to 23:30
change my wake time to 7:00
30 more minutes
remember that i like tea
i promised to call ann by friday
happy new year
merry christmas
no, i meant tuesday
not tomorrow, friday
cancel gym tomorrow
why at 5pm?
it is monday again
watched 3 movies on saturday
read 20 pages today
ran 5k this morning
paid rent on friday
done 2
move it to 5pm
snooze it till 6pm
why didn't you remind me at 5?
thanks for reminding me
you reminded me twice
i don't need a reminder
how do i set a reminder?
do you send a reminder every day?
how are you?
what time is it?
what day is it tomorrow?
what's on tomorrow?
what do i have on friday?
i slept at 3 yesterday
i woke up at 6 today
i had lunch at noon
i finished the report on friday
i'm going to bed at 11
the meeting at 3 was boring
see you tomorrow
talk to you tomorrow!
good morning
good night
thanks, that was helpful
i feel tired every morning
i hate mondays
friday was a disaster
tomorrow is my birthday
did you remind me yesterday?
why did you remind me at 6?
what did you remind me of this morning?
i forgot to call mum yesterday
may i ask you something
march was hard for me
sun is shining
i can't sleep at night
bob called at 5pm
it's 5pm already
we moved the meeting to tuesday and everybody was happy about it
i ran 5 km in 25 minutes
i work from 9 to 5
my train leaves at 6pm, is that too late?
do you think i should go to the gym tomorrow?
should i call bob on friday?
when is easter?
list my reminders for tomorrow
cancel the reminder for friday
move the gym to tuesday
stop reminding me
busy till tomorrow
in a meeting until 5
snooze for 10 minutes
"""
