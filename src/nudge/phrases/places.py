"""Which time zone a place is in: "Lisbon", "I live near Munich", "Japan", "Pacific time", "Europe/Lisbon".

The names of the zone database cover about four hundred cities. The table below adds large cities that it does not name,
countries with one zone, and what people call the zones. A country with several zones, and a name that two places share,
is not guessed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final
from zoneinfo import available_timezones

from nudge.text import one_slip

_LONGEST: Final = 80
_SHORTEST_SLIP: Final = 6
_AREAS: Final = frozenset(
    ("Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific", "Antarctica", "Arctic")
)
_ROWS: Final = (
    "Africa/Cairo: egypt, alexandria",
    "Africa/Casablanca: morocco, marrakesh, marrakech, rabat, fez",
    "Africa/Johannesburg: south africa, cape town, durban, pretoria",
    "Africa/Lagos: nigeria, abuja",
    "Africa/Nairobi: kenya, mombasa",
    "America/Argentina/Buenos_Aires: argentina, cordoba argentina",
    "America/Bogota: colombia, medellin, cali",
    "America/Chicago: central time, houston, dallas, austin, san antonio, minneapolis, new orleans, nashville, "
    "milwaukee, kansas city, st louis, texas, illinois",
    "America/Denver: mountain time, salt lake city, colorado",
    "America/Edmonton: calgary, alberta",
    "America/Halifax: atlantic time, nova scotia",
    "America/Lima: peru",
    "America/Los_Angeles: pacific time, pt, pst, pdt, la, san francisco, sf, san diego, san jose, seattle, "
    "portland oregon, las vegas, sacramento, oakland, california, bay area, silicon valley",
    "America/New_York: eastern time, et, est, edt, nyc, ny, brooklyn, manhattan, boston, washington, washington dc, "
    "dc, philadelphia, atlanta, miami, orlando, tampa, charlotte, pittsburgh, baltimore, cleveland, florida",
    "America/Phoenix: arizona, tucson",
    "America/Santiago: chile",
    "America/Sao_Paulo: rio, rio de janeiro, brasilia, curitiba, belo horizonte, porto alegre",
    "America/Toronto: ottawa, montreal, quebec, quebec city, hamilton ontario, ontario",
    "America/Vancouver: british columbia, victoria bc",
    "Asia/Bangkok: thailand, chiang mai, phuket",
    "Asia/Dubai: united arab emirates, uae, abu dhabi",
    "Asia/Ho_Chi_Minh: vietnam, hanoi, saigon, da nang",
    "Asia/Hong_Kong: hongkong",
    "Asia/Jerusalem: israel, tel aviv, haifa",
    "Asia/Karachi: pakistan, lahore, islamabad",
    "Asia/Kolkata: india, mumbai, bombay, delhi, new delhi, bangalore, bengaluru, chennai, hyderabad, pune, ahmedabad, "
    "goa, calcutta",
    "Asia/Kuala_Lumpur: malaysia, penang",
    "Asia/Makassar: bali, denpasar, ubud",
    "Asia/Manila: philippines, cebu",
    "Asia/Qatar: doha",
    "Asia/Riyadh: saudi arabia, jeddah, mecca",
    "Asia/Seoul: south korea, korea, busan",
    "Asia/Shanghai: china, beijing, peking, shenzhen, guangzhou, chengdu, hangzhou, wuhan",
    "Asia/Singapore: singapore",
    "Asia/Taipei: taiwan",
    "Asia/Tokyo: japan, osaka, kyoto, yokohama, sapporo, fukuoka, nagoya",
    "Atlantic/Canary: canary islands, tenerife, gran canaria, lanzarote, las palmas",
    "Atlantic/Reykjavik: iceland",
    "Australia/Sydney: canberra, new south wales",
    "Australia/Brisbane: gold coast, queensland",
    "Europe/Amsterdam: netherlands, holland, rotterdam, the hague, utrecht, eindhoven",
    "Europe/Athens: greece, thessaloniki, crete",
    "Europe/Berlin: germany, munich, muenchen, munchen, hamburg, cologne, koln, koeln, frankfurt, stuttgart, "
    "dusseldorf, duesseldorf, leipzig, dresden, nuremberg, hannover, bremen",
    "Europe/Brussels: belgium, antwerp, ghent, bruges",
    "Europe/Bucharest: romania, cluj, cluj napoca, timisoara",
    "Europe/Budapest: hungary",
    "Europe/Copenhagen: denmark, aarhus",
    "Europe/Dublin: ireland, cork, galway",
    "Europe/Helsinki: finland, tampere, espoo",
    "Europe/Istanbul: turkey, ankara, izmir, antalya",
    "Europe/Kyiv: ukraine, kiev, lviv, odesa",
    "Europe/Lisbon: portugal, porto, lisboa, braga, faro, coimbra",
    "Europe/London: uk, united kingdom, england, scotland, wales, britain, great britain, manchester, edinburgh, "
    "glasgow, liverpool, leeds, bristol, cambridge, oxford, cardiff, brighton, sheffield, british time, uk time",
    "Europe/Madrid: spain, barcelona, valencia, seville, sevilla, malaga, bilbao, mallorca, majorca, ibiza",
    "Europe/Oslo: norway, bergen, trondheim",
    "Europe/Paris: france, lyon, marseille, toulouse, bordeaux, lille, strasbourg, nantes, cet, central european time",
    "Europe/Prague: czechia, czech republic, brno",
    "Europe/Rome: italy, milan, milano, naples, turin, florence, venice, bologna, sicily, roma",
    "Europe/Sofia: bulgaria, varna",
    "Europe/Stockholm: sweden, gothenburg, goteborg, malmo, uppsala",
    "Europe/Moscow: st petersburg, saint petersburg",
    "Europe/Vienna: austria, graz, salzburg, innsbruck, linz, wien",
    "Europe/Warsaw: poland, krakow, cracow, gdansk, wroclaw, poznan, lodz",
    "Europe/Zagreb: croatia, dubrovnik",
    "Europe/Zurich: switzerland, geneva, basel, bern, lausanne, zuerich, geneve",
    "Pacific/Auckland: new zealand, wellington, christchurch, nz",
    "Pacific/Honolulu: hawaii",
    "UTC: utc, gmt, greenwich, zulu, universal time",
)
_BEFORE: Final = re.compile(
    r"^(?:(?:no|nope|nah|actually|well|oh|hi|hey|hello|yes|yeah|so|and|it's|its|it is|that's|still|currently|now|just|"
    r"here|over|i|i'm|im|i am|we|we're|we are|my|live|living|based|am|are|stay|staying|located|sit|home|is|from|in|"
    r"near|close|to|around|outside|of|at|the|area|town|city|time|timezone|zone|moved|landed|arrived|got|back|have|i've|ive|"
    r"been|flew|for|a|use|set|change|please|on)(?:[ ,]+|$))+"
)
_AFTER: Final = re.compile(
    r"(?:[ ,]*\b(?:now|time|time zone|timezone|here|at the moment|these days|currently|right now|for now|today|please|"
    r"actually|area|already|again|at last|finally|thanks|is home|is where i am|this week|for a week|for a while))+$"
)
_OFFSET: Final = re.compile(r"(?:utc|gmt)\s*([+-])\s*(\d{1,2})(?::?00)?")


def zone_of_place(words: str) -> str | None:
    """The zone database's name for where somebody says they are; None where the words name no place that is known.

    >>> zone_of_place("I live in Lisbon"), zone_of_place("Munich, Germany"), zone_of_place("the moon")
    ('Europe/Lisbon', 'Europe/Berlin', None)
    """
    if len(words) > _LONGEST:
        return None
    said = words.strip().strip(" .!?\"'“”")
    known = _names()
    if (exact := known.get(said.casefold())) is not None:
        return exact
    plain = _plain(said)
    if found := _OFFSET.fullmatch(_AFTER.sub("", _BEFORE.sub("", plain)).strip()):
        return _by_offset(found[1], int(found[2]))
    for part in (plain, *re.split(r"\s*[,;(/]\s*|\s+-\s+", plain)):
        for one in (part, _BEFORE.sub("", part), _AFTER.sub("", _BEFORE.sub("", part))):
            if zone := known.get(one.strip(" )")):
                return zone
    rest = _AFTER.sub("", _BEFORE.sub("", plain)).strip()
    zones = {zone for name, zone in known.items() if len(rest) >= _SHORTEST_SLIP and one_slip(rest, name)}
    return zones.pop() if len(zones) == 1 else None


def city_of(zone: str) -> str:
    """What to call a zone in a sentence.

    >>> city_of("America/New_York"), city_of("UTC")
    ('New York', 'UTC')
    """
    return zone.rpartition("/")[2].replace("_", " ")


@cache
def _names() -> dict[str, str]:
    """Every name that is known, with its zone."""
    names: dict[str, str] = {}
    for zone in sorted(available_timezones()):
        if zone.partition("/")[0] in _AREAS:
            names[zone.casefold()] = zone
            names.setdefault(_plain(city_of(zone)), zone)
    for row in _ROWS:
        zone, _, others = row.partition(": ")
        names |= {name.strip(): zone for name in others.split(",")} | {_plain(city_of(zone)): zone}
    return names


def _by_offset(sign: str, hours: int) -> str | None:
    if hours == 0:
        return "UTC"
    return f"Etc/GMT{'-' if sign == '+' else '+'}{hours}" if hours <= 12 else None


def _plain(text: str) -> str:
    """Without case, accents and underscores."""
    flat = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("’", "'")).casefold()
    kept = "".join(letter for letter in flat if not unicodedata.combining(letter))
    return " ".join(kept.replace("_", " ").replace(".", " ").split())
