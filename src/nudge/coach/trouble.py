"""When somebody is in trouble: words of self-harm or danger get one humane, fixed answer, by rule, before any model.

The answer says where to turn. For the rest of the person's day nothing unasked reaches them, except what they set
themselves. When in doubt the rule speaks: a kind word too many does no harm. The words stand here; the rule that reads
them is in `nudge.coach.rules`.
"""

from __future__ import annotations

import re
from typing import Final

from nudge.phrases.wording import Table

ANSWER: Final = (
    "I'm really glad you told me. I'm a program and can't do enough here, but you are not alone with this: people are "
    "there for exactly this, right now. Please {line}. If you or someone else is in danger this minute, call "
    "{emergency}. Is there somebody near you who could stay with you? I'll keep everything else away for the "
    "rest of the "
    "day; only what you set yourself still comes."
)

_HURT = "kill|hurt|harm|cut|hang|shoot|drown|injure|poison|burn"
_WANT = "want|wanna|wants|need|going|gonna|wish|plan|planning|thinking|about|might|will|could|think"
_NEAR = (
    " "
    "husband|wife|partner|boyfriend|girlfriend|father|mother|dad|mum|mom|brother|sister|ex|boss|uncle|"
    "stepfather|stepdad|neighbour|neighbor|son|roommate|man|he|she|they|someone|somebody|guy"
)
TROUBLE: Final = Table(
    (None, row)
    for row in (
        f"-|i|that|and|so|just|really|sometimes|honestly -|am|do|just|really|still|have|often -|just|really "
            f"{_WANT} -|to|of|about|i -|be|was|were|am|to|just -|just -|die|dead|dying|disappear|forever {{end}}",
        "-|and|because|so|sometimes|honestly|maybe i -|just|really|still|do|often "
            "want|wanna|wish|would|need|like|rather|prefer|plan -|like|to|just|rather|i -|to|be|was|were|could "
            "-|be|just die|dead",
        "-|i|and -|just|really|am|have -|just "
            "want|wanna|going|gonna|thought|thinking|plan|planning|thoughts|about|decided|ready|tempted|trying|"
            "tried|will|might|could|feel "
            "-|to|about|of|like -|be|just|end|ending|go "
            "kill|killing|hurt|hurting|harm|harming|cut|cutting|hang|hanging|shoot|drown myself|me "
            "-|tonight|today|now|again|soon",
        "i have -|been|started|begun|just|thought|again -|been|about|of -|just|again "
            "cutting|cut|hurting|hurt|harming|harmed|starving|killing|burning|burned myself "
            "-|again|lately|today|since -|yesterday",
        "i -|just|have cut|hurt|harmed|burned|burnt|overdosed myself|on -|again|today|pills",
        "i overdosed -|on|today|myself -|pills", "kill|hurt|harm|hang|shoot|drown me|myself -|please|now",
        "i can't|cannot|cant go on -|anymore|any|like|living|with -|more|this|like -|life|this",
        "i can't|cannot|cant live like this -|anymore|any -|more", "i can't|cannot|cant live anymore",
        "i might|may|could as well be dead|die",
        "i want|wanna to -|just disappear -|forever|completely|from -|the|this -|world|earth",
        "i don't|dont want to be here anymore|any -|more", "i don't|dont want to be alive",
        "i don't|dont|can't|cannot|no|do|can -|not|longer want|wanna -|to live|exist|wake -|up "
            "-|anymore|any|more|like|again|tomorrow -|more|this",
        "i want|wanna|am|have|need|going|decided|gonna|plan -|going|decided|to|gonna|ready -|to|just -|just "
            "end|finish|take it|my|everything|all|this -|all|own|whole -|life|now|tonight|today -|now|tonight",
        "-|i -|am|was|keep|have -|been -|just|often|really|still "
            "thinking|think|thought|thoughts|dreaming|fantasizing|fantasising about|of -|committing|my|doing -|own "
            "suicide|ending|killing|dying|death|self-harm|jumping|overdosing -|it|myself|my -|all|life|lately|again",
        "-|i|and|so -|am|feel|feeling|have|been|was|got -|so|very|really|been|become|feeling "
            "suicidal|self-harming -|thoughts|again|today|now|lately",
        "-|i|commit|committing|attempt|attempted|considering|want|about|tried|planning "
            "-|am|have|to|commit|thought|think|considered -|commit|about|of|considering -|committing suicide "
            "-|tonight|today|again|now",
        "-|my|this|the life|it|living is|isn't|isnt|has|feels -|no|not|just|really -|longer "
            "-|worth|not|pointless -|living|it|worth -|living|it|anymore",
        "life|living isn't|isnt|is not|no -|longer -|even worth -|living|it -|anymore",
        "life is -|not|no -|longer|really worth -|living|it -|anymore",
        "there is no|not point|reason|sense|hope|any|way -|point|reason -|in|to|of|left|out "
            "-|living|live|go|life|going|me -|on|anymore|any -|more",
        "no point|reason|sense in|to living|live|going|go -|on|anymore",
        "-|i see|have no reason|point|hope to|in live|living|going|left -|on|anymore",
        "-|i -|think|know|feel|believe|guess -|that everyone|everybody|they|people|world|the|my|you|family|all "
            "-|world|family|kids|children|friends -|would|will|is|are|be|would -|be|all|much better|happier -|off "
            "without me", "-|i am better off dead",
        "nobody|no -|one would|will -|even|ever miss|notice|care -|me|if -|if|i -|i|was|am|were "
            "-|was|were|died|am -|gone|dead",
        "i -|just|have|already|did took|swallowed|taken -|too|all|a|so|way|the|my -|whole|too|many|of|bottle "
            "-|many|the|my|of|bottle|lot -|pills|sleeping|tablets|of|meds|medication -|pills|tablets|meds "
            "-|on|at|and|to -|purpose|once|want|die",
        "i have -|got a gun|knife|rope|pills and|to|ready -|want|kill|going|am -|to|myself|going "
            "-|die|use|it|myself", "i am standing|sitting on a|the bridge|roof|ledge|tracks|edge", "kms", "kys me",
        "i am going to jump -|off|now", "goodbye -|cruel|everyone world|forever",
        "this is -|my|a goodbye|suicide -|forever|note|letter",
        "i wrote|am|have -|writing|written a|my suicide|goodbye -|note|letter",
        "i wish|wished -|that -|i -|i|was|were|had|could|never|would|am -|never|be|not -|been|just "
            "dead|gone|born|die|disappear|exist|alive -|anymore|forever",
        "i should -|be|not|just -|be dead|die|exist -|anymore", "i hate being alive|living -|myself", "let me die",
        "help me die",
        f"-|my|the|a -|ex {_NEAR} -|is|are|has|keeps|wants|want|will|threatens|threatened|tried|says|said|going "
            f"-|he|she|going|trying|threatening|will|gonna|been -|to|going|gonna -|to kill -|me|us",
        f"i am -|so|really|very|still scared|afraid|terrified of|for my {_NEAR}",
        f"-|my|the|a|this|and|because -|own|ex {_NEAR} "
            f"-|who|is|was|just|keeps|has|started|always|often|will|wants|threatened|threatens|tried|going|are|want "
            f"-|just|always|been|to|threatening|trying|going|gonna|wants|keeps -|to|gonna "
            f"hit|hits|hitting|beat|beats|beating|hurt|hurts|hurting|attack|attacks|attacking|choke|chokes|"
            f"choking|rape|raped|rapes|raping|abuse|abuses|abusing|stab|strangle|strangled|strangling|stalking|"
            f"threatening|assaulted|assault|punched|punches|kicked|slapped|slaps|molests|molested|abused|"
            f"attacked "
            f"me -|again|now|today|up|and|tonight|with|if -|the|my|a|i -|kids|knife|leave|children|gun",
        "i -|am|was|have|got|just|keep|think -|being|been|just|getting|i|was|am -|being|was|got "
            "hit|beaten|abused|raped|attacked|assaulted|stalked|threatened|molested|strangled|choked "
            "-|up|by|at|again|today|last -|my|home|night|{x} -|husband|wife|partner|father|boyfriend",
        "i am -|really|so|very|still -|not|in|un|no -|longer|great|real|serious|immediate safe|danger|unsafe "
            "-|at|in|here|with|right|from|now -|home|here|my|danger|him|now|her -|house|husband|home",
        "i don't|dont|do -|not feel|think safe|i -|at|am|here|with|right -|safe|home|him|now|my -|here|house|home",
        "i am -|so|really|very scared|afraid|terrified of|for|that my|he|she|they|will {end}",
        "-|somebody|someone|he|she|they|please -|is|are|has call -|the police|an|ambulance|911|112|999 "
            "-|ambulance",
        "-|i|help -|think someone|somebody is breaking|trying into|in|to -|my|break|kill|hurt -|house|home|in|me",
        "help -|me -|i|he|she|they|someone -|am|is|are in|dying|bleeding|trying|hurting|beating|danger "
            "-|danger|to|me -|kill|hurt -|me",
    )
)  # fmt: skip
CLAUSES: Final = re.compile(r"[.,;:!?\n…—–]+|\s(?:and|but|because|so)\s")
ALWAYS: Final = re.compile(
    r"\bsuicid\w*|\bkill(?:ing)? my ?self\b|\bself[- ]?harm|\bend(?:ing)? my life\b", re.IGNORECASE
)
"""Words that are never passed over, whatever stands around them."""
NOT_MEANT: Final = re.compile(
    r"\b(?:laugh\w*|joke|lol|haha|hunger|boredom|heat|embarrassment|coffee|curiosity|chocolate|pizza|burger)\b", re.I
)

LINES: Final = {
    "America/": "call or text 988",
    "America/Sao_Paulo": "call CVV on 188",
    "America/Mexico_City": "call Línea de la Vida on 800 911 2000",
    "Australia/": "call Lifeline on 13 11 14",
    "Pacific/Auckland": "call or text 1737",
    "Europe/": "call 116 123",
    "Europe/London": "call Samaritans on 116 123",
    "Europe/Dublin": "call Samaritans on 116 123",
    "Europe/Berlin": "call TelefonSeelsorge on 0800 111 0 111",
    "Europe/Vienna": "call TelefonSeelsorge on 142",
    "Europe/Zurich": "call Die Dargebotene Hand on 143",
    "Europe/Paris": "call 3114",
    "Europe/Madrid": "call 024",
    "Europe/Amsterdam": "call 113",
    "Asia/Kolkata": "call Tele-MANAS on 14416",
    "Asia/Tokyo": "call 0120-783-556",
    "Asia/Seoul": "call 109",
    "Africa/Johannesburg": "call SADAG on 0800 567 567",
}
"""Where to turn, by zone: the longest beginning that fits counts."""
ELSEWHERE: Final = "find a line for your country at findahelpline.com"
EMERGENCY: Final = {
    "America/": "911", "America/Sao_Paulo": "192", "Europe/": "112", "Europe/London": "999", "Australia/": "000",
    "Pacific/Auckland": "111", "Asia/Kolkata": "112", "Asia/Tokyo": "119", "Asia/Seoul": "119",
    "Africa/Johannesburg": "112",
}  # fmt: skip
